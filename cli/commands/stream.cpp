// `attnvp stream`: runs a streaming graph.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "cli/shared/run_files.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/streaming/stream_run.h"

namespace attnvp::cli {

namespace {

struct StreamArguments {
  std::string graph;  // a name under configs/streams, or a path
  std::uint32_t n = 64, d = 1;
  bool causal = false;
  std::uint32_t window = 0, sinks = 0;  // 0: none
  std::vector<std::string> depths;      // --depth CHANNEL=K
  bool unbounded = false;               // all other channels
  std::uint64_t seed = 1;
  std::string vcd, dot;
  std::string json;  // "-" is stdout only
};

int stream(const StreamArguments& a) {
  stream::Graph graph = stream::load_graph(a.graph, a.n, a.d);
  if (a.sinks > 0 && a.window == 0) {
    throw config::ConfigError(fmt::format("--sinks: found {}; it needs --window", a.sinks));
  }
  graph.mask = {static_cast<std::uint8_t>(a.causal ? 1 : 0), 0, 0, a.n, 0, a.window, a.sinks, 0};
  for (stream::ChannelSpec& channel : graph.channels) {
    if (a.unbounded) channel.depth = stream::kUnbounded;
  }
  for (const std::string& depth : a.depths) stream::override_depth(graph, depth);
  const config::EnergyTable energy = config::load_energy(graph.energy);

  files::note("seed", fmt::format("{}", a.seed));
  const WaveformPaths paths(a.vcd);
  files::Outputs outputs;
  files::Output* const vcd_file = outputs.open("--vcd", a.vcd);
  files::Output* const gtkw_file = outputs.open("the save file of --vcd", paths.gtkw);
  files::Output* const names_file = outputs.open("the names of --vcd", paths.names);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  files::Output* const dot_file = outputs.open("--dot", a.dot);

  trace::Waveform waveform;
  waveform.vcd_name = file_name(a.vcd);
  waveform.names_name = file_name(paths.names);
  stream::StreamRunner::StreamOptions options;
  if (!a.vcd.empty()) options.waveform = &waveform;
  stream::StreamRunner runner(graph, energy, a.seed);
  const stream::StreamResult result = [&] {
    const Waiting waiting(fmt::format("{} at N={}, d={}", graph.name, graph.n, graph.d));
    return runner.run(options);
  }();

  // A deadlock is reported, too.
  const std::string json = stream::to_json(result);
  if (vcd_file != nullptr)
    vcd_file->write(paths.encode(files::with_origin(files::Form::kVcd, waveform.vcd)), files::Form::kOwn);
  if (gtkw_file != nullptr) gtkw_file->write(waveform.gtkw, files::Form::kGtkw);
  if (names_file != nullptr) names_file->write(waveform.names, files::Form::kOwn);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  if (dot_file != nullptr) dot_file->write(stream::to_dot(result), files::Form::kSlashes);
  outputs.commit();
  print(a.json == "-" ? json : stream::to_text(result));

  const std::string what = fmt::format("{} at N={}, d={}", graph.name, graph.n, graph.d);
  if (result.deadlocked) {
    text::complain(fmt::format("{}: {}", what, stream::deadlock_sentence(result)));
    return 1;
  }
  if (result.golden.checked && !result.golden.passed) {
    text::complain(fmt::format("{}: golden check failed: {}", what, result.golden.to_string()));
    return 1;
  }
  return 0;
}

}  // namespace

void add_stream(CLI::App& app, int& status) {
  const auto a = std::make_shared<StreamArguments>();
  CLI::App& command = *app.add_subcommand("stream", "run a streaming graph: nodes joined by bounded FIFOs");
  command.add_option("graph", a->graph, "a name under configs/streams, or a path")->required();
  command.add_option("--n", a->n, "sequence length")->check(within(1, stream::kLargestSequence))->capture_default_str();
  command.add_flag("--causal", a->causal,
                   "a query attends to the keys up to its own: the other scores are not streamed");
  command.add_option("--window", a->window, "a query attends to keys fewer than so many away from its own")
      ->check(within(1, stream::kLargestSequence));
  command.add_option("--sinks", a->sinks, "first keys that stay in the window")
      ->check(within(0, stream::kLargestSequence));
  command.add_option("--d", a->d, "head dimension")->check(within(1, stream::kLargestHead))->capture_default_str();
  add_list(command, "--depth", a->depths, "set a channel's depth: CHANNEL=K, K as in the graph's file");
  command.add_flag("--unbounded", a->unbounded, "no channel has a depth, but those given by --depth");
  add_seed(command, a->seed);
  add_output(command, "--vcd", a->vcd, "write a waveform");
  add_output(command, "--dot", a->dot, "write the graph for Graphviz, with depths and high-water marks");
  add_json(command, a->json, "write the report as JSON to a file, or alone to stdout with '-'");
  add_memory_limit(command);
  command.callback([a, &status] { status = stream(*a); });
}

}  // namespace attnvp::cli
