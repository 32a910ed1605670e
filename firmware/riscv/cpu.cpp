// Bus access (hal/cpu.h) of RISC-V firmware: loads and stores, through a window for addresses beyond 32 bits. A failed
// access traps; the handler records it in trap.h and continues after it.
#include "firmware/hal/cpu.h"

#include "firmware/hal/hart.h"
#include "firmware/hal/list.h"
#include "firmware/hal/registers.h"
#include "firmware/riscv/trap.h"

namespace attnvp::riscv {
volatile Guard guard = Guard::kOff;
volatile bool push_failed = false;
}  // namespace attnvp::riscv

namespace attnvp::hal {

namespace {

volatile std::uint32_t& word(std::uint32_t address) { return *reinterpret_cast<volatile std::uint32_t*>(address); }

// Address at which the hart sees a platform address; moves the far window if necessary.
std::uint32_t seen(std::uint64_t address) {
  if (address < kHartOwnEnd) return static_cast<std::uint32_t>(address);
  const std::uint64_t base = address & ~std::uint64_t{kHartWindowSize - 1};
  word(kHartDevices + kHartWindow) = static_cast<std::uint32_t>(base);
  word(kHartDevices + kHartWindow + 4) = static_cast<std::uint32_t>(base >> 32);
  return kHartFar + static_cast<std::uint32_t>(address - base);
}

inline void fence() { asm volatile("fence iorw, iorw" ::: "memory"); }

// Scope of guarded accesses; end() returns true if all of them succeeded.
class GuardedScope {
 public:
  GuardedScope() { riscv::guard = riscv::Guard::kArmed; }
  bool end() {
    fence();
    const bool ok = riscv::guard == riscv::Guard::kArmed;
    riscv::guard = riscv::Guard::kOff;
    return ok;
  }
};

}  // namespace

// One or two words are loaded, larger blocks are fetched by the fetch unit.
bool read(Cpu& /*cpu*/, std::uint64_t address, void* data, std::size_t bytes) {
  std::uint32_t at = seen(address);
  auto* to = static_cast<std::uint32_t*>(data);
  GuardedScope guarded;
  if (bytes <= 8) {
    to[0] = word(at);
    if (bytes == 8) to[1] = word(at + 4);
    return guarded.end();
  }
  for (std::size_t left = bytes; left > 0;) {
    const std::size_t some = left < kHartFetchMost ? left : kHartFetchMost;
    word(kHartDevices + kHartTo) = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(to));
    word(kHartDevices + kHartBytes) = some;
    word(kHartDevices + kHartFetch) = at;
    to += some / 4, at += some, left -= some;
  }
  asm volatile("" : : : "memory");
  return guarded.end();
}

bool write(Cpu& /*cpu*/, std::uint64_t address, const void* data, std::size_t bytes) {
  const std::uint32_t at = seen(address);
  const auto* from = static_cast<const std::uint32_t*>(data);
  GuardedScope guarded;
  if (bytes <= 8) {
    word(at) = from[0];
    if (bytes == 8) word(at + 4) = from[1];
    return guarded.end();
  }
  std::size_t i = 0;
  for (const std::size_t words = bytes / 4; i + 8 <= words; i += 8) {
    auto* to = reinterpret_cast<volatile std::uint32_t*>(at + 4 * i);
    const std::uint32_t *f = from + i, a = f[0], b = f[1], c = f[2], d = f[3], e = f[4], g = f[5], h = f[6], k = f[7];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d, to[4] = e, to[5] = g, to[6] = h, to[7] = k;
  }
  for (; i < bytes / 4; ++i) word(at + 4 * i) = from[i];
  return guarded.end();
}

bool write_register(Cpu& /*cpu*/, std::uint32_t address, std::uint32_t value) {
  GuardedScope guarded;
  word(address) = value;
  return guarded.end();
}

bool read_register(Cpu& /*cpu*/, std::uint32_t address, std::uint32_t& value) {  // always answers
  value = word(address);
  return true;
}

bool post(Cpu& /*cpu*/, std::uint32_t address, std::uint32_t value) {
  word(address) = value;
  return true;
}

bool post(Cpu& /*cpu*/, std::uint32_t address, std::uint64_t value) {
  word(address) = static_cast<std::uint32_t>(value);
  word(address + 4) = static_cast<std::uint32_t>(value >> 32);
  return true;
}

bool push(Cpu& /*cpu*/, std::uint64_t queue, const Descriptor& descriptor) {
  word(kHartDevices + kHartQueue) = static_cast<std::uint32_t>(queue);
  asm volatile("" ::: "memory");  // compiler barrier: the descriptor is in memory
  word(kHartDevices + kHartPush) = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&descriptor));
  return !riscv::push_failed;
}

bool play(Cpu& /*cpu*/, const CommandList& list) {
  GuardedScope guarded;
  word(kHartDevices + kHartList) = static_cast<std::uint32_t>(list.address);
  word(kHartDevices + kHartList + 4) = static_cast<std::uint32_t>(list.address >> 32);
  word(kHartDevices + kHartPlay) = list.bytes;
  return guarded.end();
}

}  // namespace attnvp::hal
