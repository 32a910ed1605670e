// A module with events of its own for as long as anybody simulates, such as someone else's memory that refreshes by a
// thread. A platform with such a module, or with an sc_clock, does not run out of events: it
// asks whether the module has anything to do.
#pragma once

namespace attnvp {

class Endless {
 public:
  // An access of the platform ends later, at a time that is known.
  virtual bool ends_later() const = 0;

 protected:
  ~Endless() = default;
};

}  // namespace attnvp
