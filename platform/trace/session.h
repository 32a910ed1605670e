// Trace session of a run: a waveform (VCD with GTKWave's save file and names) and a timeline. The job begins and ends
// it. Results are available afterwards while the platform exists, also after a fault or a deadlock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/recorder.h"
#include "models/sim/trace/vcd.h"
#include "platform/machine/energy.h"
#include "platform/run/platform.h"
#include "platform/trace/power_trace.h"
#include "platform/trace/timeline.h"

namespace attnvp::trace {

// Selection of modules in a trace. A pattern is a sequence of path components, each with shell wildcards * and ?:
// "cluster0.core1", "mac", "core*.vec", "attnvp.dram". It selects modules whose path, or the path of a module above,
// contains the sequence.
bool in_scope(const std::string& pattern, const std::string& path);

// Filter for any of the patterns; without patterns it accepts everything. Throws config::ConfigError for a pattern that
// selects no module.
std::function<bool(const std::string& path)> scope_filter(const std::vector<std::string>& patterns,
                                                          const std::vector<std::string>& modules);

struct TraceRequest {
  bool waveform = false, timeline = false;
  std::vector<std::string> scopes;  // patterns of scope_filter; empty: everything
  std::uint64_t from_cycle = 0, to_cycle = UINT64_MAX;
};

// First time at which a MAC engine computes A.B, the first part of O, and its end.
class FirstPv : public TraceListener {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;
  explicit FirstPv(const Recorder& recorder);
  void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) override;
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override;
  void end(std::uint64_t /*time*/) override {}
  std::uint64_t time() const { return time_; }
  std::uint64_t until() const { return until_; }

 private:
  std::vector<bool> watched_;
  std::uint32_t id_ = 0;
  std::uint64_t time_ = kNever, until_ = kNever;
};

// Number of busy engines of a kind, over time.
class Working : public TraceListener {
 public:
  Working(const Recorder& recorder, const std::string& kind);  // "mac"
  void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) override;
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override;
  void end(std::uint64_t /*time*/) override {}
  std::size_t engines() const { return engines_; }
  std::vector<VcdWriter::Note>& notes() { return notes_; }

 private:
  std::vector<bool> watched_, works_;
  std::size_t engines_ = 0;
  std::vector<VcdWriter::Note> notes_;
};

// A mark at a command: the `number`-th (from 1) of an engine or a DMA channel.
struct Mark {
  std::string track;  // "attnvp.cluster0.core0.mac"
  std::uint64_t number;
  std::uint64_t finding;  // number of the finding, from 1
  std::string text;
};

class Session {
 public:
  explicit Session(TraceRequest request) : request_(std::move(request)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Call before and after the simulation. begin() throws config::ConfigError for a scope that selects nothing.
  void begin(Platform& platform, const config::EnergyTable& energy);
  void end();

  void mark(const std::vector<Mark>& marks);  // adds marks to the recorded commands

  const CommandTrace& commands() const { return *command_trace_; }  // of the recorded run
  bool recorded() const { return recorded_; }                       // there is something to write
  std::string vcd() const { return vcd_->text(); }
  std::string names() const;  // GTKWave's translate filter
  // Views for GTKWave and Surfer; arguments are names of files beside them.
  std::string gtkw(const std::string& vcd, const std::string& names, const std::string& idle) const;
  std::string sucl(const std::string& vcd) const;
  std::string timeline() const;

 private:
  void add_waits();
  void add_overview();
  std::pair<std::uint64_t, std::uint64_t> first_sight() const;  // initial view: from, to; fs
  void add_power();

  TraceRequest request_;
  Platform* platform_ = nullptr;
  bool recorded_ = false;
  std::uint64_t start_fs_ = 0, cycles_ = 0;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<PowerTrace> power_;
  std::vector<std::uint32_t> energy_ids_, power_ids_;  // late signals of each power series
  std::unique_ptr<EnumCodes> codes_;
  std::unique_ptr<VcdWriter> vcd_;
  std::unique_ptr<FirstPv> first_pv_;
  std::vector<std::pair<std::string, std::unique_ptr<Working>>> working_;  // by title
  std::unique_ptr<CommandTrace> command_trace_;
  std::unique_ptr<TimelineSignals> timeline_;
  std::function<bool(const std::string&)> wanted_;
  std::map<std::size_t, std::string> marks_;  // by index of the command trace's entry
};

}  // namespace attnvp::trace
