// What a run is asked to show of its course: a waveform with GTKWave's and Surfer's views and names beside it, a
// timeline, its firmware's profile and instructions, and a debugger.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/shared/options.h"
#include "platform/files/outputs.h"
#include "platform/firmware/firmware_watch.h"
#include "platform/firmware/gdb_server.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

struct TraceArguments {
  std::string vcd;       // or .fst
  std::string timeline;  // Chrome trace events
  std::vector<std::string> scopes;
  std::string from, to;  // cycles, or a time
  std::string profile;   // of firmware: folded stacks, or a page where it ends in .html
  std::string instructions;
  int gdb_port = -1;  // -1: no debugger; 0: a free one
  bool gdb_wait = false;
};
void add_trace_options(CLI::App& command, JobOptions& options, TraceArguments& arguments);

// Where a waveform's view goes: beside it. None beside a pipe or device.
struct WaveformPaths {
  explicit WaveformPaths(const std::string& vcd);
  std::string vcd, gtkw, names, idle, sucl;
  std::string encode(std::string text) const;  // VCD to what the name asks for
};
std::string file_name(const std::string& path);

class TraceFiles {
 public:
  // Throws config::ConfigError for options that do not go together, and for files that cannot be written.
  TraceFiles(const TraceArguments& arguments, double clock_hz, files::Outputs& outputs);

  // nullptr when nothing is to be traced.
  trace::Session* session() { return session_.get(); }
  void write();  // nothing when the session recorded nothing
  // "; the waveform up to there is in run.vcd"; empty when there is none.
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
  // Throws config::ConfigError for what does not go together, and for files that cannot be written.
  FirmwareFiles(const TraceArguments& arguments, double clock_hz, files::Outputs& outputs);
  ~FirmwareFiles();
  FirmwareFiles(const FirmwareFiles&) = delete;
  FirmwareFiles& operator=(const FirmwareFiles&) = delete;

  firmware_watch::Watch* watch() { return watch_.get(); }  // nullptr: nothing is asked
  void write(const std::string& title);

 private:
  bool page_ = false;
  std::unique_ptr<firmware_watch::GdbServer> gdb_;
  std::unique_ptr<firmware_watch::Watch> watch_;
  files::Output *profile_ = nullptr, *log_ = nullptr;
};

}  // namespace attnvp::cli
