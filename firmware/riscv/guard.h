// Between an access that may fail and the trap handler.
#pragma once

namespace attnvp::riscv {

enum class Guard : unsigned { kOff, kArmed, kFailed };
extern volatile Guard guard;
extern volatile bool push_failed;

}  // namespace attnvp::riscv
