// Call stack of a running program: its calls that have not returned. Calls and returns are recognised as in Profile.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control/riscv/hart.h"
#include "models/control/riscv/jump.h"

namespace attnvp::riscv {

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
