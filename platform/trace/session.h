// Trace session of a run: a waveform (VCD with GTKWave's save file and names), a timeline, and the power of both. The
// job begins and ends it. Results are available afterwards while the platform exists, also after a fault or a deadlock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/recorder.h"
#include "models/sim/trace/vcd.h"
#include "platform/machine/energy.h"
#include "platform/run/platform.h"

namespace attnvp::trace {

// Energy and power over time. Modules report when counted work is done (Activity); unreported work
// is spread between two samples. Energies are summed in windows of equal length; power is the mean over a window.

class PowerTrace : public Activity {
 public:
  // Part of the run that is shown, in fs since its start.
  struct Cut {
    std::uint64_t from = 0, to = UINT64_MAX;
  };
  // `wanted` selects modules; energy of other modules is only in the platform's total.
  PowerTrace(Platform& platform, const config::EnergyTable& energy,
             const std::function<bool(const std::string& module)>& wanted, std::uint64_t window_fs, Cut cut);

  void done(const Counter& counter, double amount, std::uint64_t from_fs, std::uint64_t to_fs) override;
  void will_tell(const Counter& counter) override;
  void accessed_l0(const Module& engine, double read_words, double write_words, std::uint64_t from_fs,
                   std::uint64_t to_fs) override;
  // Adds the counts since the last sample that are not reported.
  void sample();
  void end();  // at the end of the run

  // Paths of the modules; the last series is the platform.
  const std::vector<std::string>& series() const { return scopes_; }
  // Start of a window, in order of time; the last point is the end, without power.
  struct PowerSample {
    std::uint64_t from_fs;
    double pj_before, watts;
  };
  std::vector<PowerSample> points(std::size_t series) const;
  // Visits the windows in which power changes, in order of time.
  void for_each_window(const std::function<void(std::uint64_t from_fs, std::size_t series, double watts)>& visit) const;

 private:
  struct Term {
    const Counter* counter;
    std::size_t series;
    double pj;           // of one count
    double most_per_fs;  // rate of unreported counts; 0: no limit
    double told = 0;     // reported amount
    bool tells = false;  // reports, now or later
    std::uint64_t seen = 0;
    double to_come = 0;  // counted before it is done
  };
  struct PowerInterval {
    std::size_t series;
    double pj;
    std::uint64_t from, to;
  };
  // Energy by the cycle, independent of activity.
  struct StandingPower {
    std::size_t series;
    double pj_per_cycle;
  };
  void add_module(Module& module, std::size_t series, const config::EnergyTable& table);
  double most_per_fs(const Counter& counter) const;
  std::uint64_t now() const;
  void add(std::size_t series, double pj, std::uint64_t from, std::uint64_t to);
  void place(const PowerInterval& interval);
  void place_due(std::uint64_t now);
  void double_windows();
  std::uint64_t first_of(std::size_t window) const;
  std::uint64_t end_of(std::size_t window) const;
  double watts(std::size_t series, std::size_t window) const;

  Platform& platform_;
  std::uint64_t origin_fs_, window_fs_;
  Cut cut_;
  std::uint64_t end_ = 0;  // of the run; set by end()
  std::vector<std::string> scopes_;
  std::vector<Term> terms_;
  std::unordered_map<const Counter*, std::size_t> term_of_;
  struct L0 {
    const Counter* read = nullptr;
    const Counter* write = nullptr;
  };
  std::unordered_map<const Module*, L0> l0_of_;  // of an engine
  std::vector<StandingPower> standing_;
  std::vector<PowerInterval> to_come_;  // not yet over
  std::uint64_t sampled_ = 0;
  std::vector<double> before_;                // pJ before the cut, by series
  std::vector<std::vector<double>> windows_;  // pJ by series; the last: modules not shown (until end)
  std::size_t most_windows_;
};

// Timeline in Chrome's trace-event format, for Perfetto (ui.perfetto.dev) and chrome://tracing. Each engine and DMA
// channel has a track with a slice per descriptor and a track with its waits. Arrows lead from the signalling to the
// waiting descriptor; stalls of control processors and counters for L1 and DRAM are included. One microsecond in the
// file is one cycle, so all times are whole numbers.

// Timeline data from signals: values over time, and stalls of the control processors.
class TimelineSignals : public TraceListener {
 public:
  TimelineSignals(const Recorder& recorder, std::uint64_t period_fs);
  void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) override;
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override;
  void end(std::uint64_t time) override;
  // Value of a late signal (Recorder::add_late); call in order of time over all signals.
  void fill_in(std::uint64_t time, std::uint32_t id, std::uint64_t value);

  struct Stall {
    std::string scope;
    std::uint64_t from, to, address;
  };
  // Stacked series of one counter.
  struct SeriesPoint {
    std::uint64_t cycle;
    std::vector<double> values;
  };
  struct Chart {
    std::string scope, name;
    std::vector<std::string> series;
    std::vector<SeriesPoint> points;
  };
  const std::vector<Stall>& stalls() const { return stalls_; }
  const std::vector<Chart>& charts() const { return charts_; }
  std::uint64_t first_cycle() const { return first_; }
  std::uint64_t last_cycle() const { return last_; }

 private:
  struct SignalUse {  // use of a signal
    enum class SignalUseKind : std::uint8_t { kNone, kSeries, kState, kAddress } kind = SignalUseKind::kNone;
    std::size_t index = 0;  // of the chart or the processor
    std::size_t series = 0;
  };
  struct ProcessorSignals {
    std::string scope;
    std::uint64_t state = 0, since = 0, address = 0;
  };
  std::size_t chart(const std::string& scope, const std::string& name);
  double value_of(const Signal& signal, std::uint64_t value) const;

  const std::vector<TracedSignal>& signals_;
  std::uint64_t period_;
  std::uint64_t stall_ = 0;  // number of the stall state
  std::vector<SignalUse> uses_;
  std::vector<Chart> charts_;
  std::vector<ProcessorSignals> processors_;
  std::vector<Stall> stalls_;
  std::uint64_t first_ = 0, last_ = 0;
};

// `cycles`: of the whole run. `wanted` selects tracks by path. `marks`: findings by entry of the command trace.
std::string timeline(const CommandTrace& command_trace, const TimelineSignals& signals, const AddressMap& map,
                     const SignallingDescriptors& signallers, double clock_hz, std::uint64_t cycles,
                     const std::function<bool(const std::string& path)>& wanted,
                     const std::map<std::size_t, std::string>& marks = {});

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
