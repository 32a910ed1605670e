// Control and status registers of a hart with machine mode only (RISC-V Privileged Architecture), and its core-local
// interruptor.
#pragma once

#include <array>
#include <cstdint>

namespace attnvp::riscv {

// Interrupts: bit numbers in mip and mie, and cause codes.
constexpr std::uint32_t kSoftwareInterrupt = 3, kTimerInterrupt = 7, kExternalInterrupt = 11;
constexpr std::uint32_t kAllInterrupts = 1U << kSoftwareInterrupt | 1U << kTimerInterrupt | 1U << kExternalInterrupt;

enum TrapCause : std::uint32_t {
  kFetchFault = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadFault = 5,
  kStoreMisaligned = 6,
  kStoreFault = 7,
  kEnvironmentCall = 11,
};

enum CsrNumber : std::uint32_t {
  kMstatus = 0x300,
  kMisa = 0x301,
  kMie = 0x304,
  kMtvec = 0x305,
  kMstatush = 0x310,
  kMcountinhibit = 0x320,
  kMscratch = 0x340,
  kMepc = 0x341,
  kMcause = 0x342,
  kMtval = 0x343,
  kMip = 0x344,
  kTselect = 0x7A0,
  kTdata1 = 0x7A1,
  kMcycle = 0xB00,
  kMinstret = 0xB02,
  kMcycleh = 0xB80,
  kMinstreth = 0xB82,
  kCycle = 0xC00,
  kTime = 0xC01,
  kInstret = 0xC02,
  kCycleh = 0xC80,
  kTimeh = 0xC81,
  kInstreth = 0xC82,
  kMvendorid = 0xF11,
  kMarchid = 0xF12,
  kMimpid = 0xF13,
  kMhartid = 0xF14,
  kMconfigptr = 0xF15,
};

constexpr std::uint32_t kMisaValue = 1U << 30 | 1U << ('I' - 'A') | 1U << ('M' - 'A') | 1U << ('C' - 'A');

struct Now {
  std::uint64_t cycle = 0;    // cycles of the hart's clock since its start
  std::uint64_t retired = 0;  // instructions before the current one
  std::uint64_t time = 0;     // mtime
};

class Csrs {
 public:
  explicit Csrs(std::uint32_t hart) : hart_(hart) {}

  // False: no such register.
  bool read(std::uint32_t number, const Now& now, std::uint32_t& value) const;
  // Write by an instruction that ends at `end`. The next instruction reads a counter as written. False: no such
  // register, or read-only.
  bool write(std::uint32_t number, std::uint32_t value, const Now& end);

  // Enters a trap; returns the address of the handler.
  std::uint32_t trap(std::uint32_t cause, bool interrupt, std::uint32_t pc, std::uint32_t value);
  // Returns from a trap; returns the address to continue at.
  std::uint32_t leave_trap();

  // Number of the interrupt to be taken now, or 0.
  std::uint32_t interrupt() const;
  bool wakes() const { return (mip & mie_) != 0; }  // a wfi ends
  bool hears(std::uint32_t bit) const { return mie_ >> bit & 1; }
  bool interruptible() const { return (mstatus_ & kMie) != 0 && mie_ != 0; }

  std::uint32_t mip = 0;  // current levels of the interrupt lines

 private:
  enum StatusBit : std::uint32_t { kMie = 1U << 3, kMpie = 1U << 7, kMpp = 3U << 11 };
  // Counts from the value last written, unless inhibited.
  struct CsrCounter {
    std::uint64_t offset = 0, held = 0;
    bool inhibited = false;
    std::uint64_t at(std::uint64_t now) const { return inhibited ? held : now + offset; }
    void set(std::uint64_t value, std::uint64_t now) {
      offset = value - now;
      held = value;
    }
    void inhibit(bool on, std::uint64_t now) {
      if (on == inhibited) return;
      const std::uint64_t value = at(now);
      inhibited = on;
      set(value, now);
    }
  };
  static constexpr std::uint32_t kPmpEntries = 16;

  std::uint32_t hart_;
  std::uint32_t mstatus_ = kMpp, mie_ = 0, mtvec_ = 0, mscratch_ = 0, mepc_ = 0, mcause_ = 0, mtval_ = 0;
  CsrCounter cycle_, retired_;
  std::array<std::uint32_t, kPmpEntries / 4> pmp_config_{};
  std::array<std::uint32_t, kPmpEntries> pmp_address_{};
};

// Core-local interruptor (CLINT) of one hart: software interrupt and timer. mtime counts cycles of the hart's clock.

constexpr std::uint32_t kClintBase = 0x0200'0000, kClintBytes = 0x1'0000;

class Clint {
 public:
  // Access of 4 aligned bytes at an offset of the window. False: no such register.
  bool read(std::uint32_t offset, std::uint32_t& value, std::uint64_t time) const {
    switch (offset) {
      case kMsip:
        value = software_ ? 1 : 0;
        return true;
      case kMtimecmp:
        value = static_cast<std::uint32_t>(compare_);
        return true;
      case kMtimecmp + 4:
        value = static_cast<std::uint32_t>(compare_ >> 32);
        return true;
      case kMtime:
        value = static_cast<std::uint32_t>(time);
        return true;
      case kMtime + 4:
        value = static_cast<std::uint32_t>(time >> 32);
        return true;
      default:
        return false;
    }
  }
  bool write(std::uint32_t offset, std::uint32_t value) {
    switch (offset) {
      case kMsip:
        software_ = (value & 1) != 0;
        return true;
      case kMtimecmp:
        compare_ = (compare_ >> 32 << 32) | value;
        return true;
      case kMtimecmp + 4:
        compare_ = (compare_ & 0xFFFF'FFFF) | std::uint64_t{value} << 32;
        return true;
      default:
        return false;  // mtime is read-only
    }
  }
  std::uint64_t deadline() const { return compare_; }
  // Bits of mip at `time`.
  std::uint32_t lines(std::uint64_t time) const {
    return (software_ ? 1U << kSoftwareInterrupt : 0) | (time >= compare_ ? 1U << kTimerInterrupt : 0);
  }

 private:
  enum Offset : std::uint32_t { kMsip = 0, kMtimecmp = 0x4000, kMtime = 0xBFF8 };
  bool software_ = false;
  std::uint64_t compare_ = UINT64_MAX;
};

}  // namespace attnvp::riscv
