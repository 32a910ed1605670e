// `attnvp stream`: one run of a streaming graph.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/trace_files.h"
#include "platform/stream/graph_file.h"
#include "platform/stream/stream_report.h"

namespace attnvp::cli {

int stream(const StreamArguments& a) {
  stream::Graph graph = stream::load_graph(a.graph, a.n, a.d);
  for (stream::ChannelSpec& channel : graph.channels) {
    if (a.unbounded) channel.depth = stream::kUnbounded;
  }
  for (const std::string& depth : a.depths) stream::override_depth(graph, depth);
  const config::EnergyTable energy = config::load_energy(graph.energy);

  const WaveformPaths paths(a.vcd);
  check_outputs({{"--vcd", a.vcd},
                 {"the save file of --vcd", paths.gtkw},
                 {"the names of --vcd", paths.names},
                 {"--json", a.json},
                 {"--dot", a.dot}});

  trace::Waveform waveform;
  waveform.vcd_name = file_name(a.vcd);
  waveform.names_name = file_name(paths.names);
  stream::Runner::Options options;
  if (!a.vcd.empty()) options.waveform = &waveform;
  stream::Runner runner(graph, energy, a.seed);
  const stream::Result result = runner.run(options);

  // A deadlock has a report, too. All files are written before the first is put in place, and stdout comes last.
  const std::string json = stream::to_json(result);
  const OutputFile vcd_file = open_output(a.vcd), gtkw_file = open_output(paths.gtkw);
  const OutputFile names_file = open_output(paths.names), json_file = open_output(a.json),
                   dot_file = open_output(a.dot);
  if (vcd_file) vcd_file->write(paths.encode(waveform.vcd));
  if (gtkw_file) gtkw_file->write(waveform.gtkw);
  if (names_file) names_file->write(waveform.names);
  if (json_file) json_file->write(json);
  if (dot_file) dot_file->write(stream::to_dot(result));
  for (const OutputFile* file : {&vcd_file, &gtkw_file, &names_file, &json_file, &dot_file}) {
    if (*file) (*file)->commit();
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
