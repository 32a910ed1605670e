// L1 of kind banked on a machine: what conflicts cost a matmul, and that the account says so.
#include "models/memory/config.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

MachineConfig banked(Swizzle swizzle = Swizzle::kNone) {
  MachineConfig m = machine();
  m.l1.kind = "banked";
  m.own<BankConfig>().swizzle = swizzle;
  return m;
}

struct Outcome {
  std::uint64_t cycles, stall, bank_stall, conflicts;
};

// 64 rows of A of 256 bytes, `stride` bytes apart, by 128 x 16. A sub-tile takes 128 cycles, and 64 beats of A and of
// B.
Outcome matmul_with_stride(const MachineConfig& m, std::uint32_t stride) {
  Bench bench(m);
  hal::Descriptor d = matmul(64, 16, 128, {16, 16, 128}, kL1, kL1 + (256 << 10), kL1 + (512 << 10));
  d.operand[0].row_stride = stride;
  const std::uint64_t cycles = bench.run([&](Bench& b) {
    b.set_l1(kL1, std::vector<arith::Half>(64 * stride / 2, arith::half_from_float(1.0F)));
    b.set_l1(kL1 + (256 << 10), std::vector<arith::Half>(128 * 16, arith::half_from_float(0.5F)));
    b.push(kMac, then(d, 0));
    b.take(0);
  });
  EXPECT_EQ(bench.l1<arith::Half>(kL1 + (512 << 10), 64 * 16),
            std::vector<arith::Half>(64 * 16, arith::half_from_float(64.0F)));
  const Engine& mac = *bench.core().mac;
  Memory& l1 = *bench.cluster().l1;
  const bool counts = m.l1.kind == "banked";
  return {cycles, mac.value("stall_cycles"), mac.stall_counts()[0].bank_cycles,
          counts ? l1.value("bank_conflict_cycles") : 0};
}

// A beat is a word of 32 bytes of two rows. 512 bytes apart they are in one bank, 544 bytes apart they are not.
TEST(BankedScratchpad, RowsInOneBankTakeTwiceAsLong) {
  const Outcome same = matmul_with_stride(banked(), 512), apart = matmul_with_stride(banked(), 544);
  EXPECT_EQ(apart.conflicts, 0U);
  EXPECT_GT(same.conflicts, 0U);
  EXPECT_GT(same.cycles, apart.cycles);
}
TEST(BankedScratchpad, ASwizzleTakesThemApart) {
  const Outcome swizzled = matmul_with_stride(banked(Swizzle::kXor), 512);
  EXPECT_EQ(swizzled.conflicts, 0U);
  EXPECT_EQ(swizzled.cycles, matmul_with_stride(banked(), 544).cycles);
}
TEST(BankedScratchpad, WithoutConflictsAsIfThereWereNoBanks) {
  EXPECT_EQ(matmul_with_stride(banked(), 544).cycles, matmul_with_stride(machine(), 544).cycles);
}
TEST(BankedScratchpad, TheAccountHasWhatConflictsCost) {
  MachineConfig m = banked();
  m.l1.port_bytes_per_cycle = 64;
  m.mac.rows = m.mac.columns = 16;
  Bench bench(m);
  // Depth 32: A, two words a row, is read four times as fast as it can be.
  hal::Descriptor d = matmul(256, 64, 32, {16, 16, 32}, kL1, kL1 + (256 << 10), kL1 + (512 << 10));
  d.operand[0].row_stride = 512;
  const std::uint64_t cycles = cycles_of(bench, kMac, d);
  const StallCounts counts = bench.core().mac->stall_counts()[0];
  EXPECT_GT(counts.bank_cycles, 0U);
  EXPECT_LE(counts.bank_cycles, counts.stall_cycles);
  EXPECT_GT(cycles, 0U);
}

}  // namespace
}  // namespace attnvp::bench
