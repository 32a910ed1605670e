#include "models/sim/event_queue.h"

#include <algorithm>
#include <utility>

namespace attnvp::sim {

EventQueue::EventQueue(sc_core::sc_module_name name) : sc_module(name) {
  SC_HAS_PROCESS(EventQueue);
  SC_METHOD(run);
  sensitive << due_;
  dont_initialize();
}

void Event::cancel() {
  if (place_ == kNowhere) return;
  if (place_ == kDelta) {
    *std::find(event_queue_.delta_.begin() + static_cast<std::ptrdiff_t>(event_queue_.next_), event_queue_.delta_.end(),
               this) = nullptr;
  } else {
    event_queue_.remove(place_);
  }
  place_ = kNowhere;
}

void EventQueue::notify(sc_core::sc_event& event, std::uint64_t after_fs) {
  const std::uint64_t kernel = kernel_now(), then = now_fs() + after_fs;
  event.notify(then == kernel ? sc_core::SC_ZERO_TIME : sc_core::sc_time::from_value(then - kernel));
  limit_ = std::min(limit_, then);
}

void EventQueue::run() {
  woken_ = UINT64_MAX;
  limit_ = kernel_now() + (allows_run_ahead_ ? sc_core::sc_time_to_pending_activity(kernel_).value() : 0);
  run_until(UINT64_MAX, nullptr);
  return_to_kernel();
}

// Runs events, as far as no SystemC process has activity: up to a time, or until the number of notifications changes.
// Returns whether it came to that.
bool EventQueue::run_until(std::uint64_t until_fs, const std::uint64_t* notified) {
  const std::uint64_t before = notified != nullptr ? *notified : 0;
  time_ = now_fs();
  running_ = true;
  bool reached = false;
  while (true) {
    for (; next_ < delta_.size(); ++next_) {
      Event* const event = delta_[next_];
      if (event == nullptr) continue;
      event->place_ = Event::kNowhere;
      ++done_;
      delta_[next_] = nullptr;
      event->run();
    }
    delta_.clear();
    next_ = 0;
    reached = notified != nullptr && *notified != before;
    if (reached) break;
    const std::uint64_t next = heap_.empty() ? UINT64_MAX : heap_.front().time;
    reached = next > until_fs && until_fs < limit_;  // at equal times, the process that waited first runs first
    if (reached) time_ = std::max(time_, until_fs);
    if (reached || next > limit_ || heap_.empty()) break;
    time_ = next;
    if (alone_in_front()) {  // the usual case
      Event& event = *heap_.front().event;
      event.place_ = Event::kNowhere;
      ++done_;
      vacant_ = true;  // it stays in front: nothing is before it
      event.run();
      if (std::exchange(vacant_, false)) remove(0);
      continue;
    }
    while (!heap_.empty() && heap_.front().time == time_) {
      Event* const event = heap_.front().event;
      remove(0);
      event->place_ = Event::kDelta;
      delta_.push_back(event);
    }
  }
  running_ = false;
  return reached;
}

bool EventQueue::may_run_ahead() const {
  return std::find(run_ahead_.begin(), run_ahead_.end(), sc_core::sc_get_current_process_b()) != run_ahead_.end();
}

// Runs the queue in place of a thread's wait. False: the thread has to wait, as it may not run ahead, or another
// process has activity first.
bool EventQueue::run_ahead(std::uint64_t until_fs, const std::uint64_t* notified) {
  if (!may_run_ahead()) return false;
  if (!is_ahead_) {
    if (woken_ != UINT64_MAX) due_.cancel();
    woken_ = UINT64_MAX;
    limit_ = kernel_now() + (allows_run_ahead_ ? sc_core::sc_time_to_pending_activity(kernel_).value() : 0);
    is_ahead_ = true;
  }
  return run_until(until_fs, notified);
}

// From here on the kernel resumes the queue.
void EventQueue::return_to_kernel() {
  is_ahead_ = false;
  if (!delta_.empty()) {
    wake_at(now_fs());
  } else if (!heap_.empty()) {
    wake_at(heap_.front().time);
  } else if (time_ > kernel_now()) {
    wake_at(time_);
  }
}

void EventQueue::wait_until(std::uint64_t time_fs) {
  if (time_fs <= now_fs() || run_ahead(time_fs, nullptr)) return;
  return_to_kernel();
  sc_core::wait(sc_core::sc_time::from_value(time_fs - kernel_now()));
}

EventQueue::KernelTimeGuard::KernelTimeGuard(EventQueue& event_queue)
    : event_queue_(event_queue), was_ahead_(event_queue.may_run_ahead()) {
  if (!was_ahead_) return;
  event_queue_.run_ahead_.erase(
      std::find(event_queue_.run_ahead_.begin(), event_queue_.run_ahead_.end(), sc_core::sc_get_current_process_b()));
  const std::uint64_t ahead = event_queue_.now_fs() - event_queue_.kernel_now();
  event_queue_.return_to_kernel();
  if (ahead > 0) sc_core::wait(sc_core::sc_time::from_value(ahead));
}

EventQueue::KernelTimeGuard::~KernelTimeGuard() {
  if (was_ahead_) event_queue_.allow_run_ahead();
}

void Condition::wait_until(std::uint64_t time_fs) {
  if (event_queue_.run_ahead(time_fs, &notified_)) return;
  event_queue_.return_to_kernel();
  ++parked_;
  if (time_fs == UINT64_MAX) {
    sc_core::wait(event_);
  } else {
    sc_core::wait(sc_core::sc_time::from_value(time_fs - event_queue_.kernel_now()), event_);
  }
  --parked_;
}

void EventQueue::wake_at(std::uint64_t time_fs) {
  if (time_fs >= woken_) return;
  woken_ = time_fs;
  const std::uint64_t kernel = kernel_now();
  due_.notify(time_fs <= kernel ? sc_core::SC_ZERO_TIME : sc_core::sc_time::from_value(time_fs - kernel));
}

void EventQueue::add_delta(Event& event) {
  event.place_ = Event::kDelta;
  delta_.push_back(&event);
  if (!running_ && !is_ahead_) wake_at(now_fs());
}

void EventQueue::schedule(Event& event, std::uint64_t time_fs) {
  event.order_ = scheduled_++;
  const Entry entry{time_fs, &event};
  if (event.place_ == Event::kNowhere && std::exchange(vacant_, false)) {
    sift_down(0, entry);
  } else if (event.place_ == Event::kNowhere) {
    heap_.emplace_back();
    sift_up(heap_.size() - 1, entry);
  } else if (entry < heap_[event.place_]) {
    sift_up(event.place_, entry);
  } else {
    sift_down(event.place_, entry);
  }
  if (!running_ && !is_ahead_) wake_at(time_fs);
}

void EventQueue::remove(std::size_t place) {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  if (last < heap_[place]) {
    sift_up(place, last);
  } else {
    sift_down(place, last);
  }
}

void EventQueue::sift_up(std::size_t place, const Entry& entry) {
  for (std::size_t above; place > 0 && entry < heap_[above = (place - 1) / 2]; place = above) put(place, heap_[above]);
  put(place, entry);
}

void EventQueue::sift_down(std::size_t place, const Entry& entry) {
  for (std::size_t below; (below = 2 * place + 1) < heap_.size(); place = below) {
    if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
    if (!(heap_[below] < entry)) break;
    put(place, heap_[below]);
  }
  put(place, entry);
}

}  // namespace attnvp::sim
