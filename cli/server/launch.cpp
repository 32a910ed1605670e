#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "cli/commands.h"
#include "cli/server/server.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

int serve(const ServeArguments&) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "attnvp-serve";
  const std::vector<char*> words = arguments();
  execv(program.c_str(), words.data());
  throw config::ConfigError(
      fmt::format("the server's program {} cannot be started: {}; it is built and installed "
                  "with attnvp",
                  program, std::strerror(errno)));
}

}  // namespace attnvp::cli
