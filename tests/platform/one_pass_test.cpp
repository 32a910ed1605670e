// One-pass attention with real tensors: golden-checked, and where scores are exact also against what they must give.
#include <fmt/format.h>

#include <cmath>

#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

using arith::Half;

job::RunResult run_full(const std::string& hardware, const workload::Workload& network, const std::string& dataflow,
                        const job::Tensors& tensors) {
  const MachineConfig machine = config::load_hardware(hardware);
  runs::Runner runner(machine, config::load_energy(machine.energy), true);
  return runner.run(network, job::parse_dataflow(dataflow), &tensors, {});
}

struct Case {
  std::string hardware, dataflow, shape;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.hardware << " " << c.dataflow << " " << c.shape; }

class OnePass : public testing::TestWithParam<Case> {};

TEST_P(OnePass, IsGolden) {
  const Case& c = GetParam();
  const workload::Attention network = workload::load(c.shape).attention();
  const job::RunResult r = run_full(c.hardware, network, c.dataflow, job::random_tensors(network, 1));
  ASSERT_TRUE(r.golden_checked);
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  EXPECT_LT(r.golden.max_abs_error, 0.02);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* shape : {"H=2,N=1024,E=64", "H=2,N=1000,E=64", "H=2,N=777,E=64"}) {
    for (const char* dataflow : {"fusemax", "fusemax:binding=serial", "cascade"})
      all.push_back({"fusemax", dataflow, shape});
    all.push_back({"fusemax-baseline", "cascade", shape});
    all.push_back({"edge", "fusemax", shape});
    for (const char* dataflow : {"mas", "flat"}) {
      for (const char* hardware : {"fusemax", "fusemax-baseline"}) all.push_back({hardware, dataflow, shape});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Machines, OnePass, testing::ValuesIn(cases()), [](const auto& of) {
  return test_name(of.param.hardware + "_" + of.param.dataflow + "_" + of.param.shape.substr(4));
});

// Scores that FP16 holds exactly: q = (1, 0 ...), k = (score, 0 ...). Then the result is known to what the one pass
// itself rounds, where the general tolerance, which allows for rounded scores, says little.
struct Exact {
  workload::Attention network = workload::load("H=1,N=600,E=16").attention();
  job::Tensors tensors = job::random_tensors(network, 3);

  Exact() {
    for (std::size_t i = 0; i < tensors.q.size(); ++i) tensors.q[i] = i % network.emb == 0 ? arith::kHalfOne : Half{0};
  }
  void score(std::size_t key, double value) { tensors.k[key * network.emb] = arith::half_from_double(value); }

  void check(const std::string& hardware, const std::string& dataflow, double tolerance) const {
    const job::RunResult r = run_full(hardware, network, dataflow, tensors);
    EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
    const job::AttentionShape shape{1, network.heads, network.seq_q, network.seq_kv, network.emb};
    const std::vector<double> expected =
        job::reference_attention(shape, tensors.q.data(), tensors.k.data(), tensors.v.data());
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, std::abs(expected[i] - arith::double_from_half(r.output[i])));
    }
    EXPECT_LE(worst, tolerance) << hardware << " " << dataflow;
  }
  void check_all(double tolerance) const {
    check("fusemax", "fusemax", tolerance);
    check("fusemax", "fusemax:binding=serial", tolerance);
    check("fusemax-baseline", "cascade", tolerance);
    check("edge", "fusemax", tolerance);
  }
};
// Values of V are below 5: 2^-11 of that for the last rounding, as much for P, and three changes of the maximum.
constexpr double kTight = 5 * (2 * 0x1p-11 + 4 * 2 * 3.3e-5);

TEST(OnePassScores, AllEqual) {
  for (const double value : {0.0, -3.0, 60000.0, -60000.0}) {
    Exact e;
    for (std::size_t j = 0; j < e.network.seq_kv; ++j) e.score(j, value);
    e.check_all(kTight);
  }
}

TEST(OnePassScores, Huge) {
  Exact e;  // most of a row vanishes beside its maximum, which is met late
  for (std::size_t j = 0; j < e.network.seq_kv; ++j) e.score(j, 100 * (static_cast<double>(j * 7919 % 1201) - 600));
  e.check_all(kTight);
}

TEST(OnePassScores, HugeAndClose) {
  Exact e;  // neighbours at 60000 are 32 apart: one key has all, or a few share it
  for (std::size_t j = 0; j < e.network.seq_kv; ++j) e.score(j, j % 150 == 149 ? 60000.0 : -60000.0);
  e.check_all(kTight);
}

TEST(OnePassScores, EverLarger) {
  Exact e;  // every tile has a greater maximum: all that was summed shrinks
  for (std::size_t j = 0; j < e.network.seq_kv; ++j) e.score(j, static_cast<double>(j) / 128);
  e.check_all(kTight);
}

TEST(OnePassScores, MinusInfinityFirst) {
  Exact e;  // whole tiles of scores that FP16 holds as -inf: as good as not there
  for (std::size_t i = 0; i < e.tensors.q.size(); i += e.network.emb) e.tensors.q[i] = arith::half_from_double(4.0);
  for (std::size_t j = 0; j < e.network.seq_kv; ++j) e.score(j, j < 300 ? -60000.0 : static_cast<double>(j % 5) / 4);
  e.check_all(kTight);
}

