#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "firmware/hal/registers.h"
#include "models/sim/trace/operation.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/trace/critical_path.h"
#include "platform/trace/session.h"

namespace attnvp::trace {

namespace {

constexpr std::uint64_t kNever = CommandTrace::kNever;

bool is_nop(const hal::Descriptor& d) { return d.opcode == hal::Opcode::kNop; }

std::string arguments(const hal::Descriptor& d) {
  std::string out = fmt::format("\"head\":{},\"row_block\":{}", d.head, d.row_block);
  const auto add = [&out](const char* name, std::uint64_t value) { out += fmt::format(",\"{}\":{}", name, value); };
  const auto address = [&out](const char* name, const hal::Operand& o) {
    out += fmt::format(",\"{}\":\"{:#x}\"", name, o.address);
  };
  if (hal::is_product(d)) {
    const hal::Product p = hal::product_of(d);
    for (const auto& [name, value] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}}) add(name, value);
    if (d.opcode == hal::Opcode::kMatmul) {
      const hal::MatmulTail& t = d.tail.matmul;
      for (const auto& [name, value] : {std::pair{"m0", t.m0}, {"n0", t.n0}, {"k0", t.k0}}) add(name, value);
    }
    for (const auto& [name, i] : {std::pair{"a", 0}, {"b", 1}, {"c", 2}}) address(name, d.operand[i]);
  } else if (d.opcode == hal::Opcode::kCopy) {
    const std::uint64_t row_bytes = d.row_bytes(0), rows = d.rows, planes = d.tail.copy.planes;
    add("bytes", row_bytes * rows * planes);
    for (const auto& [name, value] : {std::pair{"row_bytes", row_bytes}, {"rows", rows}, {"planes", planes}}) {
      add(name, value);
    }
    for (const auto& [name, i] : {std::pair{"from", 0}, {"to", 1}}) address(name, d.operand[i]);
  } else {
    add("rows", d.rows);
    add("columns", d.operand[0].columns);
    for (const auto& [name, i] : {std::pair{"source", 0}, {"destination", 1}}) address(name, d.operand[i]);
  }
  return out;
}

// Chrome's processes and threads: a process for each group of tracks, a thread for each track.
class Tracks {
 public:
  struct TrackId {
    int pid, tid;
  };
  // "attnvp.cluster0.core0.mac" is thread "mac" of process "cluster0.core0".
  TrackId of(const std::string& path) {
    const auto known = places_.find(path);
    if (known != places_.end()) return known->second;
    const std::size_t first = path.find('.'), last = path.rfind('.');
    const std::string process = first < last ? path.substr(first + 1, last - first - 1) : path.substr(0, first);
    auto [it, is_new] = processes_.emplace(process, static_cast<int>(processes_.size()) + 1);
    if (is_new) meta("process_name", it->second, 0, process);
    const TrackId place{it->second, static_cast<int>(places_.size()) + 1};
    places_.emplace(path, place);
    meta("thread_name", place.pid, place.tid, path.substr(last + 1));
    metadata_ += fmt::format(
        ",\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}",
        place.pid, place.tid, place.tid);
    return place;
  }
  const std::string& metadata() const { return metadata_; }

 private:
  void meta(const char* what, int pid, int tid, const std::string& name) {
    metadata_ += fmt::format("{}\n{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
                             metadata_.empty() ? "" : ",", what, pid, tid, name);
  }
  std::map<std::string, TrackId> places_;
  std::map<std::string, int> processes_;
  std::string metadata_;
};

class Timeline {
 public:
  Timeline(const CommandTrace& command_trace, const TimelineSignals& signals, const AddressMap& map,
           const SignallingDescriptors& signallers, const std::function<bool(const std::string& path)>& wanted,
           const std::map<std::size_t, std::string>& marks)
      : command_trace_(command_trace),
        signals_(signals),
        map_(map),
        marks_(marks),
        cause_(wait_reasons(command_trace, signallers)) {
    for (const CommandTrace::TracedCommand& e : command_trace.entries()) shown_.push_back(wanted(e.track));
  }

  std::string events() {
    spans();
    for (const std::string& track : tracks_in_order()) tracks_.of(track);
    slices();
    arrows();
    stalls();
    charts();
    return tracks_.metadata() + out_;
  }

 private:
  struct Span {
    std::uint64_t from = 0, to = 0;
    bool empty() const { return from >= to; }
  };

