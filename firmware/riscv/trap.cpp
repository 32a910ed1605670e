// Trap handler: it records and skips a guarded access that failed. Any other trap ends the program with a report.
#include "firmware/riscv/trap.h"

#include <cstdint>

#include "firmware/hal/hart.h"
#include "firmware/hal/registers.h"

namespace {

constexpr unsigned kLoadFault = 5, kStoreFault = 7;

constexpr auto kControl = static_cast<unsigned>(attnvp::hal::kControlBase);
constexpr unsigned kControlEnd = kControl + 1024 * static_cast<unsigned>(attnvp::hal::kClusterStride);

unsigned length_at(unsigned pc) { return (*reinterpret_cast<const std::uint16_t*>(pc) & 3) == 3 ? 4 : 2; }

}  // namespace

extern "C" unsigned trap(unsigned cause, unsigned pc, unsigned value) {
  using namespace attnvp;
  if ((cause == kLoadFault || cause == kStoreFault) && riscv::guard != riscv::Guard::kOff) {
    riscv::guard = riscv::Guard::kFailed;
    return pc + length_at(pc);
  }
  // Posted access that failed: a later access to a queue's or an event's registers, or to the push unit, reports it.
  const bool control = value - kControl < kControlEnd - kControl;
  const bool device = value - hal::kHartDevices < hal::kHartDevicesSize;
  if ((cause == kLoadFault && control) || (cause == kStoreFault && (control || device))) {
    riscv::push_failed = true;
    return value == hal::kHartDevices + hal::kHartFinish ? pc : pc + length_at(pc);  // retries a write to kHartFinish
  }
  riscv::print("trap: cause ");
  riscv::print_hex(cause);
  riscv::print(", pc ");
  riscv::print_hex(pc);
  riscv::print(", value ");
  riscv::print_hex(value);
  riscv::print("\n");
  *reinterpret_cast<volatile std::uint32_t*>(hal::kHartDevices + hal::kHartFinish) = hal::kHartGaveUp | (cause & 0xFF);
  return pc;  // not reached: the platform has stopped the hart
}
