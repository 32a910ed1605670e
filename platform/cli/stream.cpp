// `attnvp stream`: one run of a streaming graph.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "platform/cli/commands.h"
#include "platform/config/error.h"
#include "platform/stream/graph_file.h"
#include "platform/stream/stream_report.h"
#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

int stream(const StreamArguments& a) {
  stream::Graph graph = stream::load_graph(a.graph, a.n, a.d);
  for (stream::ChannelSpec& channel : graph.channels) {
    if (a.unbounded) channel.depth = stream::kUnbounded;
  }
  for (const std::string& depth : a.depths) stream::override_depth(graph, depth);
  const config::EnergyTable energy = config::load_energy(graph.energy);

  // Opened before the run, so that a path that cannot be written costs none.
  std::vector<std::pair<std::unique_ptr<tensors::AtomicFile>, std::string>> files;
  for (const std::string* path : {&a.vcd, &a.json, &a.dot}) {
    const bool none = path->empty() || (path == &a.json && *path == "-");
    files.emplace_back(none ? nullptr : std::make_unique<tensors::AtomicFile>(*path), "");
  }
  stream::Runner::Options options;
  if (!a.vcd.empty()) options.vcd = &files[0].second;
  stream::Runner runner(graph, energy, a.seed);
  const stream::Result result = runner.run(options);

  // A deadlock has a report, too: all files are written before the first is put in place, and stdout comes last.
  const std::string json = stream::to_json(result);
  files[1].second = json;
  files[2].second = stream::to_dot(result);
  for (const auto& [file, text] : files) {
    if (file) file->write(text);
  }
  for (const auto& [file, text] : files) {
    if (file) file->commit();
  }
  std::fputs((a.json == "-" ? json : stream::to_text(result)).c_str(), stdout);

  const std::string what = fmt::format("{} at N={}, d={}", graph.name, graph.n, graph.d);
  if (result.deadlocked) {
    std::fprintf(stderr, "attnvp: %s: %s\n", what.c_str(), stream::deadlock_sentence(result).c_str());
    return 1;
  }
  if (result.golden.checked && !result.golden.passed) {
    std::fprintf(stderr, "attnvp: %s: golden check failed: %s\n", what.c_str(), result.golden.to_string().c_str());
    return 1;
  }
  return 0;
}

}  // namespace attnvp::cli
