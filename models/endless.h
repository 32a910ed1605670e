// A module with processes that never rest, such as a plug-in with a clock or refreshes. A platform with such a module,
// or with an sc_clock, does not run out of events: it asks whether the module has anything to do.
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