  Span clipped(std::uint64_t from, std::uint64_t to) const {
    if (from == kNever) return {};
    if (to == kNever) to = signals_.last_cycle();  // the run ended earlier
    return {std::max(from, signals_.first_cycle()), std::min(to, signals_.last_cycle())};
  }

  // Time span of each descriptor. A DMA channel has several outstanding: the span of the next begins when this one
  // ends.
  void spans() {
    std::map<std::string, std::uint64_t> done;
    for (const CommandTrace::TracedCommand& e : command_trace_.entries()) {
      std::uint64_t from = e.start;
      if (from != kNever && !is_nop(e.descriptor)) {
        std::uint64_t& before = done[e.track];
        from = std::max(from, before);
        before = e.end;
      }
      spans_.push_back(is_nop(e.descriptor) ? Span{} : clipped(from, e.end));
      waits_.push_back(clipped(e.fetched, e.ready));
    }
  }

  std::vector<std::string> tracks_in_order() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i]) names.push_back(command_trace_.entries()[i].track);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<std::string> all;
    for (const std::string& name : names) {
      all.push_back(name);
      all.push_back(name + " waits");
    }
    return all;
  }

  void event(const std::string& text) {
    out_ += ",\n{";
    out_ += text;
    out_ += '}';
  }

  void slice(const std::string& track, const std::string& name, const Span& span, const std::string& args) {
    const Tracks::TrackId place = tracks_.of(track);
    event(fmt::format("\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}", name,
                      place.pid, place.tid, span.from, span.to - span.from, args));
  }

  void slices() {
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const CommandTrace::TracedCommand& e = command_trace_.entries()[i];
      if (!shown_[i]) continue;
      const std::string name = name_of(operation_of(e.descriptor));
      if (!spans_[i].empty()) {
        std::string args = arguments(e.descriptor);
        if (e.end == kNever) args += ",\"unfinished\":true";
        args += found(i);
        slice(e.track, name, spans_[i], args);
      }
      if (!waits_[i].empty()) {
        const auto cause = cause_.find(i);
        slice(e.track + " waits", "waits for " + (cause == cause_.end() ? "order" : cause->second), waits_[i],
              fmt::format("\"before\":\"{}\",\"head\":{},\"row_block\":{}", name, e.descriptor.head,
                          e.descriptor.row_block) +
                  found(i));
      }
    }
  }

  std::string found(std::size_t entry) const {
    const auto mark = marks_.find(entry);
    return mark == marks_.end() ? "" : ",\"finding\":" + nlohmann::json(mark->second).dump();
  }

  // From the end of the signalling span to the start of the waiting one; omitted within one track.
  void arrows() {
    std::size_t number = 0;
    for (const CommandTrace::Arrow& a : command_trace_.arrows()) {
      const std::size_t from = a.from - 1, to = a.to - 1;
      const CommandTrace::TracedCommand &giver = command_trace_.entries()[from], &taker = command_trace_.entries()[to];
      if (!shown_[from] || !shown_[to] || giver.track == taker.track) continue;
      if (spans_[from].empty() || spans_[to].empty()) continue;
      const Tracks::TrackId p = tracks_.of(giver.track), q = tracks_.of(taker.track);
      const std::uint64_t waited = a.given > taker.fetched ? a.given - taker.fetched : 0;
      const std::uint64_t event_number = (a.event % hal::kClusterStride) / hal::kEventStride;
      ++number;
      event(
          fmt::format("\"ph\":\"s\",\"name\":\"event\",\"cat\":\"event\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{},"
                      "\"args\":{{\"event\":{},\"waited\":{}}}",
                      number, p.pid, p.tid, spans_[from].to - 1, event_number, waited));
      event(fmt::format(
          "\"ph\":\"f\",\"bp\":\"e\",\"name\":\"event\",\"cat\":\"event\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}",
          number, q.pid, q.tid, spans_[to].from));
    }
  }

  void stalls() {
    for (const TimelineSignals::Stall& s : signals_.stalls()) {
      const int target = map_.find(s.address);
      const std::string name = target < 0 ? "stall" : map_.ranges()[static_cast<std::size_t>(target)].name;
      slice(s.scope, "waits for " + name, {s.from, s.to}, fmt::format("\"address\":\"{:#x}\"", s.address));
    }
  }

  void charts() {
    for (const TimelineSignals::Chart& c : signals_.charts()) {
      const Tracks::TrackId place = tracks_.of(c.scope);
      for (const TimelineSignals::SeriesPoint& point : c.points) {
        std::string args;
        for (std::size_t i = 0; i < c.series.size(); ++i) {
          args += fmt::format("{}\"{}\":{}", args.empty() ? "" : ",", c.series[i], point.values[i]);
        }
        event(fmt::format("\"ph\":\"C\",\"name\":\"{}\",\"pid\":{},\"ts\":{},\"args\":{{{}}}", c.name, place.pid,
                          point.cycle, args));
      }
    }
  }

  const CommandTrace& command_trace_;
  const TimelineSignals& signals_;
  const AddressMap& map_;
  const std::map<std::size_t, std::string>& marks_;
  std::vector<bool> shown_;
  std::vector<Span> spans_, waits_;  // for each entry
  std::map<std::size_t, std::string> cause_;
  Tracks tracks_;
  std::string out_;
};

}  // namespace

