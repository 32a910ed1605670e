// Interface of modules whose processes never end, such as a plug-in with a clock or refreshes. A platform with such a
// module, or with an sc_clock, never runs out of events. It therefore polls ends_later() for pending work.
#pragma once

namespace attnvp {

class Endless {
 public:
  // True if an access of the platform completes later, at a known time.
  virtual bool ends_later() const = 0;

 protected:
  ~Endless() = default;
};

}  // namespace attnvp
