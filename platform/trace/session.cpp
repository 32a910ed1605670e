#include "platform/trace/session.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>

#include "firmware/hal/registers.h"
#include "models/sim/trace/operation.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/trace/critical_path.h"
#include "platform/trace/waveform.h"

namespace attnvp::trace {

namespace {

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> parts;
  boost::split(parts, path, boost::is_any_of("."));
  return parts;
}

}  // namespace

bool in_scope(const std::string& pattern, const std::string& path) {
  const std::vector<std::string> wanted = components(pattern), parts = components(path);
  const auto matches = [](const std::string& part, const std::string& glob) {
    return fnmatch(glob.c_str(), part.c_str(), 0) == 0;
  };
  return std::search(parts.begin(), parts.end(), wanted.begin(), wanted.end(), matches) != parts.end();
}

std::function<bool(const std::string& path)> scope_filter(const std::vector<std::string>& patterns,
                                                          const std::vector<std::string>& modules) {
  for (const std::string& pattern : patterns) {
    const auto shows = [&](const std::string& module) { return in_scope(pattern, module); };
    if (std::any_of(modules.begin(), modules.end(), shows)) continue;
    std::vector<std::string> names;
    for (const std::string& module : modules) {
      for (const std::string& part : components(module)) {
        if (std::find(names.begin(), names.end(), part) == names.end()) names.push_back(part);
      }
    }
    throw config::ConfigError(fmt::format("--trace-scope: {} is not a module of this machine{}",
                                          config::in_quotes(pattern), config::hint(pattern, names)));
  }
  if (patterns.empty()) return [](const std::string&) { return true; };
  return [patterns](const std::string& module) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return in_scope(p, module); });
  };
}

namespace {
constexpr std::size_t kFewEngines = 4;
constexpr std::uint64_t kFirstPvs = 12;  // length of the initial view, in durations of the first P.V product
constexpr std::uint64_t kMarks = 16;     // approximate number of ruler marks in that view
constexpr std::uint64_t kMostMarks = 20'000;
constexpr unsigned kCycleBits = 64;  // constant, for saved views

unsigned bits_of(std::uint64_t value) {
  unsigned bits = 2;  // a vector for any value
  while (bits < 64 && value >> bits != 0) ++bits;
  return bits;
}

}  // namespace

FirstPv::FirstPv(const Recorder& recorder) {
  for (const TracedSignal& s : recorder.signals()) {
    const bool mac = s.scope.size() > 4 && s.scope.compare(s.scope.size() - 4, 4, ".mac") == 0;
    watched_.push_back(mac && s.name == "operation");
  }
}

void FirstPv::begin(std::uint64_t time, const std::vector<std::uint64_t>& values) {
  for (std::uint32_t id = 0; id < values.size(); ++id) change(time, id, values[id]);
}

void FirstPv::change(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  if (id == id_ && time_ != kNever && until_ == kNever && time > time_) until_ = time;
  if (time_ != kNever || !watched_[id]) return;
  const auto operation = static_cast<Operation>(value);
  if (operation == traced(hal::Opcode::kMatmul, 1) || operation == traced(hal::Opcode::kAttendTile)) {
    time_ = time;
    id_ = id;
  }
}

Working::Working(const Recorder& recorder, const std::string& kind) {
  const std::string tail = "." + kind;
  for (const TracedSignal& s : recorder.signals()) {
    const bool of_kind = s.scope.size() > tail.size() &&
                         s.scope.compare(s.scope.size() - tail.size(), tail.size(), tail) == 0 && s.name == "operation";
    watched_.push_back(of_kind);
    if (of_kind) ++engines_;
  }
  works_.assign(watched_.size(), false);
}

void Working::begin(std::uint64_t time, const std::vector<std::uint64_t>& values) {
  notes_.push_back({time, 0});
  for (std::uint32_t id = 0; id < values.size(); ++id) change(time, id, values[id]);
}

void Working::change(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  const bool works = static_cast<Operation>(value) != Operation::kNone;
  if (!watched_[id] || works == works_[id]) return;
  works_[id] = works;
  const std::uint64_t count = works ? notes_.back().value + 1 : notes_.back().value - 1;
  if (notes_.back().time == time) {
    notes_.back().value = count;
  } else {
    notes_.push_back({time, count});
  }
}

