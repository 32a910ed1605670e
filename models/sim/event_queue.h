// Event queue of a platform. Modules schedule events at absolute times in femtoseconds. An event resumes the process
// that waits for it (process.h).
//
// The queue runs inside the SystemC kernel. It may run ahead of the kernel's time up to the next activity of a SystemC
// process (temporal decoupling). A thread with a RunAheadGuard runs the queue while it waits, without the kernel.
// Without run-ahead every event is executed at its own kernel time. Results are equal. All calls come from the
// simulation thread.
//
// Order at one time: events run first, in the order in which they were scheduled. The SystemC threads that wait through
// the queue follow one by one. Threads that wait for this time come first, in the order of their waits. Threads whose
// condition was notified follow, in the order of the notifications. Events that a thread schedules for this time run
// before the next thread. Processes that wait through the kernel alone run before the threads of their time.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attnvp::sim {

class EventQueue;
class StateVisitor;

// An event is notified immediately, after all events of this time, or at a given time. As with sc_event, at most one
// notification is pending. The event resumes the one process that waits for it (`co_await event`). A notification
// without a waiting process is lost.
class Event {
 public:
  explicit Event(EventQueue& event_queue) : event_queue_(event_queue) {}
  ~Event() { cancel(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void notify() { run(); }  // within this call
  void notify_delta();      // at this time, after all events already scheduled for it
  // Replaces a pending notification. A past time acts as notify_delta(); UINT64_MAX cancels.
  void notify_at(std::uint64_t time_fs);
  void cancel();
  bool is_pending() const { return place_ != kNowhere; }
  bool has_waiter() const { return waiter_ != nullptr; }
  // Identity of the event in the digest of a state. Objects of a pool set it, since any of them may do the work.
  void belongs_to(const void* owner) { owner_ = owner; }

  struct Awaiter {
    Event& event;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> process) noexcept { event.waiter_ = process; }
    void await_resume() const noexcept {}
  };
  Awaiter operator co_await() { return {*this}; }
  [[nodiscard]] Awaiter at(std::uint64_t time_fs) {
    notify_at(time_fs);
    return {*this};
  }

 private:
  friend class EventQueue;
  static constexpr std::size_t kNowhere = SIZE_MAX, kDelta = SIZE_MAX - 1;

  void run() {
    if (waiter_ != nullptr) std::exchange(waiter_, nullptr).resume();
  }

  EventQueue& event_queue_;
  const void* owner_ = this;
  std::coroutine_handle<> waiter_ = nullptr;
  std::size_t place_ = kNowhere;  // index in the heap, or kDelta
  std::uint64_t order_ = 0;       // among equal times, the lower one is first; timers of threads follow all events
};

class Condition;

class EventQueue : public sc_core::sc_module {
 public:
  explicit EventQueue(sc_core::sc_module_name name);

  // Platform time: the later of kernel time and the time of the last event.
  std::uint64_t now_fs() const {
    const std::uint64_t kernel = kernel_now();
    return kernel < time_ ? time_ : kernel;
  }
  std::uint64_t events_done() const { return done_; }
  // Must be set before the first event.
  void set_run_ahead(bool is_allowed) { allows_run_ahead_ = is_allowed; }
  // Shows the scheduled events, in their order. False: other threads wait.
  bool visit_state(StateVisitor& visitor) const;
  // Set when a time beyond the kernel's last one (2^64 fs) was requested; later times are invalid.
  mutable bool time_has_run_out = false;

  // The members below serve SystemC threads. wait_until() blocks the calling thread until `time_fs`.
  void wait_until(std::uint64_t time_fs);
  // While it exists, the calling thread runs the queue during its waits, ahead of the kernel. The thread must then wait
  // through the queue only.
  class RunAheadGuard {
   public:
    explicit RunAheadGuard(EventQueue& event_queue);
    ~RunAheadGuard();
    RunAheadGuard(const RunAheadGuard&) = delete;
    RunAheadGuard& operator=(const RunAheadGuard&) = delete;

   private:
    EventQueue& event_queue_;
  };
  // While it exists, the calling thread is not ahead of the kernel and may wait through the kernel.
  class KernelTimeGuard {
   public:
    explicit KernelTimeGuard(EventQueue& event_queue);
    ~KernelTimeGuard();
    KernelTimeGuard(const KernelTimeGuard&) = delete;
    KernelTimeGuard& operator=(const KernelTimeGuard&) = delete;

   private:
    EventQueue& event_queue_;
    const bool was_ahead_;
  };
  // Notifies a SystemC event at the platform time plus a delay.
  void notify(sc_core::sc_event& event, std::uint64_t after_fs = 0);