std::string timeline(const CommandTrace& command_trace, const TimelineSignals& signals, const AddressMap& map,
                     const SignallingDescriptors& signallers, double clock_hz, std::uint64_t cycles,
                     const std::function<bool(const std::string& path)>& wanted,
                     const std::map<std::size_t, std::string>& marks) {
  std::string events = Timeline(command_trace, signals, map, signallers, wanted, marks).events();
  if (events.compare(0, 1, ",") == 0) events.erase(0, 1);
  std::string origin;
  for (const files::Fact& fact : files::origin()) {
    origin +=
        fmt::format("{}:{},", nlohmann::json(fact.name).dump(), nlohmann::json(text::printable(fact.value)).dump());
  }
  return fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\n\"otherData\":{{\"unit\":\"1 us is 1 "
      "cycle\",{}\"frequency_hz\":{},\"cycles\":{},\"first_cycle\":{},\"last_cycle\":{}}},"
      "\n\"traceEvents\":[{}\n]}}\n",
      origin, clock_hz, cycles, signals.first_cycle(), signals.last_cycle(), events);
}

namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

TimelineSignals::TimelineSignals(const Recorder& recorder, std::uint64_t period_fs)
    : signals_(recorder.signals()), period_(period_fs) {
  for (const TracedSignal& s : signals_) {
    SignalUse use;
    const auto series = [&](std::size_t chart, const std::string& name) {
      use = {SignalUse::SignalUseKind::kSeries, chart, charts_[chart].series.size()};
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
      use = {s.name == "state" ? SignalUse::SignalUseKind::kState : SignalUse::SignalUseKind::kAddress,
             processors_.size() - 1, 0};
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
  return signal.kind() == Signal::SignalKind::kReal ? Signal::real_of(value) : static_cast<double>(value);
}

void TimelineSignals::begin(std::uint64_t time, const std::vector<std::uint64_t>& values) {
  first_ = last_ = time / period_;
  for (Chart& c : charts_) c.points.assign(1, {first_, std::vector<double>(c.series.size(), 0)});
  for (ProcessorSignals& p : processors_) p.since = first_;
  for (std::uint32_t id = 0; id < values.size(); ++id) change(time, id, values[id]);
}

void TimelineSignals::fill_in(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  const SignalUse& use = uses_[id];
  if (use.kind != SignalUse::SignalUseKind::kSeries) return;
  const std::uint64_t cycle = time / period_;
  std::vector<SeriesPoint>& points = charts_[use.index].points;
  if (points.back().cycle != cycle) points.push_back({cycle, points.back().values});
  points.back().values[use.series] = value_of(*signals_[id].signal, value);
}

void TimelineSignals::change(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  const SignalUse& use = uses_[id];
  const std::uint64_t cycle = time / period_;
  last_ = cycle;
  if (use.kind == SignalUse::SignalUseKind::kSeries) {
    fill_in(time, id, value);
  } else if (use.kind == SignalUse::SignalUseKind::kState) {
    ProcessorSignals& p = processors_[use.index];
    if (p.state == stall_) stalls_.push_back({p.scope, p.since, cycle, p.address});
    p.state = value;
    p.since = cycle;
  } else if (use.kind == SignalUse::SignalUseKind::kAddress && value != Signal::kNone) {
    processors_[use.index].address = value;
  }
}

void TimelineSignals::end(std::uint64_t time) {
  last_ = time / period_;
  for (const ProcessorSignals& p : processors_) {
    if (p.state == stall_ && p.since < last_) stalls_.push_back({p.scope, p.since, last_, p.address});
  }
}

}  // namespace attnvp::trace
