#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "explore/reproduce/commands.h"
#include "explore/reproduce/output.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

namespace {

using OutputFile = std::unique_ptr<tensors::AtomicFile>;

// Opened before the runs, so that a path that cannot be written costs none.
OutputFile open_output(const std::string& path) {
  return path.empty() || path == "-" ? nullptr : std::make_unique<tensors::AtomicFile>(path);
}

void check_paths(const ReproduceArguments& a) {
  for (const std::string* path : {&a.csv, &a.markdown}) {
    if (*path == "-") throw config::ConfigError("'-', stdout, is for --json alone; allowed is a path");
    if (!path->empty() && *path == a.json)
      throw config::ConfigError(fmt::format("--json is to write {} as well", *path));
  }
  if (!a.csv.empty() && a.csv == a.markdown) {
    throw config::ConfigError(fmt::format("--csv and --markdown are both to write {}", a.csv));
  }
}

// One line on a terminal's stderr that says what is under way.
class Progress {
 public:
  void show(const std::string& what) {
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }
  ~Progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
};

}  // namespace

int reproduce_mas(const ReproduceArguments& a) {
  namespace rp = reproduce;
  check_paths(a);
  const MachineConfig machine = config::load_hardware(a.hardware);
  const OutputFile json_file = open_output(a.json), csv_file = open_output(a.csv), page_file = open_output(a.markdown);

  rp::Study study;
  std::vector<rp::Limit> limits;
  {
    Progress progress;
    study = rp::run_study(machine, a.data == "full", [&](const std::string& network, const std::string& dataflow) {
      progress.show(network + " with " + dataflow);
    });
    if (a.limits || page_file) {
      limits = rp::find_limits(machine, study.paper.dataflows, [&](const std::string& dataflow, std::uint32_t cores) {
        progress.show(fmt::format("longest sequence of {} on {} cores per cluster", dataflow, cores));
      });
    }
  }

  // All files are written before the first is put in place, and stdout comes last.
  const std::vector<rp::Section> sections = rp::sections(study, limits);
  const std::string json = rp::to_json(study, limits);
  if (json_file) json_file->write(json);
  if (csv_file) csv_file->write(rp::to_csv(study, limits));
  if (page_file) page_file->write(rp::to_markdown(study, sections));
  for (const OutputFile* file : {&json_file, &csv_file, &page_file}) {
    if (*file) (*file)->commit();
  }
  std::size_t passed = 0;
  int status = 0;
  for (const auto& [place, result] : study.results) {
    if (!result.golden_checked) continue;
    passed += result.golden.passed ? 1 : 0;
    if (result.golden.passed) continue;
    std::fprintf(stderr, "attnvp: %s with %s: golden check failed: %s\n", place.first.c_str(), place.second.c_str(),
                 result.golden.to_string().c_str());
    status = 1;
  }
  std::string text = rp::to_text(study, sections);
  if (study.full_data) text += fmt::format("\ngolden: {} of {} runs passed\n", passed, study.results.size());
  std::fputs((a.json == "-" ? json : text).c_str(), stdout);
  return status;
}

}  // namespace attnvp::cli
