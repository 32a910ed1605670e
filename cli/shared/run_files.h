// Trace options and files of a run: waveform with views for GTKWave and Surfer, timeline, firmware profile and
// instruction log, and debugger.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/shared/options.h"
#include "platform/base/files.h"
#include "platform/run/control/gdb_server.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

struct TraceArguments {
  std::string vcd;       // or .fst
  std::string timeline;  // Chrome trace events
  std::vector<std::string> scopes;
  std::string from, to;  // in cycles, or a time
  std::string profile;   // of firmware: folded stacks, or a page for names ending in .html
  std::string instructions;
  int gdb_port = -1;  // -1: no debugger; 0: any free port
  bool gdb_wait = false;
};
void add_trace_options(CLI::App& command, JobOptions& options, TraceArguments& arguments);

// Paths of a waveform's views, beside it; empty for a pipe or device.
struct WaveformPaths {
  explicit WaveformPaths(const std::string& vcd);
  std::string vcd, gtkw, names, idle, sucl;
  std::string encode(std::string text) const;  // converts VCD to the format of the file name
};
std::string file_name(const std::string& path);

class TraceFiles {
 public:
  // Throws config::ConfigError for inconsistent options and files that cannot be written.
  TraceFiles(const TraceArguments& arguments, double clock_hz, files::Outputs& outputs);

  // nullptr: no trace
  trace::Session* session() { return session_.get(); }
  void write();  // writes nothing if the session recorded nothing
  // "; the waveform up to there is in run.vcd"; may be empty.
  std::string where() const;

 private:
  WaveformPaths waveform_;  // empty: not written
  std::string timeline_;
  std::unique_ptr<trace::Session> session_;
  files::Output *vcd_ = nullptr, *gtkw_ = nullptr, *names_ = nullptr, *idle_ = nullptr, *sucl_ = nullptr,
                *timeline_file_ = nullptr;
};

class FirmwareFiles {
 public:
  // Throws config::ConfigError for inconsistent options and files that cannot be written.
  FirmwareFiles(const TraceArguments& arguments, double clock_hz, files::Outputs& outputs);
  ~FirmwareFiles();
  FirmwareFiles(const FirmwareFiles&) = delete;
  FirmwareFiles& operator=(const FirmwareFiles&) = delete;

  firmware_watch::Watch* watch() { return watch_.get(); }  // nullptr: nothing requested
  void write(const std::string& title);

 private:
  bool page_ = false;
  std::unique_ptr<firmware_watch::GdbServer> gdb_;
  std::unique_ptr<firmware_watch::Watch> watch_;
  files::Output *profile_ = nullptr, *log_ = nullptr;
};

}  // namespace attnvp::cli
