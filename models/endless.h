// What has events of its own for as long as anybody simulates, as someone else's memory may that refreshes by a thread.
// A platform with such a module does not come to rest: it is asked whether it has anything to do.
#pragma once

namespace attnvp {

class Endless {
 public:
  virtual bool idle() const = 0;  // nobody waits for it

 protected:
  ~Endless() = default;
};

}  // namespace attnvp
