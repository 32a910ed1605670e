// Call stack of a running program: its calls that have not returned.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

// Calls and returns by instruction: jumps that link ra or t0, and jumps through these registers.
enum class Jump : std::uint8_t { kNone, kCall, kReturn };

inline Jump jump_of(const Executed& e) {
  constexpr std::uint32_t kRa = 1, kT0 = 5;
  const auto links = [](std::uint32_t reg) { return reg == kRa || reg == kT0; };
  const Decoded& d = *e.instruction;
  if (!e.retired) return Jump::kCall;  // a trap calls its handler
  if (d.op == Op::kMret) return Jump::kReturn;
  if (d.op == Op::kJal && links(d.rd)) return Jump::kCall;
  if (d.op != Op::kJalr) return Jump::kNone;
  return links(d.rd) ? Jump::kCall : links(d.rs1) ? Jump::kReturn : Jump::kNone;
}

class CallStack final : public Observer {
 public:
  bool before(Hart& /*hart*/, std::uint32_t pc) override {
    pc_ = pc;
    return true;
  }
  bool after(Hart& /*hart*/, const Executed& executed) override {
    const Jump jump = jump_of(executed);
    if (jump == Jump::kCall) calls_.push_back(executed.pc);
    if (jump == Jump::kReturn && !calls_.empty()) calls_.pop_back();
    return true;
  }
  // Current instruction and the calls that lead to it, innermost first.
  std::vector<std::uint32_t> now() const {
    std::vector<std::uint32_t> stack(calls_.rbegin(), calls_.rend());
    stack.insert(stack.begin(), pc_);
    return stack;
  }

 private:
  std::uint32_t pc_ = 0;
  std::vector<std::uint32_t> calls_;
};

}  // namespace attnvp::riscv
