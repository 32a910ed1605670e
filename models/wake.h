// A condition that processes of SystemC's wait for: `while (!condition) wake.wait();` on one side, change it and
// `wake.notify()` on the other. As an event notified in the next delta, but free while nobody waits.
#pragma once

#include <systemc>

#include "models/agenda/agenda.h"

namespace attnvp {

class Wake {
 public:
  explicit Wake(Agenda& agenda) : agenda_(agenda) {}
  void wait() {
    ++waiting_;
    sc_core::wait(event_);
    --waiting_;
  }
  void notify() {
    if (waiting_ > 0) agenda_.notify(event_);
  }
  sc_core::sc_event& event() { return event_; }  // for the fault line

 private:
  Agenda& agenda_;
  sc_core::sc_event event_;
  int waiting_ = 0;
};

}  // namespace attnvp
