#include "models/streaming/trace_log.h"

#include <algorithm>

namespace attnvp::stream {

TraceLog::TraceLog(sc_core::sc_module_name name, const Clock& clock) : sc_core::sc_module(name), clock_(clock) {
  SC_HAS_PROCESS(TraceLog);
  SC_METHOD(step);
  sensitive << go_;
  dont_initialize();
}

std::uint64_t TraceLog::play() {
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const Change& a, const Change& b) { return a.cycle < b.cycle; });
  next_ = 0;
  start_ = sc_core::sc_time_stamp();
  if (changes_.empty()) return 0;
  go_.notify(clock_.cycles(changes_.front().cycle));
  return changes_.back().cycle;
}

void TraceLog::step() {
  const std::uint64_t cycle = changes_[next_].cycle;
  std::vector<std::pair<Signal*, std::uint64_t>> now;
  for (; next_ < changes_.size() && changes_[next_].cycle == cycle; ++next_) {
    const Change& change = changes_[next_];
    auto entry = std::find_if(now.begin(), now.end(), [&](const auto& e) { return e.first == change.signal; });
    if (entry == now.end()) entry = now.insert(now.end(), {change.signal, change.signal->value()});
    entry->second = change.relative ? entry->second + change.value : change.value;
  }
  for (const auto& [signal, value] : now) signal->set(value);
  if (next_ == changes_.size()) {
    changes_.clear();
  } else {
    next_trigger(start_ + clock_.cycles(changes_[next_].cycle) - sc_core::sc_time_stamp());
  }
}

}  // namespace attnvp::stream
