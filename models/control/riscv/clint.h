// Core-local interruptor (CLINT) of one hart: software interrupt and timer. mtime counts cycles of the hart's clock.
#pragma once

#include <cstdint>

#include "models/control/riscv/csr.h"

namespace attnvp::riscv {

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
