#include "models/agenda/agenda.h"

#include <algorithm>
#include <utility>

namespace attnvp {

Agenda::Agenda(sc_core::sc_module_name name) : sc_module(name) {
  SC_HAS_PROCESS(Agenda);
  SC_METHOD(run);
  sensitive << due_;
  dont_initialize();
}

void Step::cancel() {
  if (place_ == kNowhere) return;
  if (place_ == kSoon) {
    *std::find(agenda_.soon_.begin() + static_cast<std::ptrdiff_t>(agenda_.next_), agenda_.soon_.end(), this) = nullptr;
  } else {
    agenda_.take_out(place_);
  }
  place_ = kNowhere;
}

void Agenda::notify(sc_core::sc_event& event, std::uint64_t after_fs) {
  const std::uint64_t kernel = kernel_now(), then = now_fs() + after_fs;
  event.notify(then == kernel ? sc_core::SC_ZERO_TIME : sc_core::sc_time::from_value(then - kernel));
  limit_ = std::min(limit_, then);
}

void Agenda::run() {
  woken_ = UINT64_MAX;
  limit_ = kernel_now() + sc_core::sc_time_to_pending_activity(kernel_).value();
  go_on(UINT64_MAX, nullptr);
  let_go();
}

// What is planned, as far as no process has something to do: up to a time, or until there is another number of
// notifications. Whether it came to that.
bool Agenda::go_on(std::uint64_t until_fs, const std::uint64_t* notified) {
  const std::uint64_t before = notified != nullptr ? *notified : 0;
  time_ = now_fs();
  running_ = true;
  bool reached = false;
  while (true) {
    for (; next_ < soon_.size(); ++next_) {
      Step* const step = soon_[next_];
      if (step == nullptr) continue;
      step->place_ = Step::kNowhere;
      ++done_;
      soon_[next_] = nullptr;
      step->call_();
    }
    soon_.clear();
    next_ = 0;
    reached = notified != nullptr && *notified != before;
    if (reached) break;
    const std::uint64_t next = heap_.empty() ? UINT64_MAX : heap_.front().time;
    reached = next > until_fs && until_fs < limit_;  // at equal times, who waited first comes first
    if (reached) time_ = std::max(time_, until_fs);
    if (reached || next > limit_ || heap_.empty()) break;
    time_ = next;
    if (alone_in_front()) {  // as most are
      Step& step = *heap_.front().step;
      step.place_ = Step::kNowhere;
      ++done_;
      vacant_ = true;  // and stays there: nothing is before it
      step.call_();
      if (std::exchange(vacant_, false)) take_out(0);
      continue;
    }
    while (!heap_.empty() && heap_.front().time == time_) {
      Step* const step = heap_.front().step;
      take_out(0);
      step->place_ = Step::kSoon;
      soon_.push_back(step);
    }
  }
  running_ = false;
  return reached;
}

bool Agenda::may_drive() const {
  return std::find(drivers_.begin(), drivers_.end(), sc_core::sc_get_current_process_b()) != drivers_.end();
}

// For a process that would wait: it goes on with the agenda instead. False: it has to wait, as it does not drive, or
// somebody else has something to do first.
bool Agenda::drive(std::uint64_t until_fs, const std::uint64_t* notified) {
  if (!may_drive()) return false;
  if (!driven_) {
    if (woken_ != UINT64_MAX) due_.cancel();
    woken_ = UINT64_MAX;
    limit_ = kernel_now() + sc_core::sc_time_to_pending_activity(kernel_).value();
    driven_ = true;
  }
  return go_on(until_fs, notified);
}

// From here on the kernel says when the agenda goes on.
void Agenda::let_go() {
  driven_ = false;
  if (!soon_.empty()) {
    wake_at(now_fs());
  } else if (!heap_.empty()) {
    wake_at(heap_.front().time);
  } else if (time_ > kernel_now()) {
    wake_at(time_);
  }
}

void Agenda::wait_until(std::uint64_t time_fs) {
  if (time_fs <= now_fs() || drive(time_fs, nullptr)) return;
  let_go();
  sc_core::wait(sc_core::sc_time::from_value(time_fs - kernel_now()));
}

Agenda::Halt::Halt(Agenda& agenda) : agenda_(agenda), drove_(agenda.may_drive()) {
  if (!drove_) return;
  agenda_.drivers_.erase(
      std::find(agenda_.drivers_.begin(), agenda_.drivers_.end(), sc_core::sc_get_current_process_b()));
  const std::uint64_t ahead = agenda_.now_fs() - agenda_.kernel_now();
  agenda_.let_go();
  if (ahead > 0) sc_core::wait(sc_core::sc_time::from_value(ahead));
}

Agenda::Halt::~Halt() {
  if (drove_) agenda_.let_drive();
}

void Wake::wait_until(std::uint64_t time_fs) {
  if (agenda_.drive(time_fs, &notified_)) return;
  agenda_.let_go();
  ++parked_;
  if (time_fs == UINT64_MAX) {
    sc_core::wait(event_);
  } else {
    sc_core::wait(sc_core::sc_time::from_value(time_fs - agenda_.kernel_now()), event_);
  }
  --parked_;
}

void Agenda::wake_at(std::uint64_t time_fs) {
  if (time_fs >= woken_) return;
  woken_ = time_fs;
  const std::uint64_t kernel = kernel_now();
  due_.notify(time_fs <= kernel ? sc_core::SC_ZERO_TIME : sc_core::sc_time::from_value(time_fs - kernel));
}

void Agenda::add_soon(Step& step) {
  step.place_ = Step::kSoon;
  soon_.push_back(&step);
  if (!running_ && !driven_) wake_at(now_fs());
}

void Agenda::plan(Step& step, std::uint64_t time_fs) {
  step.order_ = planned_++;
  const Planned planned{time_fs, &step};
  if (step.place_ == Step::kNowhere && std::exchange(vacant_, false)) {
    down(0, planned);
  } else if (step.place_ == Step::kNowhere) {
    heap_.emplace_back();
    up(heap_.size() - 1, planned);
  } else if (planned < heap_[step.place_]) {
    up(step.place_, planned);
  } else {
    down(step.place_, planned);
  }
  if (!running_ && !driven_) wake_at(time_fs);
}

void Agenda::take_out(std::size_t place) {
  const Planned last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  if (last < heap_[place]) {
    up(place, last);
  } else {
    down(place, last);
  }
}

void Agenda::up(std::size_t place, const Planned& planned) {
  for (std::size_t above; place > 0 && planned < heap_[above = (place - 1) / 2]; place = above)
    put(place, heap_[above]);
  put(place, planned);
}

void Agenda::down(std::size_t place, const Planned& planned) {
  for (std::size_t below; (below = 2 * place + 1) < heap_.size(); place = below) {
    if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
    if (!(heap_[below] < planned)) break;
    put(place, heap_[below]);
  }
  put(place, planned);
}

}  // namespace attnvp
