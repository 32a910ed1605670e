// Element types, soft-caps and a width of V: what they cost, what they change, and that the check of each can fail.
#include <fmt/format.h>

#include <cmath>

#include "models/arith/number.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

using hal::ElementType;

job::RunResult run(const MachineConfig& machine, const workload::Workload& n, const job::Schedule& schedule,
                   const job::Tensors* tensors = nullptr) {
  runs::Runner runner(machine, config::load_energy("pat"), tensors != nullptr, runs::few_evaluations(80));
  return runner.run(n, schedule, tensors, {});
}
job::RunResult run(const MachineConfig& machine, const workload::Workload& n, const std::string& dataflow,
                   const job::Tensors* tensors = nullptr) {
  return run(machine, n, job::parse_dataflow(dataflow), tensors);
}

// An edge machine that only its arrays limit.
MachineConfig mac_bound() {
  MachineConfig m = config::load_hardware("edge");
  m.vec.lanes = 65536;
  m.dram.bytes_per_second *= 64;
  m.l1.port_bytes_per_cycle *= 8;
  m.l1.bank_bytes_per_cycle *= 8;
  return m;
}

TEST(Types, TwiceTheRateIsNearlyTwiceAsFastWhereTheArraysAreTheLimit) {
  for (const char* dataflow : {"mas", "flat", "cascade"}) {
    for (const char* type : {"int8", "fp8_e4m3", "fp8_e5m2"}) {
      const workload::Attention n = workload::load(fmt::format("H=8,N=512,E=64,type={}", type)).attention();
      MachineConfig m = mac_bound();
      const auto slow = static_cast<double>(run(m, n, dataflow).cycles);
      m.mac.int8_rate = m.mac.fp8_rate = 2;
      EXPECT_GE(slow / static_cast<double>(run(m, n, dataflow).cycles), 1.9) << dataflow << " " << type;
    }
  }
}

TEST(Types, BytesFollowTheType) {
  const MachineConfig edge = config::load_hardware("edge");
  const std::uint64_t elements = 8 * 160 * 32;
  for (const char* dataflow : {"mas", "flat", "cascade", "flash2"}) {
    const auto words = [&](const std::string& type, const char* counter) {
      return 2 * run(edge, workload::load("H=8,N=160,E=32" + type), dataflow).sum("dram", counter);
    };
    for (const char* type : {",type=int8", ",type=fp8_e4m3", ",type=fp8_e5m2"}) {
      EXPECT_EQ(2 * words(type, "read_words"), words("", "read_words")) << dataflow << type;
      EXPECT_EQ(words(type, "write_words"), 2 * elements);
    }
    EXPECT_EQ(words(",type=bf16", "read_words"), words("", "read_words"));
    EXPECT_GE(words("", "read_words"), 3 * 2 * elements);
  }
}

TEST(Types, AllWholeRowDataflowsAndTilingsGiveTheSameBytes) {
  const MachineConfig edge = config::load_hardware("edge");
  for (const char* type : {"int8", "fp8_e4m3", "fp8_e5m2", "bf16"}) {
    const workload::Attention n =
        workload::load(fmt::format("H=3,N=150,E=24,causal=1,window=70,sinks=3,type={}", type)).attention();
    const job::Tensors tensors = job::random_tensors(n, 5);
    std::vector<arith::Half> first;
    for (const char* dataflow : {"layerwise", "softpipe", "flat", "tileflow", "mas"}) {
      for (const char* tiling : {"", "kv=stream,nkv=16,nq=16"}) {
        job::Schedule schedule = job::parse_dataflow(dataflow);
        if (*tiling != 0) {
          schedule.tiling.set("kv", hal::kWord);
          schedule.tiling.set("nkv", 16);
          schedule.tiling.set("nq", 16);
        }
        runs::Runner runner(edge, config::load_energy("pat"), true);
        const job::RunResult r = runner.run(n, schedule, &tensors, {});
        EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
        if (first.empty()) first = r.output;
        EXPECT_EQ(first, r.output) << dataflow << " " << tiling << " " << type;
      }
    }
  }
}

// What the check is for: another value of the output than the type's arithmetic allows.
class ToleranceOfType : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ToleranceOfType, testing::Values("fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "int8"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(ToleranceOfType, CanFail) {
  const workload::Attention n = workload::load(fmt::format("H=2,N=64,E=16,type={}", GetParam())).attention();
  const job::Tensors tensors = job::random_tensors(n, 9);
  const job::Quantised kept = job::quantised(n, tensors);
  const job::AttentionShape shape{1, 2, 64, 64, 16, {}, 1, true, n.type, n.out, 0, 0, kept.factors};
  const job::Tensors& seen = kept.numbers;
  for (const char* dataflow : {"mas", "cascade"}) {
    const job::RunResult r = run(config::load_hardware("edge"), n, dataflow, &tensors);
    const job::OnePass softmax{std::string(dataflow) == "mas" ? 0 : r.schedule.tiling["nkv"], false};
    const auto check = [&](const std::vector<arith::Half>& output) {
      return job::check_attention(shape, seen.q.data(), seen.k.data(), seen.v.data(), output.data(), softmax);
    };
    EXPECT_TRUE(check(r.output).passed);
    // Any element beyond its own bound, and no more than that.
    const std::vector<double> reference = job::reference_attention(shape, seen.q.data(), seen.k.data(), seen.v.data());
    for (const std::size_t at : {std::size_t{0}, std::size_t{777}, r.output.size() - 1}) {
      std::vector<arith::Half> wrong = r.output;
      wrong[at] = arith::half_from_double(reference[at] + 1e3);
      const double tolerance = check(wrong).tolerance;
      EXPECT_GT(tolerance, 0);
      EXPECT_LT(tolerance, 0.6);  // of outputs around 0.3: the bound says something
      for (const double sign : {-1.0, 1.0}) {
        wrong[at] = arith::half_from_double(reference[at] + sign * tolerance * 1.2);
        EXPECT_FALSE(check(wrong).passed) << at;
        wrong[at] = arith::half_from_double(reference[at] + sign * tolerance * 0.8);
        EXPECT_TRUE(check(wrong).passed) << at;
      }
    }
    // The right numbers with a wrong scale.
    std::vector<arith::Half> scaled = r.output;
    for (arith::Half& x : scaled) x = arith::half_from_double(arith::double_from_half(x) * 1.5);
    EXPECT_FALSE(check(scaled).passed);
  }
}

