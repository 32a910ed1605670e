// `attnvp stream`: one run of a streaming graph.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/trace_files.h"
#include "platform/files/outputs.h"
#include "platform/stream/graph_file.h"
#include "platform/stream/stream_report.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

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
  stream::Runner::Options options;
  if (!a.vcd.empty()) options.waveform = &waveform;
  stream::Runner runner(graph, energy, a.seed);
  const stream::Result result = [&] {
    const Waiting waiting(fmt::format("{} at N={}, d={}", graph.name, graph.n, graph.d));
    return runner.run(options);
  }();

  // A deadlock has a report, too.
  const std::string json = stream::to_json(result);
  if (vcd_file != nullptr)
    vcd_file->write(paths.encode(files::with_origin(files::Form::kVcd, waveform.vcd)), files::Form::kOwn);
  if (gtkw_file != nullptr) gtkw_file->write(waveform.gtkw, files::Form::kGtkw);
  if (names_file != nullptr) names_file->write(waveform.names, files::Form::kOwn);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  if (dot_file != nullptr) dot_file->write(stream::to_dot(result), files::Form::kSlashes);
  outputs.commit();
  std::fputs((a.json == "-" ? json : stream::to_text(result)).c_str(), stdout);

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

}  // namespace attnvp::cli
