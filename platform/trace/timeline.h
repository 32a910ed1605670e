// A timeline in Chrome's trace-event format, which Perfetto (ui.perfetto.dev) and chrome://tracing open: a track per
// engine and DMA channel with a slice per descriptor, a second one with its waits, arrows from the descriptor that
// gives an event to the one that takes it, the control processor's stalls, counters for L1 and DRAM.
// One microsecond in the file is one cycle, so that every time is a whole number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/account/account.h"
#include "models/interconnect/address_map.h"
#include "models/trace/journal.h"
#include "models/trace/recorder.h"

namespace attnvp::trace {

// What signals contribute: values over time, and the control processors' stalls.
class TimelineSignals : public TraceListener {
 public:
  TimelineSignals(const Recorder& recorder, std::uint64_t period_fs);
  void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) override;
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override;
  void end(std::uint64_t time) override;
  // A value of a late signal (Recorder::add_late), in order of time for all of them together.
  void fill_in(std::uint64_t time, std::uint32_t id, std::uint64_t value);

  struct Stall {
    std::string scope;
    std::uint64_t from, to, address;
  };
  // Series of one counter that are shown on top of each other.
  struct Point {
    std::uint64_t cycle;
    std::vector<double> values;
  };
  struct Chart {
    std::string scope, name;
    std::vector<std::string> series;
    std::vector<Point> points;
  };
  const std::vector<Stall>& stalls() const { return stalls_; }
  const std::vector<Chart>& charts() const { return charts_; }
  std::uint64_t first_cycle() const { return first_; }
  std::uint64_t last_cycle() const { return last_; }

 private:
  struct Use {  // of a signal
    enum class Kind : std::uint8_t { kNone, kSeries, kState, kAddress } kind = Kind::kNone;
    std::size_t index = 0;  // of the chart or the processor
    std::size_t series = 0;
  };
  struct Processor {
    std::string scope;
    std::uint64_t state = 0, since = 0, address = 0;
  };
  std::size_t chart(const std::string& scope, const std::string& name);
  double value_of(const Signal& signal, std::uint64_t value) const;

  const std::vector<TracedSignal>& signals_;
  std::uint64_t period_;
  std::uint64_t stall_ = 0;  // the state's number
  std::vector<Use> uses_;
  std::vector<Chart> charts_;
  std::vector<Processor> processors_;
  std::vector<Stall> stalls_;
  std::uint64_t first_ = 0, last_ = 0;
};

// `cycles`: of the whole run. `wanted` selects tracks by path. `marks`: what is found of entries of the journal.
std::string timeline(const Journal& journal, const TimelineSignals& signals, const AddressMap& map,
                     const Givers& givers, double clock_hz, std::uint64_t cycles,
                     const std::function<bool(const std::string& path)>& wanted,
                     const std::map<std::size_t, std::string>& marks = {});

}  // namespace attnvp::trace
