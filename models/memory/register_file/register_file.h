// L0: register file of one core, for operands and partial results of the MAC and VEC engines. It counts accesses
// (16-bit words) and checks capacity. It takes no time, since it is wide enough for both engines. The MAC engine has
// one half, the VEC engine the other; addresses start at 0 in each.
#pragma once

#include "models/memory/config.h"
#include "models/memory/memory.h"

namespace attnvp {

class RegisterFile : public Memory, private StreamTarget {
 public:
  RegisterFile(sc_core::sc_module_name name, const ModuleContext& module_context);

  StreamTargetSocket& stream(std::uint32_t engine) override { return engine == 0 ? mac_ : vec_; }
  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  bool visit_state(sim::StateVisitor& visitor) override {
    visit_counters(visitor);
    return true;
  }
  static std::uint64_t share_bytes(std::uint64_t l0_bytes) { return l0_share_bytes(l0_bytes); }

  Counter read_words{*this, "read_words", "16-bit words", "words read", {"attnvp.l0", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.l0", "write"}};
  Counter peak_bytes{*this, "peak_bytes", "bytes", "largest working set of one descriptor"};

 private:
  bool begin(std::uint32_t engine, StreamTransaction& transaction, sc_core::sc_time& delay,
             const Response& response) override;
  StreamTargetSocket mac_{"mac", *this, 0}, vec_{"vec", *this, 1};
  RegisterFileConfig config_;
};

}  // namespace attnvp
