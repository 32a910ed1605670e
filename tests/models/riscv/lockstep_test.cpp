// Random instructions, compressed ones and misaligned accesses among them, beside Unicorn (QEMU's interpreter): after
// every block all registers and all of memory are the same.
#include <unicorn/unicorn.h>

#include <random>

#include "tests/models/riscv/hart_bench.h"

namespace attnvp::riscv::bench {
namespace {

constexpr std::uint32_t kRam = 0x8000'0000, kRamBytes = 0x1'0000, kArea = kRam + 0x8000;
constexpr std::uint32_t kPointer = s0;  // at the middle of the data, never written

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // One block; a branch goes over the instruction behind it.
  std::vector<unsigned char> block(std::uint32_t instructions) {
    bytes_.clear();
    for (std::uint32_t n = 0; n < instructions; ++n) one();
    word(0x0000'0013);  // where a branch at the end goes
    return bytes_;
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint32_t any() { return pick(32); }
  std::uint32_t target() {
    const std::uint32_t r = any();
    return r == kPointer ? zero : r;
  }
  void half(std::uint32_t h) {
    bytes_.push_back(static_cast<unsigned char>(h));
    bytes_.push_back(static_cast<unsigned char>(h >> 8));
  }
  void word(std::uint32_t w) {
    half(w & 0xFFFF);
    half(w >> 16);
  }
  std::int32_t imm() { return static_cast<std::int32_t>(pick(4096)) - 2048; }

  void compressed() {
    while (true) {
      const std::uint32_t c = pick(1U << 16), w = expand(static_cast<std::uint16_t>(c));
      const std::uint32_t opcode = w & 0x7F, rd = w >> 7 & 31;
      const bool computes = opcode == 0x13 || opcode == 0x33 || opcode == 0x37;
      if ((c & 3) == 3 || w == 0 || !computes || rd == kPointer) continue;
      // Hints are left to the manual.
      if (rd == zero) continue;
      return half(c);
    }
  }
  void one() {
    constexpr std::uint32_t kBranches[] = {0, 1, 4, 5, 6, 7}, kLoads[] = {0, 1, 2, 4, 5};
    switch (pick(8)) {
      case 0:
        return word(r(pick(2) != 0 ? 1 : 0, pick(8), target(), any(), any()));
      case 1:
        return word(r(0x20, pick(2) != 0 ? 0 : 5, target(), any(), any()));
      case 2: {
        const std::uint32_t f3 = pick(8);
        const bool shift = f3 == 1 || f3 == 5;
        const std::int32_t amount = static_cast<std::int32_t>(pick(32) | (f3 == 5 && pick(2) != 0 ? 0x400 : 0));
        return word(i(0x13, f3, target(), any(), shift ? amount : imm()));
      }
      case 3:
        return word((pick(2) != 0 ? 0x37 : 0x17) | target() << 7 | pick(1U << 20) << 12);
      case 4:
        return word(load(kLoads[pick(5)], target(), kPointer, imm()));
      case 5:
        return word(store(pick(3), any(), kPointer, imm()));
      case 6:
        word(branch(kBranches[pick(6)], any(), any(), 8));
        return word(addi(target(), any(), imm()));
      default:
        return compressed();
    }
  }

  std::mt19937_64 random_;
  std::vector<unsigned char> bytes_;
};

TEST(Lockstep, RandomInstructionsDoWhatTheyDoInQemu) {
  constexpr std::uint32_t kBlocks = 20000, kInstructions = 500;
  uc_engine* oracle = nullptr;
  ASSERT_EQ(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &oracle), UC_ERR_OK);
  ASSERT_EQ(uc_mem_map(oracle, kRam, kRamBytes, UC_PROT_ALL), UC_ERR_OK);
  Machine nobody;
  RiscvMemory memory(kRam, kRamBytes);
  Hart hart(0, {}, nobody);
  hart.add(memory);
  hart.reset(kRam);
  Generator generator(1);
  std::mt19937_64 random(2);
  for (std::uint32_t n = 1; n < 32; ++n) {
    const auto value = static_cast<std::uint32_t>(n == kPointer ? kArea : random());
    hart.set_reg(n, value);
    uc_reg_write(oracle, UC_RISCV_REG_X0 + static_cast<int>(n), &value);
  }
  std::uint64_t executed = 0;
  std::vector<unsigned char> mine(kRamBytes), its(kRamBytes);
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    const std::vector<unsigned char> code = generator.block(kInstructions);
    const auto bytes = static_cast<std::uint32_t>(code.size());
    ASSERT_TRUE(memory.poke(kRam, code.data(), bytes));
    ASSERT_EQ(uc_mem_write(oracle, kRam, code.data(), bytes), UC_ERR_OK);
    uc_ctl_remove_cache(oracle, kRam, kRam + 0x4000);
    hart.set_pc(kRam);
    const std::uint64_t before = hart.retired();
    while (hart.pc() < kRam + bytes - 4) hart.run(hart.cycle() + 1);
    ASSERT_EQ(hart.traps(), 0U) << "block " << b;
    executed += hart.retired() - before;
    ASSERT_EQ(uc_emu_start(oracle, kRam, hart.pc(), 0, 0), UC_ERR_OK) << "block " << b;
    for (std::uint32_t n = 1; n < 32; ++n) {
      std::uint32_t value = 0;
      uc_reg_read(oracle, UC_RISCV_REG_X0 + static_cast<int>(n), &value);
      ASSERT_EQ(hart.reg(n), value) << "x" << n << " after block " << b;
    }
    if (b % 100 != 0) continue;
    ASSERT_TRUE(memory.peek(kRam, mine.data(), kRamBytes));
    ASSERT_EQ(uc_mem_read(oracle, kRam, its.data(), kRamBytes), UC_ERR_OK);
    ASSERT_EQ(mine, its) << "memory after block " << b;
  }
  EXPECT_GT(executed, 10'000'000U * 9 / 10);
  uc_close(oracle);
}

}  // namespace
}  // namespace attnvp::riscv::bench
