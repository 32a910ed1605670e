// For initiators that do not wait: modules of steps (models/sim/event_queue.h), and whoever has several accesses under
// way. The initiator adds this extension to its payload, and the target may answer at once and tell the end later;
// or annotate its time, as ever; or both: time that is annotated comes on top. A payload is the initiator's again when
// b_transport returns, its data when the access is over, and so is a stream.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/sim/event_queue.h"

namespace attnvp {

class Completions {
 public:
  virtual ~Completions() = default;
  // The access with that ticket is over at the cycle, which is now or later. `ok`: it was not refused.
  virtual void completed(std::uint64_t ticket, std::uint64_t cycle, bool ok) = 0;
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

// Who is told of the end, for an initiator without that extension: a process, which waits.
class Waiting : public Completions {
 public:
  explicit Waiting(sim::EventQueue& event_queue) : told_(event_queue) {}
  void completed(std::uint64_t /*ticket*/, std::uint64_t cycle, bool ok) override {
    end_cycle_ = cycle;
    ok_ = ok;
    over_ = true;
    told_.notify();
  }
  // Until it is known; the cycle of the end.
  std::uint64_t wait() {
    while (!over_) told_.wait();
    return end_cycle_;
  }
  bool ok() const { return ok_; }

 private:
  sim::Condition told_;
  std::uint64_t end_cycle_ = 0;
  bool over_ = false, ok_ = true;
};

}  // namespace attnvp
