// What happens when, for modules whose processes are steps: a step does what is to be done at its time and ends; what
// it leads to are other steps. One agenda serves a whole platform, as a payload event queue serves a socket.
//
// It goes on by itself, ahead of the kernel's time, up to when a process of SystemC's own has something to do (a
// control processor, a plug-in). One that drives (a control processor) goes on with it while it waits: where that is
// the only one, the kernel has nothing to do at all. The platform's time is the agenda's; for processes that do not
// drive, the kernel's is the same.
//
// Of steps of one time the one that was planned first comes first; processes come after the steps of their time.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

namespace attnvp {

// A member function of an object, without arguments: Call::of<&Engine::drain>(this).
struct Call {
  void (*what)(void*) = nullptr;
  void* whose = nullptr;
  void operator()() const { what(whose); }

  template <auto kMethod, class Owner>
  static Call of(Owner* owner) {
    return {[](void* o) { (static_cast<Owner*>(o)->*kMethod)(); }, owner};
  }
};

class Agenda;

// Something that may happen again and again. It is on the agenda at most once.
class Step {
 public:
  Step(Agenda& agenda, Call call) : agenda_(agenda), call_(call) {}
  ~Step() { cancel(); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  void soon();  // at this time, after all that is to happen at it already
  // Then, and not when it was planned; what is over by now is soon. At the end of time nothing happens any more.
  void at(std::uint64_t time_fs);
  void cancel();
  bool planned() const { return place_ != kNowhere; }

 private:
  friend class Agenda;
  static constexpr std::size_t kNowhere = SIZE_MAX, kSoon = SIZE_MAX - 1;

  Agenda& agenda_;
  Call call_;
  std::size_t place_ = kNowhere;  // in the agenda's heap, or kSoon
  std::uint64_t order_ = 0;       // of equal times the lower one is first
};

class Agenda : public sc_core::sc_module {
 public:
  explicit Agenda(sc_core::sc_module_name name);

  // The platform's time.
  std::uint64_t now_fs() const {
    const std::uint64_t kernel = kernel_now();
    return kernel < time_ ? time_ : kernel;
  }
  std::uint64_t steps_done() const { return done_; }

  // For processes of SystemC's. Until then:
  void wait_until(std::uint64_t time_fs);
  // The process that calls this drives from here on. It may wait by way of the agenda only,
  void let_drive() { drivers_.push_back(sc_core::sc_get_current_process_b()); }
  // but for as long as there is one of these: the kernel's time is the platform's.
  class Halt {
   public:
    explicit Halt(Agenda& agenda);
    ~Halt();
    Halt(const Halt&) = delete;
    Halt& operator=(const Halt&) = delete;

   private:
    Agenda& agenda_;
    const bool drove_;
  };
  // For one that waits for an event: now, or after a delay.
  void notify(sc_core::sc_event& event, std::uint64_t after_fs = 0);

 private:
  friend class Step;
  friend class Wake;
  struct Planned {
    std::uint64_t time;
    Step* step;
    bool operator<(const Planned& o) const { return time != o.time ? time < o.time : step->order_ < o.step->order_; }
  };

  std::uint64_t kernel_now() const { return kernel_->time_stamp().value(); }
  void run();
  bool may_drive() const;
  bool drive(std::uint64_t until_fs, const std::uint64_t* notified);
  bool go_on(std::uint64_t until_fs, const std::uint64_t* notified);
  void let_go();
  void wake_at(std::uint64_t time_fs);
  void add_soon(Step& step);
  bool alone_in_front() const {
    const auto later = [this](std::size_t place) { return place >= heap_.size() || heap_[place].time > time_; };
    return later(1) && later(2);
  }
  void plan(Step& step, std::uint64_t time_fs);
  void take_out(std::size_t place);
  void up(std::size_t place, const Planned& planned);
  void down(std::size_t place, const Planned& planned);
  void put(std::size_t place, const Planned& planned) {
    heap_[place] = planned;
    planned.step->place_ = place;
  }

  const sc_core::sc_simcontext* kernel_ = sc_core::sc_get_curr_simcontext();
  std::uint64_t time_ = 0;            // of the last step
  std::uint64_t limit_ = 0;           // up to which no process of SystemC's has something to do
  bool running_ = false;              // a step is being done,
  bool driven_ = false;               //   or a process that drives does something: the kernel need not be asked
  std::uint64_t woken_ = UINT64_MAX;  // the time for which the kernel was asked
  std::uint64_t planned_ = 0, done_ = 0;
  std::vector<Planned> heap_;
  bool vacant_ = false;      // the first one is being done, and leaves its place to the next that is planned
  std::vector<Step*> soon_;  // from next_ on; nullptr: cancelled
  std::size_t next_ = 0;
  std::vector<const void*> drivers_;  // processes
  sc_core::sc_event due_;
};

// A condition that processes of SystemC's wait for: `while (!condition) wake.wait();` on one side, change it and
// `wake.notify()` on the other. As an event notified in the next delta, but free while nobody waits.
class Wake {
 public:
  explicit Wake(Agenda& agenda) : agenda_(agenda) {}
  void wait() { wait_until(UINT64_MAX); }
  void wait_until(std::uint64_t time_fs);  // or that time
  void notify() {
    ++notified_;
    if (parked_ > 0) agenda_.notify(event_);
  }
  sc_core::sc_event& event() { return event_; }  // for sensitivity, before a process waits

 private:
  Agenda& agenda_;
  sc_core::sc_event event_;
  std::uint64_t notified_ = 0;
  int parked_ = 0;  // processes that wait for the event
};

inline void Step::soon() {
  if (place_ == kSoon) return;
  if (place_ != kNowhere) agenda_.take_out(place_);
  agenda_.add_soon(*this);
}

inline void Step::at(std::uint64_t time_fs) {
  if (time_fs == UINT64_MAX) return cancel();
  if (time_fs <= agenda_.now_fs()) return soon();
  if (place_ == kSoon) cancel();
  agenda_.plan(*this, time_fs);
}

}  // namespace attnvp
