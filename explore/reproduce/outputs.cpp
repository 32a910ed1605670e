#include "explore/reproduce/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include "platform/config/error.h"

namespace attnvp::reproduce {

Outputs::Outputs(const std::string& json, const std::string& csv, const std::string& markdown)
    : json_on_stdout_(json == "-") {
  for (const std::string* path : {&csv, &markdown}) {
    if (*path == "-") throw config::ConfigError("'-', stdout, is for --json alone; allowed is a path");
    if (!path->empty() && *path == json) throw config::ConfigError(fmt::format("--json is to write {} as well", *path));
  }
  if (!csv.empty() && csv == markdown) {
    throw config::ConfigError(fmt::format("--csv and --markdown are both to write {}", csv));
  }
  const auto open = [](const std::string& path) {
    return path.empty() || path == "-" ? nullptr : std::make_unique<tensors::AtomicFile>(path);
  };
  json_ = open(json);
  csv_ = open(csv);
  markdown_ = open(markdown);
}

void Outputs::write(const std::string& json, const std::string& csv, const std::string& markdown,
                    const std::string& text) {
  if (json_) json_->write(json);
  if (csv_) csv_->write(csv);
  if (markdown_) markdown_->write(markdown);
  for (const auto* file : {&json_, &csv_, &markdown_}) {
    if (*file) (*file)->commit();
  }
  std::fputs((json_on_stdout_ ? json : text).c_str(), stdout);
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}
void Progress::show(const std::string& what) {
  if (terminal_) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

}  // namespace attnvp::reproduce
