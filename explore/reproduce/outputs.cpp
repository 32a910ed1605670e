#include "explore/reproduce/outputs.h"

#include <unistd.h>

namespace attnvp::reproduce {

Outputs::Outputs(const std::string& json, const std::string& csv, const std::string& markdown)
    : json_(files_.open_or_stdout("--json", json)),
      csv_(files_.open("--csv", csv)),
      markdown_(files_.open("--markdown", markdown)),
      json_on_stdout_(json == "-") {}

void Outputs::write(const std::string& json, const std::string& csv, const std::string& markdown,
                    const std::string& text) {
  if (json_ != nullptr) json_->write(json, files::Form::kOwn);
  if (csv_ != nullptr) csv_->write(csv, files::Form::kCsv);
  if (markdown_ != nullptr) markdown_->write(markdown, files::Form::kMarkdown);
  files_.commit();
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