 private:
  friend class Event;
  friend class Condition;
  struct QueuedEvent {
    std::uint64_t time;
    Event* event;
    bool operator<(const QueuedEvent& o) const {
      return time != o.time ? time < o.time : event->order_ < o.event->order_;
    }
  };
  struct Thread;
  struct Timer : Event {
    Timer(EventQueue& event_queue, Thread& its_thread) : Event(event_queue), thread(its_thread) {}
    Thread& thread;
  };
  // A SystemC thread that waits through the queue.
  struct Thread {
    Thread(EventQueue& event_queue, const void* its_process) : process(its_process), timer(event_queue, *this) {}
    const void* process;
    sc_core::sc_event resumed;
    Timer timer;                       // in the heap while another thread runs the queue; order: start of the wait
    std::uint64_t until = UINT64_MAX;  // end of the wait,
    Condition* condition = nullptr;    // or the condition that ends it
    bool runs_ahead = false;
  };

  std::uint64_t kernel_now() const { return kernel_->time_stamp().value(); }
  void run_in_kernel();
  Thread* run(Thread* self);
  void run_at_this_time();
  Thread* thread_of_this_time(Thread* self) const;
  void end_wait(Thread& thread);
  Thread& this_thread();
  void block(Thread& thread, std::uint64_t until_fs, Condition* condition);
  void make_ready(Thread& thread);
  void look_ahead();
  void return_to_kernel();
  void wake_at(std::uint64_t time_fs);
  void add_delta(Event& event);
  // Timers of threads are ordered after all events of their time.
  static constexpr std::uint64_t kThreads = std::uint64_t{1} << 63;
  static bool is_of_thread(const QueuedEvent& entry) { return entry.event->order_ >= kThreads; }
  bool alone_in_front() const {
    const auto later = [this](std::size_t place) {
      return place >= heap_.size() || heap_[place].time > time_ || is_of_thread(heap_[place]);
    };
    return later(1) && later(2);
  }
  void schedule(Event& event, std::uint64_t time_fs);
  void insert(Event& event, std::uint64_t time_fs);
  void remove(std::size_t place);
  void sift_up(std::size_t place, const QueuedEvent& entry);
  void sift_down(std::size_t place, const QueuedEvent& entry);
  void put(std::size_t place, const QueuedEvent& entry) {
    heap_[place] = entry;
    entry.event->place_ = place;
  }

  const sc_core::sc_simcontext* kernel_ = sc_core::sc_get_curr_simcontext();
  std::uint64_t time_ = 0;            // of the last event
  std::uint64_t limit_ = 0;           // earliest next activity of a process that waits through the kernel
  bool running_ = false;              // an event is executed,
  bool is_ahead_ = false;             // or a thread runs ahead; the kernel is then not notified
  std::uint64_t woken_ = UINT64_MAX;  // time of the pending kernel notification
  std::uint64_t scheduled_ = 0, done_ = 0;
  std::vector<QueuedEvent> heap_;
  mutable std::vector<QueuedEvent> sorted_;  // of visit_state()
  bool vacant_ = false;        // the first entry is being executed; the next scheduled event may take its place
  std::vector<Event*> delta_;  // entries before next_ are done; nullptr: cancelled
  std::size_t next_ = 0;
  bool allows_run_ahead_ = true;
  std::deque<Thread*> ready_;                                         // threads whose condition was notified
  std::unordered_map<const void*, std::unique_ptr<Thread>> threads_;  // by SystemC process
  Thread* last_ = nullptr;                                            // result of the last lookup
  sc_core::sc_event due_;
};

// Condition that SystemC threads wait for: `while (!condition) changed.wait();`. The other side changes the state and
// calls `changed.notify()`. Waiting threads resume after all events of this time.
class Condition {
 public:
  explicit Condition(EventQueue& event_queue) : event_queue_(event_queue) {}
  void wait() { wait_until(UINT64_MAX); }
  void wait_until(std::uint64_t time_fs);  // until notified or until `time_fs`
  void notify() {
    if (!waiting_.empty()) notify_all();
  }

 private:
  friend class EventQueue;
  void notify_all();

  EventQueue& event_queue_;
  std::vector<EventQueue::Thread*> waiting_;  // in the order of the waits
};

inline void Event::notify_delta() {
  if (place_ == kDelta) return;
  if (place_ != kNowhere) event_queue_.remove(place_);
  event_queue_.add_delta(*this);
}

inline void Event::notify_at(std::uint64_t time_fs) {
  if (time_fs == UINT64_MAX) return cancel();
  if (time_fs <= event_queue_.now_fs()) return notify_delta();
  if (place_ == kDelta) cancel();
  event_queue_.schedule(*this, time_fs);
}

}  // namespace attnvp::sim
