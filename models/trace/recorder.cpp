#include "models/trace/recorder.h"

#include <algorithm>

namespace attnvp {

Recorder::Recorder(sc_core::sc_object& root, const Clock& clock,
                   const std::function<bool(const std::string& module)>& wanted, Window window)
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

void Recorder::add_probe(const std::string& scope, const std::string& name, const char* unit,
                         std::function<double()> read) {
  probe_signals_.push_back(std::make_unique<Signal>(owner_, name, Signal::Real{unit}));
  probes_.push_back({static_cast<std::uint32_t>(signals_.size()), std::move(read)});
  signals_.push_back({scope, name, probe_signals_.back().get()});
}

void Recorder::add_rate(const std::string& scope, const std::string& name, const char* unit,
                        std::function<double()> read, double per_fs) {
  probe_signals_.push_back(std::make_unique<Signal>(owner_, name, Signal::Real{unit}));
  rates_.push_back({{static_cast<std::uint32_t>(signals_.size()), std::move(read)}, per_fs, 0});
  signals_.push_back({scope, name, probe_signals_.back().get()});
}

void Recorder::start() {
  origin_ = clock_.now_fs();
  time_ = 0;
  running_ = true;
  begun_ = announced_ = closed_ = false;
  later_.clear();
  told_.clear();
  for (const TracedSignal& s : signals_) told_.push_back(s.signal->value());
  next_ = told_;
  changed_.assign(signals_.size(), false);
  changes_.clear();
  future_.clear();
  next_sample_ = 0;
  for (std::uint32_t id = 0; id < attached_.size(); ++id) attached_[id]->attach(this, id);
}

void Recorder::note(std::uint32_t id, std::uint64_t value) {
  next_[id] = value;
  if (changed_[id]) return;
  changed_[id] = true;
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

// Tells what is settled. False: that is not all before `time`.
bool Recorder::catch_up(std::uint64_t time) {
  if (time == time_) return true;
  const std::uint64_t until = settled(time);
  if (until > time_) advance(until);
  return until == time;
}

void Recorder::change_at(std::uint64_t time_fs, std::uint32_t id, std::uint64_t value) {
  catch_up(now());
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
  emit();
  while (!future_.empty() && future_.back().time < time) {
    time_ = std::max(time_, future_.back().time);
    emit();
  }
  if (time > window_.to && begun_ && !closed_) {
    time_ = window_.to;
    sample();
    closed_ = true;
  }
  time_ = time;
  take_due();  // before what is going to be told now
  if (time_ > window_.to) detach();
}

void Recorder::take_due() {
  for (; !future_.empty() && future_.back().time <= time_; future_.pop_back()) {
    note(future_.back().id, future_.back().value);
  }
}

void Recorder::begin() {
  begun_ = true;
  span_from_ = window_.from;
  // At the run's begin nothing is summed up yet, whenever the first change comes.
  for (Rate& rate : rates_) rate.before = window_.from == 0 ? 0 : rate.probe.read();
  first_ = told_;
  if (rates_.empty()) announce();
}

void Recorder::announce() {
  if (announced_) return;
  announced_ = true;
  for (TraceListener* listener : listeners_) listener->begin(window_.from, first_);
}

// All changes of one instant.
void Recorder::emit() {
  take_due();
  if (time_ > window_.to) return;
  if (!begun_ && time_ > window_.from) begin();
  if (time_ >= next_sample_ && !changes_.empty()) sample();
  for (const std::uint32_t id : changes_) {
    changed_[id] = false;
    tell(id, next_[id]);
  }
  changes_.clear();
  if (!begun_ && time_ == window_.from) begin();
}

// What the span that ends here had on average, then what happened in it.
void Recorder::sample_rates() {
  if (rates_.empty() || !begun_ || time_ <= span_from_) return;
  const double span = static_cast<double>(time_ - span_from_);
  for (Rate& rate : rates_) {
    const double now = rate.probe.read();
    const std::uint64_t value = Signal::bits_of((now - rate.before) / span * rate.per_fs);
    rate.before = now;
    if (told_[rate.probe.id] == value) continue;
    told_[rate.probe.id] = value;
    if (!announced_) {
      first_[rate.probe.id] = value;
      continue;
    }
    for (TraceListener* listener : listeners_) listener->change(span_from_, rate.probe.id, value);
  }
  announce();
  span_from_ = time_;
  tell_later();
}

void Recorder::tell_later() {
  for (const Change& c : later_) {
    for (TraceListener* listener : listeners_) listener->change(c.time, c.id, c.value);
  }
  later_.clear();
}

void Recorder::sample() {
  sample_rates();
  for (const Probe& probe : probes_) tell(probe.id, Signal::bits_of(probe.read()));
  next_sample_ = period_ == UINT64_MAX ? UINT64_MAX : (time_ / period_ + 1) * period_;
}

void Recorder::tell(std::uint32_t id, std::uint64_t value) {
  if (told_[id] == value) return;
  told_[id] = value;
  if (!begun_) return;
  if (!rates_.empty()) {
    later_.push_back({time_, id, value});
    return;
  }
  for (TraceListener* listener : listeners_) listener->change(time_, id, value);
}

void Recorder::finish() {
  const std::uint64_t end = std::min(now(), window_.to);
  if (running_) advance(now());
  if (running_) emit();
  detach();
  if (!begun_) begin();
  time_ = std::max(end, window_.from);
  if (!closed_) sample();
  announce();
  tell_later();
  for (TraceListener* listener : listeners_) listener->end(time_);
}

}  // namespace attnvp
