// The files of a traced run: waveform, GTKWave's save file and names beside it, timeline.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

// Where a waveform's view goes: beside it. None beside a pipe or device.
struct WaveformPaths {
  explicit WaveformPaths(const std::string& vcd);
  std::string vcd, gtkw, names;
  std::string encode(std::string text) const;  // VCD to what the name asks for
};
std::string file_name(const std::string& path);

class TraceFiles {
 public:
  // Throws config::ConfigError for options that do not go together.
  TraceFiles(const RunArguments& arguments, double clock_hz);

  // nullptr when nothing is to be traced.
  trace::Session* session() { return session_.get(); }
  // Every file with the option that asks for it.
  std::vector<std::pair<const char*, std::string>> outputs() const;
  void write();   // to temporary files; nothing when the session recorded nothing
  void commit();  // puts them in place
  // "; the waveform up to there is in run.vcd"; empty when there is none.
  std::string where() const;

 private:
  WaveformPaths waveform_;  // empty: not written
  std::string timeline_;
  std::unique_ptr<trace::Session> session_;
  std::vector<OutputFile> files_;
};

}  // namespace attnvp::cli
