// The files of a traced run: waveform, GTKWave's and Surfer's views and names beside it, timeline.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "platform/files/outputs.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

// Where a waveform's view goes: beside it. None beside a pipe or device.
struct WaveformPaths {
  explicit WaveformPaths(const std::string& vcd);
  std::string vcd, gtkw, names, idle, sucl;
  std::string encode(std::string text) const;  // VCD to what the name asks for
};
std::string file_name(const std::string& path);
// --trace-from and --trace-to, in cycles.
std::pair<std::uint64_t, std::uint64_t> trace_window(const RunArguments& arguments, double clock_hz);

class TraceFiles {
 public:
  // Throws config::ConfigError for options that do not go together, and for files that cannot be written.
  TraceFiles(const RunArguments& arguments, double clock_hz, files::Outputs& outputs);

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

}  // namespace attnvp::cli
