// Random rows: lengths around the limits of beats and buffers, numbers of all kinds.
#pragma once

#include "tests/rtl/vec_bench.h"

namespace attnvp::rtl {

class RowMaker {
 public:
  RowMaker(std::uint64_t seed, std::size_t longest) : random_(seed), longest_(longest) {}

  Row make() {
    Row row;
    static constexpr std::uint8_t kFlags[] = {
        0, 0, 0, kOnline, kOnline | kFirst, kOnline | kScalar, kOnline | kScalar | kGiven};
    row.flags = kFlags[random_() % std::size(kFlags)];
    row.running_max = element(static_cast<unsigned>(random_() % 8));
    row.in.resize((row.flags & kScalar) != 0 ? 1 : length());
    const auto kind = static_cast<unsigned>(random_() % 10);
    for (arith::Half& x : row.in) x = element(kind);
    return row;
  }
  std::vector<Row> make(std::size_t count) {
    std::vector<Row> rows(count);
    for (Row& row : rows) row = make();
    return rows;
  }

 private:
  std::size_t length() {
    const std::uint64_t n = random_();
    const std::size_t most = n % 64 == 0 ? longest_ : n % 8 == 0 ? std::min<std::size_t>(longest_, 80) : 12;
    return 1 + random_() % most;
  }
  // Scores, small and large ones, equal ones, subnormals, some -inf; the last kind: random bits.
  arith::Half element(unsigned kind) {
    const std::uint64_t n = random_();
    const auto sign = static_cast<arith::Half>(n >> 3 & 0x8000);
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return static_cast<arith::Half>(sign | (0x2C00 + (n & 0x1FFF)));
      case 3:
        return static_cast<arith::Half>(sign | (n & 0x03FF));
      case 4:
        return static_cast<arith::Half>(sign | (0x7000 + (n & 0x0BFF)));
      case 5:
        return 0x3555;
      case 6:
        return n % 5 == 0 ? 0xFC00 : static_cast<arith::Half>(sign | (0x3400 + (n & 0x0FFF)));
      case 7:
        return n % 50 == 0 ? static_cast<arith::Half>(n >> 16) : static_cast<arith::Half>(sign | (n & 0x43FF));
      case 8:
        return static_cast<arith::Half>(sign | (n & 0x7BFF));
      default:
        return static_cast<arith::Half>(n);
    }
  }

  std::mt19937_64 random_;
  std::size_t longest_;
};

}  // namespace attnvp::rtl
