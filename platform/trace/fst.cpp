#include "platform/trace/fst.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "platform/machine/error.h"

namespace attnvp::trace {

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "attnvp-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw config::ConfigError(
          fmt::format("no temporary folder can be made in {}", std::filesystem::temp_directory_path().string()));
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

std::string fst_from_vcd(const std::string& vcd) {
  const TemporaryFolder folder;
  const std::string in = folder.file("in.vcd"), out = folder.file("out.fst");
  {
    // An FST file has a date; without one in the VCD it would be the current date.
    std::ofstream file(in, std::ios::binary);
    file << "$date\nnone\n$end\n" << vcd;
    if (!file.flush()) throw config::ConfigError(fmt::format("{} cannot be written: is the disk full?", in));
  }
  // Paths need no quoting except for the contents of TMPDIR.
  setenv("ATTNVP_FST_IN", in.c_str(), 1);
  setenv("ATTNVP_FST_OUT", out.c_str(), 1);
  const int status = std::system("exec vcd2fst -v \"$ATTNVP_FST_IN\" -f \"$ATTNVP_FST_OUT\" >/dev/null 2>&1");
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
    throw config::ConfigError(
        "an .fst waveform needs the program vcd2fst (Debian package gtkwave), which is not there");
  }
  std::ifstream file(out, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (WEXITSTATUS(status) != 0 || bytes.empty()) throw config::ConfigError("vcd2fst failed to convert the waveform");
  return bytes;
}

}  // namespace attnvp::trace
