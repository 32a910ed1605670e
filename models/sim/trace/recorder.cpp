#include "models/sim/trace/recorder.h"

#include <algorithm>
#include <utility>

namespace attnvp {

Recorder::Recorder(sc_core::sc_object& root, const Clock& clock,
                   const std::function<bool(const std::string& module)>& wanted, TraceWindow window)
    : clock_(clock), window_(window) {
  for_each_module(root, [&](Module& module) {
    if (module.signals().empty() || !wanted(module.name())) return;
    modules_.push_back(&module);
    for (Signal* signal : module.signals()) {
      const std::size_t dot = signal->name().rfind('.');
      std::string scope = module.name();
      if (dot != std::string::npos) scope += "." + signal->name().substr(0, dot);
      signals_.push_back({scope, dot == std::string::npos ? signal->name() : signal->name().substr(dot + 1), signal});
      attached_.push_back(signal);
    }
  });
}

Recorder::~Recorder() { detach(); }

void Recorder::detach() {
  if (!running_) return;
  for (Signal* signal : attached_) signal->attach(nullptr, 0);
  running_ = false;
}

void Recorder::sample_every(std::uint64_t period, std::function<void()> sample) {
  period_ = period;
  sample_ = std::move(sample);
}

std::uint32_t Recorder::add_late(const std::string& scope, const std::string& name, const char* unit) {
  late_.push_back(std::make_unique<Signal>(owner_, name, Signal::Real{unit}));
  signals_.push_back({scope, name, late_.back().get()});
  return static_cast<std::uint32_t>(signals_.size() - 1);
}

void Recorder::start() {
  origin_ = clock_.now_fs();
  time_ = caught_up_ = 0;
  running_ = true;
  begun_ = false;
  told_.clear();
  for (const TracedSignal& s : signals_) told_.push_back(s.signal->value());
  next_ = told_;
  changed_.assign(signals_.size(), 0);
  changes_.clear();
  future_.clear();
  next_sample_ = 0;
  for (std::uint32_t id = 0; id < attached_.size(); ++id) attached_[id]->attach(this, id);
}

void Recorder::note(std::uint32_t id, std::uint64_t value) {
  next_[id] = value;
  if (changed_[id] != 0) return;
  changed_[id] = 1;
  changes_.push_back(id);
}

std::uint64_t Recorder::settled(std::uint64_t time) const {
  for (const Module* m : modules_) {
    const std::uint64_t from = m->tells_from();
    if (from != UINT64_MAX) time = std::min(time, from - origin_);
  }
  return time;
}

void Recorder::change(std::uint32_t id, std::uint64_t value) {
  const std::uint64_t t = now();
  if (!catch_up(t)) return keep(t, id, value);
  if (running_) note(id, value);
}

// Emits all settled changes. False: earlier changes than `time` may follow.
bool Recorder::catch_up(std::uint64_t time) {
  if (time == time_) return true;
  caught_up_ = time;
  const std::uint64_t until = settled(time);
  if (until > time_) advance(until);
  return until == time;
}

void Recorder::change_at(std::uint64_t time_fs, std::uint32_t id, std::uint64_t value) {
  if (const std::uint64_t t = now(); t != caught_up_) catch_up(t);  // it is costly, and once at a time is enough
  if (running_) keep(time_fs - origin_, id, value);
}

void Recorder::keep(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  auto at = future_.end();
  while (at != future_.begin() && at[-1].time < time) --at;
  for (; at != future_.begin() && at[-1].time == time; --at) {
    if (at[-1].id != id) continue;
    at[-1].value = value;
    return;
  }
  future_.insert(at, {time, id, value});
}

void Recorder::advance(std::uint64_t time) {
  if (sample_ && time >= next_sample_) {
    sample_();
    next_sample_ = (time / period_ + 1) * period_;
  }
  emit();
  while (!future_.empty() && future_.back().time < time) {
    time_ = std::max(time_, future_.back().time);
    emit();
  }
  time_ = time;
  take_due();  // before changes of the new time
  if (time_ > window_.to) detach();
}

void Recorder::take_due() {
  for (; !future_.empty() && future_.back().time <= time_; future_.pop_back()) {
    note(future_.back().id, future_.back().value);
  }
}

void Recorder::begin() {
  begun_ = true;
  for (TraceListener* listener : listeners_) listener->begin(window_.from, told_);
}

// Emits all changes of one time.
void Recorder::emit() {
  take_due();
  if (time_ > window_.to) return;
  if (!begun_ && time_ > window_.from) begin();
  for (const std::uint32_t id : changes_) {
    changed_[id] = 0;
    tell(id, next_[id]);
  }
  changes_.clear();
  if (!begun_ && time_ == window_.from) begin();
}

void Recorder::tell(std::uint32_t id, std::uint64_t value) {
  if (told_[id] == value) return;
  told_[id] = value;
  if (!begun_) return;
  for (TraceListener* listener : listeners_) listener->change(time_, id, value);
}

void Recorder::finish() {
  const std::uint64_t end = std::min(now(), window_.to);
  if (running_) advance(now());
  if (running_) emit();
  detach();
  if (!begun_) begin();
  time_ = std::max(end, window_.from);
  for (TraceListener* listener : listeners_) listener->end(time_);
}

}  // namespace attnvp
