// Test bench of a Verilated vec_unit with stalls on both sides; reference: models/arith.
#pragma once

#include <Vvec_small.h>
#include <Vvec_unit8.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "models/arith/online.h"
#include "models/arith/softmax.h"
#include "rtl/vec/vec_driver.h"

namespace attnvp::rtl {

using UnitDriver = VecDriver<Vvec_unit8, 8, 32, 7>;  // width of the platform
using SmallDriver = VecDriver<Vvec_small, 4, 8, 3>;  // 4 lanes; rows of 64 elements fill its buffers

struct Row {
  std::vector<arith::Half> in;
  std::uint8_t flags = 0;  // kOnline, kFirst, kScalar
  arith::Half running_max = 0;
};
struct RowResult {
  std::vector<arith::Half> out;
  arith::Half max = 0;  // online softmax, as the members below
  std::uint32_t sum = 0, scale = 0;
};

inline std::uint32_t bits_of(float f) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

// Reference result by models/arith.
inline RowResult expected(const Row& row) {
  RowResult r;
  r.out.resize(row.in.size());
  if ((row.flags & kOnline) == 0) {
    arith::softmax_row_reference(row.in.data(), r.out.data(), row.in.size());
    return r;
  }
  const arith::Half of_row = arith::row_max(row.in.data(), row.in.size());
  const bool first = (row.flags & kFirst) != 0;
  r.max = first ? of_row : arith::running_max(row.running_max, of_row);
  if ((row.flags & kGiven) != 0) r.max = row.running_max;
  const float sum = arith::exp_row(row.in.data(), r.out.data(), row.in.size(), r.max);
  r.sum = bits_of((row.flags & kScalar) != 0 ? arith::exp_scale(row.in[0], r.max) : sum);
  r.scale = bits_of(first ? 0.0F : arith::exp_scale(row.running_max, r.max));
  return r;
}

// Percent of the cycles in which a side stalls.
struct Stalls {
  unsigned command = 0, word = 0, beat = 0;
};

template <class Driver>
class VecBench {
 public:
  explicit VecBench(std::uint64_t seed = 1) : driver_(context_, "vec"), random_(seed) {}
  // Writes coverage if tests/rtl/coverage.sh asks for it, one file for each process.
  ~VecBench() {
    const char* folder = std::getenv("ATTNVP_COVERAGE");
    if (folder == nullptr) return;
    static int benches = 0;
    context_.coveragep()->write(
        (folder + ("/" + std::to_string(getpid())) + "." + std::to_string(benches++) + ".dat").c_str());
  }
  VecBench(const VecBench&) = delete;
  VecBench& operator=(const VecBench&) = delete;

  // Sends all rows in order; calls `done` with each result.
  template <class Done>
  void run(const std::vector<Row>& rows, const Stalls& stalls, const Done& done) {
    feed(rows);
    std::size_t finished = 0, since = 0;
    RowResult result;
    for (std::size_t r = 0; finished < rows.size(); ++cycles_) {
      // A valid command stays until it is accepted.
      offering_ = offering_ || (!commands_.empty() && !stalled(stalls.command));
      sending_ = sending_ || (!words_.empty() && !stalled(stalls.word));
      driver_.offer(offering_ ? &commands_.front() : nullptr);
      driver_.offer_word(sending_ ? words_.front().data() : nullptr, Driver::kWord);
      driver_.take(!stalled(stalls.beat));
      driver_.settle();
      if (driver_.takes_command()) commands_.pop_front(), offering_ = false;
      if (driver_.takes_word()) words_.pop_front(), sending_ = false;
      if (driver_.gives_beat()) {
        since = 0;
        const std::size_t length = rows[r].in.size(), here = result.out.size();
        const std::size_t count = std::min(Driver::kLanes, length - here);
        result.out.resize(here + count);
        driver_.beat(result.out.data() + here, count);
        ASSERT_EQ(driver_.last_beat(), here + count == length);
        if (driver_.last_beat()) {
          if ((rows[r].flags & kOnline) != 0) {
            result.max = driver_.row_max();
            result.sum = driver_.row_sum();
            result.scale = driver_.row_scale();
          }
          done(rows[r], result);
          result = {};
          ++finished;
          ++r;
        }
      }
      driver_.clock();
      ASSERT_LT(++since, 4000000U) << "nothing comes out any more";
    }
  }
  void check(const std::vector<Row>& rows, const Stalls& stalls) {
    run(rows, stalls, [](const Row& row, const RowResult& result) {
      const RowResult want = expected(row);
      ASSERT_EQ(result.out, want.out);
      ASSERT_EQ(result.max, want.max);
      ASSERT_EQ(result.sum, want.sum) << std::hex << result.sum << " " << want.sum;
      ASSERT_EQ(result.scale, want.scale) << std::hex << result.scale << " " << want.scale;
    });
  }
  std::uint64_t cycles() const { return cycles_; }
  Driver& driver() { return driver_; }
  VerilatedContext& context() { return context_; }

 private:
  using Word = std::array<arith::Half, Driver::kWord>;

  bool stalled(unsigned percent) { return percent != 0 && random_() % 100 < percent; }
  void feed(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const auto length = static_cast<std::uint32_t>(row.in.size());
      std::vector<std::uint8_t> feeds = {kFeedWhole};
      if (length > Driver::kBuffer) feeds = {kFeedMax, kFeedSum, kFeedOut};
      if (length > Driver::kBuffer && (row.flags & kOnline) != 0) feeds = {kFeedMax, kFeedOut};
      for (const std::uint8_t feed : feeds) {
        commands_.push_back({static_cast<std::uint8_t>(row.flags | feed), length, row.running_max});
        for (std::size_t i = 0; i < length; i += Driver::kWord) {
          Word word;
          word.fill(static_cast<arith::Half>(random_()));  // random data after the end of the row
          std::copy_n(row.in.data() + i, std::min(Driver::kWord, length - i), word.data());
          words_.push_back(word);
        }
      }
    }
  }

  VerilatedContext context_;
  Driver driver_;
  std::minstd_rand random_;
  std::deque<VecCommand> commands_;
  std::deque<Word> words_;
  bool offering_ = false, sending_ = false;
  std::uint64_t cycles_ = 0;
};

}  // namespace attnvp::rtl
