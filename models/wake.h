// A condition that processes wait for: `while (!condition) wake.wait();` on one side, change it and `wake.notify()` on
// the other. As an event notified in the next delta, but free while nobody waits.
#pragma once

#include <systemc>

namespace attnvp {

class Wake {
 public:
  void wait() {
    ++waiting_;
    sc_core::wait(event_);
    --waiting_;
  }
  void wait(const sc_core::sc_time& at_most) {
    ++waiting_;
    sc_core::wait(at_most, event_);
    --waiting_;
  }
  void notify() {
    if (waiting_ > 0) event_.notify(sc_core::SC_ZERO_TIME);
  }
  sc_core::sc_event& event() { return event_; }  // for the fault line

 private:
  sc_core::sc_event event_;
  int waiting_ = 0;
};

}  // namespace attnvp
