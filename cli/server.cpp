#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/shared/chip.h"
#include "cli/shared/progress.h"
#include "cli/shared/run_files.h"
#include "explore/serve/serve.h"
#include "platform/base/files.h"

namespace attnvp::cli {

namespace {

// The files of `attnvp run --vcd`.
std::vector<std::string> write_waveform(const explore::LoadedState& job, const std::string& path) {
  TraceArguments arguments;
  arguments.vcd = path;
  files::Outputs outputs;
  TraceFiles trace(arguments, job.machine.clock_hz, outputs);
  job::RunOptions options;
  options.trace = trace.session();
  job::Runner runner(job.machine, job.energy, false);
  runner.run(job.network, job.schedule, nullptr, options);
  trace.write();
  outputs.commit();
  const WaveformPaths paths(path);
  return {paths.vcd, paths.gtkw, paths.names, paths.idle, paths.sucl};
}

}  // namespace

int serve(const ServeArguments& a) {
  const Interruption interruption;
  explore::ServeOptions options;
  options.host = a.host;
  options.port = static_cast<int>(a.port);
  options.jobs = static_cast<unsigned>(a.jobs);
  options.most_seconds = static_cast<int>(a.limit);
  options.simulator = {!a.no_cache, area_svg, write_waveform};
  options.is_stopped = Interruption::happened;
  options.is_listening = [](const std::string& url) {
    print(fmt::format("{}\nopen this address in a browser; Ctrl-C ends the server\n", url));
    std::fflush(stdout);  // before the first request, also into a pipe
  };
  explore::serve(options);
  return 0;
}

}  // namespace attnvp::cli
