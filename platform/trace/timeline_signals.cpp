#include <algorithm>
#include <cstring>

#include "platform/trace/timeline.h"

namespace attnvp::trace {

namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

TimelineSignals::TimelineSignals(const Recorder& recorder, std::uint64_t period_fs)
    : signals_(recorder.signals()), period_(period_fs) {
  for (const TracedSignal& s : signals_) {
    Use use;
    const auto series = [&](std::size_t chart, const std::string& name) {
      use = {Use::Kind::kSeries, chart, charts_[chart].series.size()};
      charts_[chart].series.push_back(name);
    };
    const std::string above = s.scope.substr(0, s.scope.rfind('.'));
    if (ends_with(s.scope, ".l1.regions")) {
      series(chart(above, "L1 bytes in use"), s.name.substr(0, s.name.rfind('_')));
    } else if (s.name == "bytes_per_cycle" && s.scope.find(".l1.port") != std::string::npos) {
      series(chart(above, "L1 bytes per cycle"), s.scope.substr(s.scope.rfind('.') + 1));
    } else if (s.name == "bytes_per_cycle") {
      series(chart(s.scope, "DRAM bytes per cycle"), "bytes_per_cycle");
    } else if (s.name == "power_w" && s.scope.find('.') != std::string::npos) {
      const std::size_t dot = s.scope.find('.');
      series(chart(s.scope.substr(0, dot), "power [W]"), s.scope.substr(dot + 1));
    } else if (ends_with(s.scope, ".cpu") && (s.name == "state" || s.name == "address")) {
      if (processors_.empty() || processors_.back().scope != s.scope) processors_.push_back({s.scope});
      use = {s.name == "state" ? Use::Kind::kState : Use::Kind::kAddress, processors_.size() - 1, 0};
      while (s.name == "state" && std::strcmp(s.signal->names()[stall_], "stall") != 0) ++stall_;
    }
    uses_.push_back(use);
  }
}

std::size_t TimelineSignals::chart(const std::string& scope, const std::string& name) {
  const auto it =
      std::find_if(charts_.begin(), charts_.end(), [&](const Chart& c) { return c.scope == scope && c.name == name; });
  if (it != charts_.end()) return static_cast<std::size_t>(it - charts_.begin());
  charts_.push_back({scope, name, {}, {}});
  return charts_.size() - 1;
}

double TimelineSignals::value_of(const Signal& signal, std::uint64_t value) const {
  return signal.kind() == Signal::Kind::kReal ? Signal::real_of(value) : static_cast<double>(value);
}

void TimelineSignals::begin(std::uint64_t time, const std::vector<std::uint64_t>& values) {
  first_ = last_ = time / period_;
  for (Chart& c : charts_) c.points.assign(1, {first_, std::vector<double>(c.series.size(), 0)});
  for (Processor& p : processors_) p.since = first_;
  for (std::uint32_t id = 0; id < values.size(); ++id) change(time, id, values[id]);
}

void TimelineSignals::fill_in(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  const Use& use = uses_[id];
  if (use.kind != Use::Kind::kSeries) return;
  const std::uint64_t cycle = time / period_;
  std::vector<Point>& points = charts_[use.index].points;
  if (points.back().cycle != cycle) points.push_back({cycle, points.back().values});
  points.back().values[use.series] = value_of(*signals_[id].signal, value);
}

void TimelineSignals::change(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  const Use& use = uses_[id];
  const std::uint64_t cycle = time / period_;
  last_ = cycle;
  if (use.kind == Use::Kind::kSeries) {
    fill_in(time, id, value);
  } else if (use.kind == Use::Kind::kState) {
    Processor& p = processors_[use.index];
    if (p.state == stall_) stalls_.push_back({p.scope, p.since, cycle, p.address});
    p.state = value;
    p.since = cycle;
  } else if (use.kind == Use::Kind::kAddress && value != Signal::kNone) {
    processors_[use.index].address = value;
  }
}

void TimelineSignals::end(std::uint64_t time) {
  last_ = time / period_;
  for (const Processor& p : processors_) {
    if (p.state == stall_ && p.since < last_) stalls_.push_back({p.scope, p.since, last_, p.address});
  }
}

}  // namespace attnvp::trace
