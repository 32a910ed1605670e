// Timeline in Chrome's trace-event format, for Perfetto (ui.perfetto.dev) and chrome://tracing. Each engine and DMA
// channel has a track with a slice per descriptor and a track with its waits. Arrows lead from the signalling to the
// waiting descriptor; stalls of control processors and counters for L1 and DRAM are included. One microsecond in the
// file is one cycle, so all times are whole numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/recorder.h"

namespace attnvp::trace {

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

}  // namespace attnvp::trace