void Session::begin(Platform& platform, const config::EnergyTable& energy) {
  platform_ = &platform;
  std::vector<std::string> modules;
  for_each_module(platform, [&](Module& module) {
    if (!module.signals().empty()) modules.emplace_back(module.name());
  });
  wanted_ = scope_filter(request_.scopes, modules);
  const std::uint64_t period = platform.context().clock.period_fs();
  const auto fs = [period](std::uint64_t cycle) { return cycle > UINT64_MAX / period ? UINT64_MAX : cycle * period; };
  recorder_ = std::make_unique<Recorder>(platform, platform.context().clock, wanted_,
                                         Recorder::TraceWindow{fs(request_.from_cycle), fs(request_.to_cycle)});
  start_fs_ = platform.context().clock.now_fs();
  const std::uint64_t window = fs(platform.machine().technology.power_window);
  power_ = std::make_unique<PowerTrace>(platform, energy, wanted_, window,
                                        PowerTrace::Cut{fs(request_.from_cycle), fs(request_.to_cycle)});
  recorder_->sample_every(window, [this] { power_->sample(); });
  energy_ids_.clear();
  power_ids_.clear();
  for (const std::string& scope : power_->series()) {
    energy_ids_.push_back(recorder_->add_late(scope, "energy_pj", "pJ"));
    power_ids_.push_back(recorder_->add_late(scope, "power_w", "W"));
  }
  if (request_.waveform) {
    codes_ = std::make_unique<EnumCodes>(platform);
    codes_->add(wait_words());
    vcd_ = std::make_unique<VcdWriter>(*recorder_, *codes_);
    first_pv_ = std::make_unique<FirstPv>(*recorder_);
    recorder_->add(*vcd_);
    recorder_->add(*first_pv_);
    for (const char* kind : {"mac", "vec"}) {
      auto working = std::make_unique<Working>(*recorder_, kind);
      if (working->engines() <= kFewEngines) continue;  // few engines need no count
      recorder_->add(*working);
      working_.emplace_back(fmt::format("{}_working", kind), std::move(working));
    }
  }
  if (request_.timeline) {
    timeline_ = std::make_unique<TimelineSignals>(*recorder_, period);
    recorder_->add(*timeline_);
  }
  command_trace_ = std::make_unique<CommandTrace>();
  command_trace_->activity = power_.get();
  platform.context().command_trace = command_trace_.get();
  recorder_->start();
}

// Adds energy and power of every window, by module and total; they are known only after the run.
void Session::add_power() {
  power_->end();
  for (std::size_t s = 0; s < power_->series().size(); ++s) {
    std::vector<VcdWriter::Note> energy, watts;
    if (vcd_ == nullptr) continue;
    const auto note = [](std::vector<VcdWriter::Note>& notes, std::uint64_t time, double value) {
      if (notes.empty() || notes.back().value != Signal::bits_of(value))
        notes.push_back({time, Signal::bits_of(value)});
    };
    const std::vector<PowerTrace::PowerSample> points = power_->points(s);
    for (std::size_t i = 0; i < points.size(); ++i) {
      note(energy, points[i].from_fs, points[i].pj_before);
      if (i + 1 < points.size()) note(watts, points[i].from_fs, points[i].watts);
    }
    vcd_->fill_in(energy_ids_[s], std::move(energy));
    vcd_->fill_in(power_ids_[s], std::move(watts));
  }
  if (timeline_ == nullptr) return;
  power_->for_each_window([&](std::uint64_t from_fs, std::size_t s, double watts) {
    timeline_->fill_in(from_fs, power_ids_[s], Signal::bits_of(watts));
  });
}

void Session::end() {
  recorder_->finish();
  cycles_ = (platform_->context().clock.now_fs() - start_fs_) / platform_->context().clock.period_fs();
  platform_->context().command_trace = nullptr;
  command_trace_->activity = nullptr;
  add_power();
  if (vcd_ != nullptr) {
    add_waits();
    add_overview();
  }
  recorded_ = true;
}

// Adds stall reasons of each engine's descriptors, known when the token arrives, from the start of the wait.
void Session::add_waits() {
  const std::map<std::size_t, std::string> reasons = wait_reasons(*command_trace_, platform_->context().signallers);
  const std::uint64_t period = platform_->context().clock.period_fs();
  std::map<std::string, std::vector<VcdWriter::Note>> notes;
  for (std::size_t i = 0; i < command_trace_->entries().size(); ++i) {
    const CommandTrace::TracedCommand& e = command_trace_->entries()[i];
    const std::uint64_t ready = std::min(e.ready, cycles_);
    if (e.fetched >= ready || !wanted_(e.track)) continue;
    const auto reason = reasons.find(i);
    std::vector<VcdWriter::Note>& of = notes[e.track];
    if (!of.empty() && of.back().time == e.fetched * period) of.pop_back();
    of.push_back({e.fetched * period, codes_->code(reason == reasons.end() ? "order" : reason->second)});
    of.push_back({ready * period, Signal::kNone});
  }
  for (auto& [track, list] : notes) vcd_->annotate(track, "waits_for", std::move(list));
}

