// The files of a traced run: waveform, GTKWave's save file and names beside it, timeline.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/cli/commands.h"
#include "platform/tensors/atomic_file.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

using OutputFile = std::unique_ptr<tensors::AtomicFile>;

// None for an option that is not given, or stdout.
OutputFile open_output(const std::string& path);

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
  std::string vcd_, gtkw_, names_, timeline_;  // paths; empty: not written
  std::unique_ptr<trace::Session> session_;
  std::vector<OutputFile> files_;
};

}  // namespace attnvp::cli
