// Recorder between the signals of modules and trace listeners (waveform, timeline). It sorts changes by time, drops
// changes without duration and cuts out a window. Times are femtoseconds since start().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/sim/module.h"
#include "models/sim/trace/signal.h"

namespace attnvp {

struct TracedSignal {
  std::string scope;  // dotted path of its module and of the part of the module
  std::string name;
  const Signal* signal;
};

class TraceListener {
 public:
  virtual ~TraceListener() = default;
  // Initial values of the window, one per signal.
  virtual void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) = 0;
  virtual void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) = 0;
  virtual void end(std::uint64_t time) = 0;
};

class Recorder : public TraceSink {
 public:
  struct TraceWindow {
    std::uint64_t from = 0, to = UINT64_MAX;
  };
  // Records the signals of modules below `root` whose path `wanted` accepts, in the time of `clock`.
  Recorder(sc_core::sc_object& root, const Clock& clock, const std::function<bool(const std::string& module)>& wanted,
           TraceWindow window);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Calls `sample` at the first change in every `period`, up to the window's end.
  void sample_every(std::uint64_t period, std::function<void()> sample);
  // Adds a real signal without a module; listeners receive its values after the recorder has finished. Returns its
  // number.
  std::uint32_t add_late(const std::string& scope, const std::string& name, const char* unit);
  void add(TraceListener& listener) { listeners_.push_back(&listener); }
  const std::vector<TracedSignal>& signals() const { return signals_; }

  void start();
  void finish();

  void change(std::uint32_t id, std::uint64_t value) override;
  void change_at(std::uint64_t time_fs, std::uint32_t id, std::uint64_t value) override;

 private:
  std::uint64_t now() const { return clock_.now_fs() - origin_; }
  std::uint64_t settled(std::uint64_t time) const;  // all changes up to this time are known
  bool catch_up(std::uint64_t time);
  void keep(std::uint64_t time, std::uint32_t id, std::uint64_t value);  // until `time`
  void note(std::uint32_t id, std::uint64_t value);
  void advance(std::uint64_t time);  // emits all changes before `time`
  void take_due();                   // applies stored changes up to now
  void emit();
  void tell(std::uint32_t id, std::uint64_t value);
  void begin();
  void detach();

  class LateOwner : public CounterOwner {};
  struct SignalChange {
    std::uint64_t time;
    std::uint32_t id;
    std::uint64_t value;
  };
  const Clock& clock_;
  TraceWindow window_;
  std::vector<TracedSignal> signals_;
  std::vector<Signal*> attached_;
  std::vector<const Module*> modules_;  // modules of the signals
  LateOwner owner_;
  std::vector<std::unique_ptr<Signal>> late_;
  std::vector<TraceListener*> listeners_;

  bool running_ = false, begun_ = false;
  std::uint64_t origin_ = 0;
  std::uint64_t time_ = 0;       // time of the changes being collected
  std::uint64_t caught_up_ = 0;  // time of the last call of catch_up
  std::vector<std::uint64_t> told_, next_;
  std::vector<std::uint8_t> changed_;
  std::vector<std::uint32_t> changes_;  // ids, in the order of their first change
  std::vector<SignalChange> future_;    // latest time first; among equal times the one recorded first is last
  std::uint64_t period_ = UINT64_MAX, next_sample_ = 0;
  std::function<void()> sample_;
};

}  // namespace attnvp
