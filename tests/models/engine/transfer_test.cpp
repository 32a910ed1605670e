#include "models/engine/dma_controller/transfer.h"

#include <random>
#include <utility>
#include <vector>

#include "tests/models/bench.h"

namespace attnvp {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // source and destination of every byte

using bench::copy;
using bench::CopySide;

Pairs naive(const hal::Descriptor& d) {
  Pairs pairs;
  const hal::Operand &s = d.operand[0], &t = d.operand[1];
  const hal::CopyTail& tail = d.tail.copy;
  for (std::uint64_t plane = 0; plane < tail.planes; ++plane) {
    for (std::uint64_t row = 0; row < d.rows; ++row) {
      for (std::uint64_t byte = 0; byte < s.columns; ++byte) {
        pairs.emplace_back(s.address + plane * tail.plane_stride[0] + row * s.row_stride + byte,
                           t.address + plane * tail.plane_stride[1] + row * t.row_stride + byte);
      }
    }
  }
  return pairs;
}

std::vector<Burst> bursts_of(const hal::Descriptor& d, std::uint64_t burst_bytes) {
  std::vector<Burst> bursts;
  for (Transfer transfer(d, burst_bytes); !transfer.done();) bursts.push_back(transfer.next());
  return bursts;
}

Pairs bytes_of(const std::vector<Burst>& bursts) {
  Pairs pairs;
  for (const Burst& b : bursts) {
    for (std::uint64_t i = 0; i < b.bytes; ++i) pairs.emplace_back(b.source + i, b.destination + i);
  }
  return pairs;
}

// The fewest bursts: maximal runs of bytes that are neighbours on both sides, each cut at the burst length.
// (The walk merges whole rows and planes only, which finds exactly these runs unless a run crosses planes
// alone.)
std::size_t runs_cut(const Pairs& bytes, std::uint64_t burst_bytes) {
  std::size_t bursts = 0;
  std::uint64_t run = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool joined = i > 0 && bytes[i].first == bytes[i - 1].first + 1 && bytes[i].second == bytes[i - 1].second + 1;
    run = joined && run < burst_bytes ? run + 1 : 1;
    if (run == 1) ++bursts;
  }
  return bursts;
}

TEST(Transfer, RandomShapesCoverTheBytesOfTheNaiveLoopInOrder) {
  std::mt19937 random(1);
  const auto upto = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int i = 0; i < 3000; ++i) {
    const std::uint32_t row_bytes = 2 * (1 + upto(40)), rows = 1 + upto(6), planes = 1 + upto(4);
    const auto side = [&](std::uint64_t base) {
      CopySide o{base + 2 * upto(1000), row_bytes + (upto(2) == 0 ? 0 : 2 * upto(20)), 0};
      o.plane_stride = (rows - 1) * o.row_stride + row_bytes + (upto(2) == 0 ? 0 : 2 * upto(50));
      return o;
    };
    const hal::Descriptor d = copy(row_bytes, rows, planes, side(0x8000'0000), side(0x4000'0000'0000));
    const std::uint64_t burst_bytes = 16ULL << upto(4);
    const std::vector<Burst> bursts = bursts_of(d, burst_bytes);
    ASSERT_EQ(bytes_of(bursts), naive(d)) << "case " << i;
    for (std::size_t b = 0; b < bursts.size(); ++b) {
      ASSERT_LE(bursts[b].bytes, burst_bytes);
      ASSERT_GT(bursts[b].bytes, 0U);
      ASSERT_EQ(bursts[b].last, b + 1 == bursts.size());
    }
  }
}

TEST(Transfer, StridesOfASingleRowOrPlaneDoNotMatter) {
  const auto bursts = bursts_of(copy(100, 1, 1, {0, 3, 5}, {4096, 0, 0}), 64);
  ASSERT_EQ(bursts.size(), 2U);
  EXPECT_EQ(bursts[0].bytes, 64U);
  EXPECT_EQ(bursts[1].bytes, 36U);
  EXPECT_EQ(bursts[1].source, 64U);
  EXPECT_EQ(bursts[1].destination, 4096U + 64);
}

TEST(Transfer, ContiguousRowsAndPlanesMerge) {
  // 4 planes of 8 rows of 32 bytes without a gap: 1024 bytes are one burst of 1 KiB, two of 512.
  const hal::Descriptor dense = copy(32, 8, 4, {0, 32, 256}, {8192, 32, 256});
  EXPECT_EQ(bursts_of(dense, 1024).size(), 1U);
  EXPECT_EQ(bursts_of(dense, 512).size(), 2U);
  // A gap between planes on one side: one run per plane.
  EXPECT_EQ(bursts_of(copy(32, 8, 4, {0, 32, 300}, {8192, 32, 256}), 1024).size(), 4U);
  // A gap between rows on one side: one run per row.
  EXPECT_EQ(bursts_of(copy(32, 8, 4, {0, 32, 256}, {8192, 34, 300}), 1024).size(), 32U);
  for (const std::uint64_t burst : {16U, 32U, 64U, 1024U}) {
    EXPECT_EQ(bursts_of(dense, burst).size(), runs_cut(naive(dense), burst));
  }
}

TEST(Transfer, LengthsBeyond32Bits) {
  // 3 planes of 65536 rows of 65536 bytes: 12 GiB; only the ends are looked at.
  const std::uint32_t n = 65536;
  Transfer transfer(copy(n, n, 3, {0, n, 0}, {1ULL << 40, n + 2, 0}), 1 << 20);
  const Burst first = transfer.next();
  EXPECT_EQ(first.bytes, n);
  for (std::uint32_t row = 1; row < n; ++row) transfer.next();
  EXPECT_FALSE(transfer.done());
  const Burst plane = transfer.next();
  EXPECT_EQ(plane.source, 0U);  // plane stride 0
}

}  // namespace
}  // namespace attnvp
