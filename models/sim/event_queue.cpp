#include "models/sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "models/sim/state_visitor.h"

namespace attnvp::sim {

EventQueue::EventQueue(sc_core::sc_module_name name) : sc_module(name) {
  SC_HAS_PROCESS(EventQueue);
  SC_METHOD(run_in_kernel);
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

void EventQueue::look_ahead() {
  limit_ = kernel_now() + (allows_run_ahead_ ? sc_core::sc_time_to_pending_activity(kernel_).value() : 0);
}

void EventQueue::run_in_kernel() {
  woken_ = UINT64_MAX;
  look_ahead();
  Thread* const next = run(nullptr);
  return_to_kernel();
  if (next != nullptr) next->resumed.notify();
}

// Runs an event of this time that is alone at the front, otherwise moves all events of this time to delta_.
void EventQueue::run_at_this_time() {
  if (alone_in_front()) {  // the usual case
    Event& event = *heap_.front().event;
    event.place_ = Event::kNowhere;
    ++done_;
    vacant_ = true;  // stays at the front of the heap, before all other entries
    event.run();
    if (std::exchange(vacant_, false)) remove(0);
    return;
  }
  while (!heap_.empty() && heap_.front().time <= time_ && !is_of_thread(heap_.front())) {
    Event* const event = heap_.front().event;
    remove(0);
    event->place_ = Event::kDelta;
    delta_.push_back(event);
  }
}

// Runs events until the wait of a thread ends, and returns that thread. nullptr: the kernel must run first. `self`: the
// thread that runs the queue; it is not in the heap.
EventQueue::Thread* EventQueue::run(Thread* self) {
  time_ = now_fs();
  running_ = true;
  Thread* next = nullptr;
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
    const std::uint64_t front = heap_.empty() ? UINT64_MAX : heap_.front().time;
    if (front > time_ || is_of_thread(heap_.front())) {  // all events of this time have run
      next = thread_of_this_time(self);
      if (next != nullptr) {
        // Processes of this time that wait through the kernel run first.
        if (time_ > kernel_now() && (time_ >= limit_ || !next->runs_ahead)) next = nullptr;
        break;
      }
      const std::uint64_t then = self == nullptr ? front : std::min(front, self->until);
      if (then > limit_ || then == UINT64_MAX) break;
      time_ = then;
      if (then < front || is_of_thread(heap_.front())) continue;
    }
    run_at_this_time();
  }
  running_ = false;
  if (next != nullptr) end_wait(*next);
  return next;
}

// Next thread whose wait has ended. All events of this time have run.
EventQueue::Thread* EventQueue::thread_of_this_time(Thread* self) const {
  Thread* next = self != nullptr && self->until <= time_ ? self : nullptr;
  if (!heap_.empty() && heap_.front().time <= time_) {
    Timer& timer = static_cast<Timer&>(*heap_.front().event);
    if (next == nullptr || timer.order_ < next->timer.order_) next = &timer.thread;
  }
  return next != nullptr || ready_.empty() ? next : ready_.front();
}

void EventQueue::end_wait(Thread& thread) {
  if (!ready_.empty() && ready_.front() == &thread) ready_.pop_front();
  if (thread.condition != nullptr) {
    auto& waiting = thread.condition->waiting_;
    waiting.erase(std::find(waiting.begin(), waiting.end(), &thread));
    thread.condition = nullptr;
  }
  thread.timer.cancel();
  thread.until = UINT64_MAX;
}

void EventQueue::make_ready(Thread& thread) {
  thread.condition = nullptr;
  thread.timer.cancel();
  thread.until = UINT64_MAX;
  ready_.push_back(&thread);
  if (!running_ && !is_ahead_) wake_at(now_fs());
}

EventQueue::Thread& EventQueue::this_thread() {
  const void* const process = sc_core::sc_get_current_process_b();
  if (last_ == nullptr || last_->process != process) {
    std::unique_ptr<Thread>& thread = threads_[process];
    if (thread == nullptr) thread = std::make_unique<Thread>(*this, process);
    last_ = thread.get();
  }
  return *last_;
}

// A thread that runs ahead runs the queue until its own wait ends; if another thread is next, that thread continues.
void EventQueue::block(Thread& thread, std::uint64_t until_fs, Condition* condition) {
  thread.until = until_fs;
  thread.condition = condition;
  thread.timer.order_ = kThreads + scheduled_++;
  Thread* next = nullptr;
  if (thread.runs_ahead) {
    if (!is_ahead_) {
      if (woken_ != UINT64_MAX) due_.cancel();
      woken_ = UINT64_MAX;
      look_ahead();
      is_ahead_ = true;
    }
    next = run(&thread);
    if (next == &thread) return;
  }
  if (thread.until != UINT64_MAX) insert(thread.timer, thread.until);
  if (thread.runs_ahead && (next == nullptr || !next->runs_ahead)) return_to_kernel();
  if (next != nullptr) next->resumed.notify();
  sc_core::wait(thread.resumed);
}

// From now on the kernel resumes the queue.
void EventQueue::return_to_kernel() {
  is_ahead_ = false;
  if (!delta_.empty() || !ready_.empty()) {
    wake_at(now_fs());
  } else if (!heap_.empty()) {
    wake_at(heap_.front().time);
  } else if (time_ > kernel_now()) {
    wake_at(time_);
  }
}

void EventQueue::wait_until(std::uint64_t time_fs) {
  if (time_fs > now_fs()) block(this_thread(), time_fs, nullptr);
}

EventQueue::RunAheadGuard::RunAheadGuard(EventQueue& event_queue) : event_queue_(event_queue) {
  event_queue.this_thread().runs_ahead = true;
}

EventQueue::RunAheadGuard::~RunAheadGuard() {
  event_queue_.this_thread().runs_ahead = false;
  event_queue_.return_to_kernel();
}

// No event runs while the kernel catches up with the thread, which is also the order without run-ahead.
EventQueue::KernelTimeGuard::KernelTimeGuard(EventQueue& event_queue)
    : event_queue_(event_queue), was_ahead_(std::exchange(event_queue.this_thread().runs_ahead, false)) {
  if (!was_ahead_) return;
  const std::uint64_t ahead = event_queue_.now_fs() - event_queue_.kernel_now();
  if (ahead > 0) sc_core::wait(sc_core::sc_time::from_value(ahead));
  event_queue_.return_to_kernel();
}

EventQueue::KernelTimeGuard::~KernelTimeGuard() { event_queue_.this_thread().runs_ahead = was_ahead_; }

void Condition::wait_until(std::uint64_t time_fs) {
  EventQueue::Thread& thread = event_queue_.this_thread();
  waiting_.push_back(&thread);
  event_queue_.block(thread, time_fs, this);
}

void Condition::notify_all() {
  for (EventQueue::Thread* thread : std::exchange(waiting_, {})) event_queue_.make_ready(*thread);
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
  insert(event, time_fs);
}

void EventQueue::insert(Event& event, std::uint64_t time_fs) {
  const QueuedEvent entry{time_fs, &event};
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
  const QueuedEvent last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  if (last < heap_[place]) {
    sift_up(place, last);
  } else {
    sift_down(place, last);
  }
}

void EventQueue::sift_up(std::size_t place, const QueuedEvent& entry) {
  for (std::size_t above; place > 0 && entry < heap_[above = (place - 1) / 2]; place = above) put(place, heap_[above]);
  put(place, entry);
}

void EventQueue::sift_down(std::size_t place, const QueuedEvent& entry) {
  for (std::size_t below; (below = 2 * place + 1) < heap_.size(); place = below) {
    if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
    if (!(heap_[below] < entry)) break;
    put(place, heap_[below]);
  }
  put(place, entry);
}

bool EventQueue::visit_state(StateVisitor& visitor) const {
  if (!ready_.empty() || running_) return false;
  const auto show = [&visitor](const Event& event) {
    visitor.value(event.owner_);
    visitor.value(event.has_waiter());
  };
  for (const Event* event : delta_) {
    if (event != nullptr) show(*event);
  }
  sorted_ = heap_;
  std::sort(sorted_.begin(), sorted_.end());
  visitor.value(sorted_.size());
  for (const QueuedEvent& entry : sorted_) {
    if (is_of_thread(entry)) return false;
    visitor.at_fs(entry.time);
    show(*entry.event);
  }
  return true;
}

}  // namespace attnvp::sim
