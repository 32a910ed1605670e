// `attnvp serve`: a local web server whose page runs the platform.
#include "explore/serve/serve.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/shared/chip.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "cli/shared/run_files.h"
#include "platform/base/files.h"
#include "platform/base/text.h"

namespace attnvp::cli {

namespace {

struct ServeArguments {
  std::uint64_t port = 0;
  std::string host = "127.0.0.1";
  std::uint64_t jobs = 0;
  std::uint64_t limit = 60;
  bool no_cache = false;
};

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

}  // namespace

void add_serve(CLI::App& app, int& status) {
  const auto a = std::make_shared<ServeArguments>();
  CLI::App& command =
      *app.add_subcommand("serve", "a local page that runs the platform, to explore machines in a browser");
  command.add_option("--port", a->port, "port of the server; 0: a free one")
      ->check(within(0, 65535))
      ->capture_default_str();
  add_text(command, "--host", a->host, "address to listen at; others than loopback let other hosts in")
      ->capture_default_str();
  command.add_option("--jobs,-j", a->jobs, "simulator processes; 0: one per processor, at least two")
      ->check(within(0, 64))
      ->capture_default_str();
  command.add_option("--limit", a->limit, "longest simulation of a request [s]")
      ->check(within(1, 86400))
      ->capture_default_str();
  command.add_flag("--no-cache", a->no_cache, "choose tile sizes anew, and do not store them (see `attnvp cache`)");
  add_memory_limit(command);
  command.callback([a, &status] { status = serve(*a); });
}

}  // namespace attnvp::cli
