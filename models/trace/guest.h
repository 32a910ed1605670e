// Signals that another simulator writes, in VCD form, under a module's scope.
#pragma once

#include <string>
#include <string_view>

namespace attnvp {

// Where a guest's changes go, at the current simulation time.
class TraceHost {
 public:
  virtual ~TraceHost() = default;
  virtual void guest_changes(std::string_view text) = 0;
};

class TraceGuest {
 public:
  virtual ~TraceGuest() = default;
  // Begins to trace; returns the declarations ($scope, $var, $upscope). Every identifier code begins with `prefix`.
  virtual std::string attach(TraceHost& host, const std::string& prefix) = 0;
  virtual void detach() = 0;
};

}  // namespace attnvp
