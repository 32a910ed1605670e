#include <memory>

#include "cli/commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"
#include "platform/stream/graph_file.h"

namespace attnvp::cli {

namespace {

void add_stream_options(CLI::App& app, StreamArguments& a) {
  app.add_option("graph", a.graph, "a name under configs/streams, or a path")->required();
  app.add_option("--n", a.n, "sequence length")->check(within(1, stream::kLargestSequence))->capture_default_str();
  app.add_flag("--causal", a.causal, "a query attends to the keys up to its own: the other scores are not streamed");
  app.add_option("--window", a.window, "a query attends to keys fewer than so many away from its own")
      ->check(within(1, stream::kLargestSequence));
  app.add_option("--sinks", a.sinks, "first keys that stay in the window")->check(within(0, stream::kLargestSequence));
  app.add_option("--d", a.d, "head dimension")->check(within(1, stream::kLargestHead))->capture_default_str();
  app.add_option("--depth", a.depths, "set a channel's depth: CHANNEL=K, K as in the graph's file")
      ->allow_extra_args(false);
  app.add_flag("--unbounded", a.unbounded, "no channel has a depth, but those given by --depth");
  app.add_option("--seed", a.seed, "seed of the random tensors")->check(whole_number())->capture_default_str();
  app.add_option("--vcd", a.vcd, "write a waveform")->check(not_empty());
  app.add_option("--dot", a.dot, "write the graph for Graphviz, with depths and high-water marks")->check(not_empty());
  app.add_option("--json", a.json, "write the report as JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
}

}  // namespace

void add_stream(CLI::App& app, int& status) {
  const auto a = std::make_shared<StreamArguments>();
  CLI::App* command = app.add_subcommand("stream", "run a streaming graph: nodes joined by bounded FIFOs");
  add_stream_options(*command, *a);
  add_memory_limit(*command);
  command->callback([a, &status] { status = stream(*a); });
}

}  // namespace attnvp::cli
