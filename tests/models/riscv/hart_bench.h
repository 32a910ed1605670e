// Test bench of a hart with a small memory and programs as words.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "models/control/riscv/hart.h"

namespace attnvp::riscv::bench {

constexpr std::uint32_t kBase = 0x8000'0000, kBytes = 0x4000, kData = kBase + 0x2000, kHandler = kBase + 0x1000;
constexpr std::uint32_t kDevice = 0x1000'0000;  // 64 registers; an access takes kDeviceCycles

// Register numbers.
enum : std::uint32_t { zero, ra, sp, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5 };

inline std::uint32_t r(std::uint32_t f7, std::uint32_t f3, std::uint32_t rd, std::uint32_t rs1, std::uint32_t rs2) {
  return 0x33 | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}
inline std::uint32_t i(std::uint32_t op, std::uint32_t f3, std::uint32_t rd, std::uint32_t rs1, std::int32_t imm) {
  return op | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
inline std::uint32_t addi(std::uint32_t rd, std::uint32_t rs1, std::int32_t imm) { return i(0x13, 0, rd, rs1, imm); }
inline std::uint32_t lui(std::uint32_t rd, std::uint32_t value) { return 0x37 | rd << 7 | (value & 0xFFFFF000U); }
inline std::uint32_t load(std::uint32_t f3, std::uint32_t rd, std::uint32_t rs1, std::int32_t imm) {
  return i(0x03, f3, rd, rs1, imm);
}
inline std::uint32_t store(std::uint32_t f3, std::uint32_t rs2, std::uint32_t rs1, std::int32_t imm) {
  const auto o = static_cast<std::uint32_t>(imm);
  return 0x23 | (o & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | o >> 5 << 25;
}
inline std::uint32_t branch(std::uint32_t f3, std::uint32_t rs1, std::uint32_t rs2, std::int32_t offset) {
  const auto o = static_cast<std::uint32_t>(offset);
  return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | f3 << 12 | rs1 << 15 | rs2 << 20 | (o >> 5 & 63) << 25 |
         (o >> 12 & 1) << 31;
}
inline std::uint32_t jal(std::uint32_t rd, std::int32_t offset) {
  const auto o = static_cast<std::uint32_t>(offset);
  return 0x6F | rd << 7 | (o & 0xFF000) | (o >> 11 & 1) << 20 | (o >> 1 & 0x3FF) << 21 | (o >> 20 & 1) << 31;
}
inline std::uint32_t csr(std::uint32_t f3, std::uint32_t rd, std::uint32_t number, std::uint32_t rs1) {
  return 0x73 | rd << 7 | f3 << 12 | rs1 << 15 | number << 20;
}
constexpr std::uint32_t kEcallWord = 0x73, kEbreakWord = 0x0010'0073, kMretWord = 0x3020'0073, kWfiWord = 0x1050'0073;

class Machine final : public RiscvBus {
 public:
  static constexpr std::uint64_t kDeviceCycles = 20;
  explicit Machine(const HartTiming& timing = {}) : hart(3, timing, *this) {
    hart.add(memory);
    hart.reset(kBase);
  }
  // Loads the program at kBase; the trap handler at kHandler ends a run.
  void load(const std::vector<std::uint32_t>& words) {
    memory.poke(kBase, words.data(), static_cast<std::uint32_t>(4 * words.size()));
    hart.csrs().write(CsrNumber::kMtvec, kHandler, {});
  }
  // Runs that many instructions, or up to a trap.
  void run(std::uint32_t instructions) {
    for (std::uint32_t n = 0; n < instructions; ++n) hart.run(hart.cycle() + 1);
  }
  std::uint32_t csr_value(std::uint32_t number) {
    std::uint32_t value = 0;
    EXPECT_TRUE(hart.csrs().read(number, hart.now(), value)) << std::hex << number;
    return value;
  }
  std::uint32_t word(std::uint32_t address) {
    std::uint32_t value = 0;
    EXPECT_TRUE(memory.peek(address, &value, 4));
    return value;
  }
  bool read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) override {
    if (address - kDevice >= 256) return false;
    cycle += kDeviceCycles;
    std::memcpy(data, &device[address - kDevice], bytes);
    return true;
  }
  bool write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) override {
    if (address - kDevice >= 256) return false;
    cycle += kDeviceCycles;
    std::memcpy(&device[address - kDevice], data, bytes);
    return true;
  }
  std::uint64_t time(std::uint64_t cycle) override { return cycle; }

  RiscvMemory memory{kBase, kBytes};
  unsigned char device[256] = {};
  Hart hart;
};

}  // namespace attnvp::riscv::bench
