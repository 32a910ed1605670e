// `attnvp reproduce lean`.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "explore/reproduce/commands.h"
#include "explore/reproduce/lean_study.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

int reproduce_lean(const ReproduceLeanArguments& a) {
  namespace rp = reproduce;
  using OutputFile = std::unique_ptr<tensors::AtomicFile>;
  const std::string* const paths[] = {&a.json, &a.csv, &a.markdown};
  for (const std::string* path : paths) {
    if (*path == "-" && path != &a.json) {
      throw config::ConfigError("'-', stdout, is for --json alone; allowed is a path");
    }
    for (const std::string* other : paths) {
      if (path < other && !path->empty() && *path == *other) {
        throw config::ConfigError(fmt::format("two outputs are to write {}", *path));
      }
    }
  }
  const MachineConfig machine = config::load_hardware(a.hardware);
  const auto open = [](const std::string& path) {
    return path.empty() || path == "-" ? nullptr : std::make_unique<tensors::AtomicFile>(path);
  };
  const OutputFile json_file = open(a.json), csv_file = open(a.csv), page_file = open(a.markdown);

  const bool terminal = isatty(STDERR_FILENO) == 1;
  const rp::LeanStudy study = rp::run_lean_study(machine, [&](const std::string& what) {
    if (terminal) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  });
  if (terminal) std::fputs("\r\033[K", stderr);

  const std::vector<rp::Section> sections = rp::lean_sections(study);
  const std::string json = rp::lean_json(study);
  if (json_file) json_file->write(json);
  if (csv_file) csv_file->write(rp::lean_csv(study));
  if (page_file) page_file->write(rp::lean_markdown(sections));
  for (const OutputFile* file : {&json_file, &csv_file, &page_file}) {
    if (*file) (*file)->commit();
  }
  std::string text;
  for (const rp::Section& section : sections) text += (text.empty() ? "" : "\n") + rp::to_text(section);
  std::fputs((a.json == "-" ? json : text).c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
