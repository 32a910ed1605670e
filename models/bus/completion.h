// For initiators that have several accesses under way, at targets that cannot tell beforehand how long one takes: the
// initiator adds this extension to its payload, and a target that knows it may answer at once and tell the end later.
// Targets that do not know it wait, or annotate their time, as ever.
#pragma once

#include <cstdint>
#include <tlm>

namespace attnvp {

class Completions {
 public:
  virtual ~Completions() = default;
  // The access with that ticket is over at the cycle, which is now or later.
  virtual void completed(std::uint64_t ticket, std::uint64_t cycle) = 0;
};

struct CompletionExtension : tlm::tlm_extension<CompletionExtension> {
  explicit CompletionExtension(Completions& initiator) : to(&initiator) {}
  tlm_extension_base* clone() const override { return new CompletionExtension(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const CompletionExtension&>(other); }
  void free() override {}  // whoever attaches it owns it

  Completions* to;
  std::uint64_t ticket = 0;
  bool deferred = false;  // set by the target: to->completed(ticket, ...) will be called, not from within b_transport
};

}  // namespace attnvp