// Marks a command from its start to its result; the first finding of a command, one command at a time.
void Session::mark(const std::vector<Mark>& marks) {
  if (!recorded_) return;
  constexpr unsigned kFindingBits = 32;  // constant, for saved views
  std::map<std::pair<std::string, std::uint64_t>, const Mark*> of;
  for (const Mark& m : marks) of.try_emplace({m.track, m.number}, &m);
  const std::uint64_t period = platform_->context().clock.period_fs();
  std::map<std::string, std::uint64_t> numbers;
  std::map<std::string, std::vector<VcdWriter::Note>> notes;
  for (std::size_t i = 0; i < command_trace_->entries().size(); ++i) {
    const CommandTrace::TracedCommand& e = command_trace_->entries()[i];
    const auto known = of.find({e.track, ++numbers[e.track]});
    if (known == of.end() || !wanted_(e.track)) continue;
    marks_[i] = known->second->text;
    std::vector<VcdWriter::Note>& list = notes[e.track];
    while (!list.empty() && list.back().time >= e.fetched * period) list.pop_back();
    list.push_back({e.fetched * period, known->second->finding});
    list.push_back({(std::min(e.done, cycles_) + 1) * period, Signal::kNone});
  }
  if (vcd_ == nullptr) return;
  for (auto& [track, list] : notes) vcd_->annotate(track, "finding", std::move(list), kFindingBits);
}

// Adds a ruler in cycles, and the number of busy engines if there are many.
void Session::add_overview() {
  const std::uint64_t period = platform_->context().clock.period_fs();
  const auto [from, to] = first_sight();
  const std::uint64_t wanted =
      std::max({(to - from) / period / kMarks, (vcd_->last_time() - vcd_->first_time()) / period / kMostMarks,
                std::uint64_t{1}});
  std::uint64_t step = 1;
  for (std::uint64_t ten = 1; step < wanted; ten *= 10) {
    for (const std::uint64_t round : {1, 2, 5}) {
      if (step < wanted) step = round * ten;
    }
  }
  std::vector<VcdWriter::Note> marks;
  const std::uint64_t last = vcd_->last_time() / period;
  for (std::uint64_t cycle = vcd_->first_time() / period / step * step; cycle <= last; cycle += step) {
    marks.push_back({cycle * period, cycle});
  }
  vcd_->annotate(platform_->name(), "cycle", std::move(marks), kCycleBits);
  for (auto& [name, working] : working_) {
    vcd_->annotate(platform_->name(), name, std::move(working->notes()), bits_of(working->engines()));
  }
}

// Initial view around the first P.V product; everything if there is none or the run is not much longer.
std::pair<std::uint64_t, std::uint64_t> Session::first_sight() const {
  const std::uint64_t first = vcd_->first_time(), last = vcd_->last_time();
  const std::uint64_t time = first_pv_->time(), until = first_pv_->until();
  if (time == FirstPv::kNever || until == FirstPv::kNever) return {first, last};
  const std::uint64_t width = kFirstPvs * (until - time);
  if (width > (last - first) / 2) return {first, last};
  const std::uint64_t before = std::min(time - first, width / 4);
  const std::uint64_t from = std::min(time - before, last - width);
  return {from, from + width};
}

std::string Session::names() const { return trace::names(*codes_); }

std::string Session::gtkw(const std::string& vcd, const std::string& names, const std::string& idle) const {
  const auto [from, to] = first_sight();
  View view{vcd, names, idle, from, to, first_pv_->time(), {}};
  for (const auto& [address, words] : event_words(*command_trace_, platform_->context().signallers)) {
    for (std::uint32_t cluster = 0; cluster < platform_->machine().clusters; ++cluster) {
      const std::uint64_t base = hal::events_base(cluster);
      if (address < base || address >= base + hal::kEventsSize) continue;
      const std::uint64_t event = (address - base) / hal::kEventStride;
      view.titles[fmt::format("{}.cluster{}.events.event{}", platform_->name(), cluster, event)] =
          fmt::format("{}: {}", event, words);
    }
  }
  return trace::gtkw(*recorder_, *vcd_, view);
}

std::string Session::sucl(const std::string& vcd) const {
  const auto [from, to] = first_sight();
  return trace::sucl(*recorder_, *vcd_, {vcd, {}, {}, from, to, first_pv_->time(), {}});
}

std::string Session::timeline() const {
  return trace::timeline(*command_trace_, *timeline_, platform_->map(), platform_->context().signallers,
                         platform_->machine().clock_hz, cycles_, wanted_, marks_);
}

}  // namespace attnvp::trace
