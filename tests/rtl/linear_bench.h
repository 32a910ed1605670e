// Test bench of a Verilated vec_linear with stalls on all streams; reference: models/arith/online.h.
#pragma once

#include <Vlinear_small.h>
#include <Vvec_linear.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "models/arith/online.h"
#include "rtl/vec/vec_driver.h"

namespace attnvp::rtl::linear {

using UnitDriver = LinearDriver<Vvec_linear, 16>;    // width of the platform
using SmallDriver = LinearDriver<Vlinear_small, 2>;  // for coverage

inline std::uint32_t bits_of(float f) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// A command: pairs of elements a and b.
struct LinearMatrix {
  bool divide = false;
  std::vector<float> x, z, a, b;
};

inline std::vector<std::uint32_t> expected(const LinearMatrix& matrix) {
  std::vector<std::uint32_t> out(matrix.x.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (matrix.divide) {
      arith::Half half = 0;
      arith::divide_row(&matrix.x[i], matrix.a[i], &half, 1);
      out[i] = half;
    } else {
      float x = matrix.x[i];
      arith::scale_add_row(&x, matrix.a[i], &matrix.z[i], matrix.b[i], 1);
      out[i] = bits_of(x);
    }
  }
  return out;
}

// Numbers of all kinds, and close ones, whose sums cancel.
class Floats {
 public:
  explicit Floats(std::uint64_t seed) : random_(seed) {}
  std::uint64_t operator()() { return random_(); }
  float any() {
    static constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 0x7F800000, 0xFF800000,
                                                 0x7FC00000, 0x7F800001, 0x00000001, 0x80000001,
                                                 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F800000};
    const std::uint64_t n = random_();
    const auto low = static_cast<std::uint32_t>(n >> 32);
    switch (n % 8) {
      case 0:
        return float_of(kSpecial[n / 8 % std::size(kSpecial)]);
      case 1:
        return float_of(low & 0x807FFFFF);  // subnormal
      case 2:
        return float_of((low & 0x80FFFFFF) | 0x3F000000);  // around one
      case 3:
        return float_of((low & 0x80000003) | 0x3F800000);  // nearly equal
      case 4:
        return float_of((low & 0x87FFFFFF) | 0x38000000);  // of FP16 magnitude
      default:
        return float_of(low);
    }
  }

 private:
  std::mt19937_64 random_;
};

template <class Driver>
class LinearBench {
 public:
  LinearBench() : unit_(context_, "linear") {}
  // Writes coverage if tests/rtl/coverage.sh asks for it.
  ~LinearBench() {
    const char* folder = std::getenv("ATTNVP_COVERAGE");
    if (folder == nullptr) return;
    static int benches = 0;
    context_.coveragep()->write(
        (folder + ("/" + std::to_string(getpid())) + "." + std::to_string(benches++) + ".linear.dat").c_str());
  }
  LinearBench(const LinearBench&) = delete;
  LinearBench& operator=(const LinearBench&) = delete;

  // `stalls`: percent of the cycles, on every stream.
  void check(const std::vector<LinearMatrix>& rows, unsigned stalls) {
    constexpr std::size_t kLanes = Driver::kLanes;
    std::size_t fed = 0, at = 0, finished = 0;
    bool offering = false, sending = false;
    std::vector<std::uint32_t> out, x(kLanes), z(kLanes), a(kLanes), b(kLanes);
    for (cycles = 0; finished < rows.size(); ++cycles) {
      offering = fed < rows.size() && (offering || random_() % 100 >= stalls);
      sending = fed < rows.size() && (sending || random_() % 100 >= stalls);
      LinearCommand command;
      if (fed < rows.size()) {
        const LinearMatrix& row = rows[fed];
        const std::size_t count = std::min(kLanes, row.x.size() - at);
        command = {row.divide, static_cast<std::uint32_t>(row.x.size())};
        for (const auto& [from, to] : {std::pair(&row.x, &x), {&row.z, &z}, {&row.a, &a}, {&row.b, &b}}) {
          std::transform(from->begin() + at, from->begin() + at + count, to->begin(), bits_of);
        }
      }
      unit_.offer(offering ? &command : nullptr);
      unit_.offer_beat(sending ? x.data() : nullptr, z.data(), a.data(), b.data(), kLanes);
      unit_.take(random_() % 100 >= stalls);
      unit_.settle();
      if (unit_.takes_beat()) {
        at += kLanes;
        sending = false;
        if (unit_.takes_command()) ++fed, at = 0, offering = false;
      }
      if (unit_.gives_beat()) {
        const LinearMatrix& row = rows[finished];
        const std::size_t here = out.size(), count = std::min(kLanes, row.x.size() - here);
        out.resize(here + count);
        unit_.beat(out.data() + here, count);
        ASSERT_EQ(unit_.last_beat(), out.size() == row.x.size());
        if (unit_.last_beat()) {
          const std::vector<std::uint32_t> want = expected(row);
          for (std::size_t j = 0; j < want.size(); ++j) {
            ASSERT_EQ(out[j], want[j]) << std::hex << (row.divide ? "divide " : "scale-add ") << bits_of(row.x[j])
                                       << " " << bits_of(row.a[j]) << " " << bits_of(row.z[j]) << " "
                                       << bits_of(row.b[j]) << ": " << out[j] << ", not " << want[j];
          }
          out.clear();
          ++finished;
        }
      }
      unit_.clock();
      ASSERT_LT(cycles, 50000000U);
    }
  }
  std::uint64_t cycles = 0;

 private:
  VerilatedContext context_;
  Driver unit_;
  std::minstd_rand random_{5};
};

// Rows of random lengths, concatenated.
inline std::vector<LinearMatrix> random_matrices(Floats& floats, std::size_t count) {
  std::vector<LinearMatrix> matrices(count);
  for (LinearMatrix& m : matrices) {
    m.divide = floats() % 3 == 0;
    const std::size_t rows = 1 + floats() % 5, columns = 1 + floats() % 20;
    for (std::size_t row = 0; row < rows; ++row) {
      const float a = floats.any(), b = floats() % 2 == 0 ? 1.0F : floats.any();
      m.a.insert(m.a.end(), columns, a);
      m.b.insert(m.b.end(), columns, b);
    }
    m.x.resize(rows * columns);
    m.z.resize(m.x.size());
    for (float& x : m.x) x = floats.any();
    for (float& z : m.z) z = floats() % 8 == 0 ? -0.0F : floats.any();
  }
  return matrices;
}

}  // namespace attnvp::rtl::linear
