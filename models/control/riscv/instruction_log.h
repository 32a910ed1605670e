// Log of executed instructions in the format of Spike's commit log:
//   core   0: 3 0x60000000 (0x00000297) x5  0x60000000
//   core   0: 3 0x60000010 (0xc15c) mem 0x640001f4 0x00000001
#pragma once

#include <string>

#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

std::string log_line(std::uint32_t hart_number, const Hart& hart, const Executed& e);

}  // namespace attnvp::riscv