TEST(Types, ATableMaySayWhatAMultiplyAccumulateOfATypeCosts) {
  config::EnergyTable energy = config::load_energy("pat");
  const auto pj = [&](const char* type) {
    runs::Runner runner(config::load_hardware("edge"), energy, false);
    const workload::Attention n = workload::load(fmt::format("H=2,N=64,E=16,type={}", type)).attention();
    return runner.run(n, job::parse_dataflow("mas"), nullptr, {}).energy_pj("mac");
  };
  const double fp16 = pj("fp16"), macs = 2.0 * 2 * 64 * 64 * 16;
  EXPECT_EQ(pj("int8"), fp16);
  energy.set("attnvp.mac", "compute_int8", {0.25});
  energy.set("attnvp.mac", "compute_fp8", {0.5});
  EXPECT_NEAR(fp16 - pj("int8"), 0.75 * macs, 1e-6 * macs);
  EXPECT_NEAR(fp16 - pj("fp8_e4m3"), 0.5 * macs, 1e-6 * macs);
  EXPECT_EQ(pj("bf16"), fp16);
  EXPECT_EQ(pj("fp16"), fp16);
}

TEST(Types, QuantisedTensorsAreThoseOfTheirScales) {
  const workload::Attention n = workload::load("H=4,HKV=2,N=20,E=8,type=int8").attention();
  const job::Tensors t = job::random_tensors(n, 3);
  const job::Quantised kept = job::quantised(n, t);
  ASSERT_EQ(kept.factors.size(), 2U);
  ASSERT_EQ(kept.v.size(), t.v.size());
  for (std::size_t head = 0; head < 2; ++head) {
    double most = 0;
    int greatest = 0;
    for (std::size_t i = head * 160; i < (head + 1) * 160; ++i) {
      most = std::max(most, std::abs(arith::double_from_half(t.v[i])));
      greatest = std::max(greatest, std::abs(static_cast<int>(static_cast<std::int8_t>(kept.v[i]))));
    }
    EXPECT_NEAR(kept.factors[head].value, most / 127, 1e-7);
    EXPECT_EQ(greatest, 127);
    for (std::size_t i = head * 160; i < (head + 1) * 160; ++i) {
      const double back = static_cast<std::int8_t>(kept.v[i]) * static_cast<double>(kept.factors[head].value);
      EXPECT_NEAR(back, arith::double_from_half(t.v[i]), most / 127 * 0.5001);
      EXPECT_EQ(arith::double_from_half(kept.numbers.v[i]), static_cast<std::int8_t>(kept.v[i]));
    }
  }
}

TEST(SoftCap, LimitsScoresAndCostsExponentials) {
  const MachineConfig edge = config::load_hardware("edge");
  const workload::Attention plain = workload::load("H=2,N=96,E=32").attention(),
                            capped = workload::load("H=2,N=96,E=32,softcap=2").attention();
  const job::Tensors tensors = job::random_tensors(plain, 1);
  for (const char* dataflow : {"mas", "layerwise", "cascade", "flash2"}) {
    const job::Schedule same = runs::complete(edge, plain, job::parse_dataflow(dataflow));
    const job::RunResult a = run(edge, plain, same, &tensors), b = run(edge, capped, same, &tensors);
    EXPECT_TRUE(b.golden.passed) << b.golden.to_string();
    EXPECT_NE(a.output, b.output);
    EXPECT_EQ(a.sum("mac", "exp_ops"), 0U);
    EXPECT_EQ(b.sum("mac", "exp_ops"), 2U * 96 * 96);
    EXPECT_GE(b.sum("mac", "busy_cycles"), a.sum("mac", "busy_cycles"));
  }
}

TEST(WidthOfV, IsThatOfTheOutput) {
  const MachineConfig edge = config::load_hardware("edge");
  const workload::Attention n = workload::load("H=4,HKV=1,N=64,E=48,EV=16,causal=1").attention();
  const job::Tensors tensors = job::random_tensors(n, 1);
  for (const char* dataflow : {"mas", "flat", "layerwise", "cascade", "flash2", "lean"}) {
    const job::RunResult r = run(edge, n, dataflow, &tensors);
    EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
    EXPECT_EQ(r.output.size(), 4U * 64 * 16);
    if (std::string(dataflow) != "layerwise") {
      EXPECT_EQ(2 * r.sum("dram", "write_words"), 2U * 4 * 64 * 16);
    }
    EXPECT_GE(2 * r.sum("dram", "read_words"), 2U * 64 * (4 * 48 + 48 + 16));
  }
}

}  // namespace
}  // namespace attnvp::runs
