// `attnvp serve`: a local web server whose page runs the platform.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

// Replaces attnvp by the server's program, whose own serve() takes precedence there.
[[gnu::weak]] int serve(const ServeArguments&) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "attnvp-serve";
  const std::vector<char*> words = arguments();
  execv(program.c_str(), words.data());
  throw config::ConfigError(
      fmt::format("the server's program {} cannot be started: {}; it is built and installed "
                  "with attnvp",
                  program, std::strerror(errno)));
}

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