TEST(OnePassScores, NothingButMinusInfinityIsNanAndNamed) {
  Exact e;
  for (std::size_t i = 0; i < e.tensors.q.size(); i += e.network.emb) e.tensors.q[i] = arith::half_from_double(4.0);
  for (std::size_t j = 0; j < e.network.seq_kv; ++j) e.score(j, -60000.0);
  const job::RunResult r = run_full("fusemax", e.network, "fusemax", e.tensors);
  EXPECT_TRUE(arith::is_nan(r.output[0]));
  EXPECT_FALSE(r.golden.passed);  // double precision has numbers
  EXPECT_EQ(r.golden.failures, r.output.size());
  EXPECT_EQ(r.golden.rows_of_score_overflow, r.golden.rows);
}

// Tiles' sums that pass into the lanes' registers are not words of L1, and nothing else changes.
TEST(OnePassSums, InRegistersCrossL1NeitherWay) {
  const workload::Attention network = workload::load("H=1,N=512,E=64").attention();
  const job::Tensors tensors = job::random_tensors(network, 1);
  struct Forwarded {
    const char *hardware, *dataflow;
    std::uint64_t columns_written;
  };
  for (const Forwarded& c :
       {Forwarded{"fusemax", "fusemax:sums=", 65}, Forwarded{"fusemax-baseline", "cascade:sums=", 64},
        Forwarded{"fusemax", "fusemax:binding=serial,sums=", 0}}) {
    const MachineConfig machine = config::load_hardware(c.hardware);
    runs::Runner runner(machine, config::load_energy(machine.energy), true);
    const auto run = [&](const char* sums) {
      job::Schedule schedule = job::parse_dataflow(std::string(c.dataflow) + sums);
      for (const char* key : {"nq", "nkv", "m0", "n0"}) schedule.tiling.set(key, 256);
      return runner.run(network, schedule, &tensors, {});
    };
    const job::RunResult in_l1 = run("l1"), forwarded = run("fusemax");
    EXPECT_TRUE(forwarded.golden.passed) << c.dataflow;
    EXPECT_EQ(forwarded.output, in_l1.output) << c.dataflow;
    EXPECT_EQ(forwarded.sum("mac", "macs"), in_l1.sum("mac", "macs"));
    EXPECT_EQ(forwarded.sum("l0", "read_words"), in_l1.sum("l0", "read_words")) << "registers, either way";
    EXPECT_LE(forwarded.cycles, in_l1.cycles);
    EXPECT_GE(static_cast<double>(forwarded.cycles), 0.99 * static_cast<double>(in_l1.cycles)) << "ports are wide";
    const std::uint64_t words = 2 * 512 * 2;  // of a column of all tiles, in FP32
    const std::uint64_t read = in_l1.sum("l1", "read_words") - forwarded.sum("l1", "read_words");
    const std::uint64_t written = in_l1.sum("l1", "write_words") - forwarded.sum("l1", "write_words");
    if (c.columns_written > 0) {
      EXPECT_EQ(read, 65 * words) << c.dataflow;
      EXPECT_EQ(written, c.columns_written * words) << c.dataflow;
    } else {
      EXPECT_EQ(read, 2 * 65 * words - 65 * words / 2)
          << "running sums that were scaled, too, but for the first tile's";
      EXPECT_EQ(written, 2 * 65 * words) << c.dataflow;
    }
  }
}

// What does not depend on the sequence's length, and what does.
TEST(OnePassMemory, IsIndependentOfTheLength) {
  const auto peak = [](const char* hardware, const char* dataflow, std::uint32_t tokens) {
    const MachineConfig machine = config::load_hardware(hardware);
    runs::Runner runner(machine, config::load_energy(machine.energy), false);
    const workload::Attention network = workload::load(fmt::format("H=1,NQ=4096,NKV={},E=64", tokens)).attention();
    job::Schedule schedule = job::parse_dataflow(dataflow);
    const bool one_pass = firmware::find_dataflow(schedule.dataflow.c_str())->is(firmware::kOnePass);
    if (one_pass) schedule.tiling = {{"nq", 64}, {"nkv", 256}, {"rb", 8}, {"kv", 4}, {"steps", 2}, {"spare", 2}};
    return runner.run(network, schedule, nullptr, {}).max("l1", "peak_bytes");
  };
  EXPECT_EQ(peak("fusemax", "fusemax", 4096), peak("fusemax", "fusemax", 65536));
  EXPECT_EQ(peak("fusemax-baseline", "cascade", 4096), peak("fusemax-baseline", "cascade", 65536));
  EXPECT_EQ(peak("edge", "fusemax", 4096), peak("edge", "fusemax", 65536));
  // Three passes hold whole rows of scores, fewer where L1 ends.
  const std::uint64_t short_rows = peak("edge", "flat:overlap=off", 512),
                      long_rows = peak("edge", "flat:overlap=off", 4096);
  EXPECT_GT(long_rows, 3 * short_rows);
}

}  // namespace
}  // namespace attnvp::runs
