// Biases from files: what they do to the results, what they cost, and what is refused.
#include <fmt/format.h>

#include "firmware/runtime/dataflow.h"
#include "platform/base/npy/npy.h"
#include "platform/schedule/check/checker.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/platform/test_files.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

using testing::TemporaryFolder;

constexpr std::uint16_t kMinusInfinity = 0xFC00;

// Numbers of -4 to 4, different everywhere.
tensors::Array some_bias(const std::vector<std::size_t>& shape) {
  tensors::Array array{shape, {}};
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  for (std::size_t i = 0; i < count; ++i) {
    array.half.push_back(arith::half_from_double(static_cast<double>(i * 2654435761U % 1021) / 128 - 4));
  }
  return array;
}

job::Schedule schedule_of(const std::string& dataflow, const std::string& tiling) {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  if (!tiling.empty()) schedule.tiling = job::parse_tiling(tiling);
  return schedule;
}

job::RunResult run(const workload::Workload& n, const job::Schedule& schedule, bool full,
                   const char* hardware = "edge") {
  const MachineConfig machine = config::load_hardware(hardware);
  runs::Runner runner(machine, config::load_energy(machine.energy), full);
  const job::Tensors tensors = full ? job::random_tensors(n, 11) : job::Tensors{};
  return runner.run(n, schedule, full ? &tensors : nullptr, {});
}

// Every score's bias comes once, where it is computed once: beside the same commands without a bias.
void expect_biased(const std::string& shape, const std::string& dataflow, const std::string& tiling,
                   const char* hardware = "edge") {
  SCOPED_TRACE(shape + " " + dataflow);
  const workload::Attention n = workload::load(shape + ",bias=b.npy").attention(),
                            plain = workload::load(shape).attention();
  const job::RunResult r = run(n, schedule_of(dataflow, tiling), true, hardware),
                       without = run(plain, r.schedule, false, hardware);
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  expect_same_counts(r, run(n, r.schedule, false, hardware));
  EXPECT_EQ(r.sum("mac", "macs"), without.sum("mac", "macs"));
  const std::uint64_t scores = r.sum("mac", "macs") / 2 / n.emb;
  EXPECT_EQ(r.sum("dram", "read_words"), without.sum("dram", "read_words") + scores);
  EXPECT_EQ(r.sum("mac", "add_ops"), without.sum("mac", "add_ops") + scores);
  const MachineConfig machine = config::load_hardware(hardware);
  const schedule::check::Report report =
      schedule::check::check(job::make_job(machine, n, r.schedule), machine, {job::result_bytes(n, r.schedule)});
  EXPECT_TRUE(report.findings.empty()) << to_text(report.findings.front());
}

class BiasTensor : public ::testing::TestWithParam<const char*> {};

TEST_P(BiasTensor, IsAddedToTheScores) {
  TemporaryFolder folder;
  const auto with = [&](const std::vector<std::size_t>& shape) { tensors::write_npy("b.npy", some_bias(shape)); };
  const std::string tiling = std::string(GetParam()) == "mas:overwrite=on" ? "" : "nkv=64";
  with({2, 4, 96, 160});
  expect_biased("B=2,H=4,NQ=96,NKV=160,E=32", GetParam(), tiling);
  with({4, 1, 160});
  expect_biased("B=2,H=4,HKV=2,NQ=96,NKV=160,E=32,causal=1,type=int8", GetParam(), tiling);
  with({96, 160});
  expect_biased("B=1,H=2,NQ=96,NKV=160,E=32,window=40,sinks=4,type=bf16,scale=1/sqrt(E)", GetParam(), tiling);
}
INSTANTIATE_TEST_SUITE_P(Dataflows, BiasTensor,
                         ::testing::Values("layerwise", "softpipe", "flat", "flat:prefetch=off", "flat:overlap=on",
                                           "tileflow", "mas", "mas:overwrite=on", "cascade", "cascade:binding=serial",
                                           "lean"),
                         [](const auto& of) { return test_name(of.param); });

TEST(BiasTensors, GoByThePesThatHoldScores) {
  TemporaryFolder folder;
  tensors::write_npy("b.npy", some_bias({1, 2, 256, 1}));
  for (const char* dataflow : {"fusemax", "fusemax:binding=serial", "fusemax:sums=fusemax"}) {
    expect_biased("H=2,N=256,E=64", dataflow, "", "fusemax");
    expect_biased("H=2,N=256,E=64,causal=1,type=fp8_e4m3", dataflow, "", "fusemax");
  }
}

TEST(BiasTensors, GoByTilesOfScores) {
  TemporaryFolder folder;
  tensors::write_npy("b.npy", some_bias({3, 64, 200}));
  for (const char* dataflow : {"layerwise", "flat:overlap=on"}) {
    expect_biased("H=3,NQ=64,NKV=200,E=32", dataflow, "nq=32,nkv=64,np=8");
    expect_biased("H=3,NQ=64,NKV=200,E=32,causal=1", dataflow, "nq=32,nkv=64,np=8");
  }
}

TEST(BiasTensors, GoByDecoding) {
  TemporaryFolder folder;
  tensors::write_npy("b.npy", some_bias({2, 1, 1, 700}));
  for (const char* dataflow : {"lean", "flash-decoding", "flash2"}) {
    expect_biased("B=2,H=8,HKV=2,NQ=1,NKV=700,E=32,history=699", dataflow, "nkv=100");
    expect_biased("B=2,H=4,NQ=1,NKV=700,E=32,type=int8,scale_block=64", dataflow, "nkv=100");
  }
  // Thread blocks compute padded tiles, of which the bias is not read.
  tensors::write_npy("b.npy", some_bias({4, 100, 300}));
  const workload::Attention n = workload::load("H=4,NQ=100,NKV=300,E=64,bias=b.npy").attention(),
                            plain = workload::load("H=4,NQ=100,NKV=300,E=64").attention();
  for (const char* dataflow : {"flash2:grid=blocks", "flash-decoding:grid=blocks"}) {
    const job::RunResult r = run(n, schedule_of(dataflow, "nkv=64"), true), without = run(plain, r.schedule, false);
    EXPECT_TRUE(r.golden.passed) << dataflow << r.golden.to_string();
    EXPECT_EQ(r.sum("dram", "read_words"), without.sum("dram", "read_words") + 4U * 100 * 300);
    expect_same_counts(r, run(n, r.schedule, false));
  }
}

// Padding as a tensor: the keys behind a batch's own count for nothing.
TEST(BiasTensors, MayHideKeys) {
  TemporaryFolder folder;
  tensors::Array padding{{2, 1, 1, 160}, std::vector<std::uint16_t>(320, 0)};
  for (std::size_t key = 100; key < 160; ++key) padding.half[key] = kMinusInfinity;
  for (std::size_t key = 0; key < 64; ++key) padding.half[160 + key] = kMinusInfinity;  // a tile of them, first
  tensors::write_npy("b.npy", padding);
  const workload::Attention n = workload::load("B=2,H=2,NQ=96,NKV=160,E=32,bias=b.npy").attention();
  for (const char* dataflow : {"layerwise", "flat", "mas", "cascade", "lean", "flash-decoding", "flash2"}) {
    for (const char* type : {"", ",type=int8", ",type=fp8_e5m2"}) {
      const workload::Attention typed =
          workload::load(std::string("B=2,H=2,NQ=96,NKV=160,E=32,bias=b.npy") + type).attention();
      const job::RunResult r = run(typed, schedule_of(dataflow, "nkv=64"), true);
      EXPECT_TRUE(r.golden.passed) << dataflow << type << r.golden.to_string();
    }
  }
  const job::RunResult r = run(n, schedule_of("fusemax", ""), true, "fusemax");
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  const workload::Attention valid = workload::load("B=1,H=2,NQ=96,NKV=160,E=32,valid=100").attention();
  padding.shape[0] = 1;
  padding.half.resize(160);
  tensors::write_npy("b.npy", padding);
  const workload::Attention same = workload::load("B=1,H=2,NQ=96,NKV=160,E=32,bias=b.npy").attention();
  EXPECT_EQ(run(same, schedule_of("flat", ""), true).output, run(valid, schedule_of("flat", ""), true).output);
}

TEST(BiasTensors, AreCheckedByGoldenChecksThatCanFail) {
  TemporaryFolder folder;
  tensors::write_npy("b.npy", some_bias({4, 96, 96}));
  const workload::Attention n = workload::load("H=4,N=96,E=32,bias=b.npy").attention();
  expect_bias_is_seen(n, job::random_tensors(n, 11), run(n, schedule_of("mas", ""), true));
}

// Scores are capped first, then biased: the other order, and either alone, is something else.
TEST(Biases, ComeBehindTheSoftCap) {
  TemporaryFolder folder;
  tensors::write_npy("b.npy", some_bias({2, 96, 96}));
  for (const char* bias : {"bias=b.npy", "alibi=1", "relative=1"}) {
    const std::string layer = std::string("H=2,N=96,E=32,softcap=2,") + bias;
    const workload::Attention n = workload::load(layer).attention();
    const job::Tensors tensors = job::random_tensors(n, 11);
    for (const char* dataflow : {"layerwise", "flat", "mas", "cascade", "lean"}) {
      const job::RunResult r = run(n, schedule_of(dataflow, ""), true);
      EXPECT_TRUE(r.golden.passed) << layer << dataflow << r.golden.to_string();
      expect_same_counts(r, run(n, r.schedule, false));
      job::AttentionShape shape{1, 2, 96, 96, 32, n.mask, n.scale, true, n.type, n.out, 2};
      const job::OnePass softmax{firmware::find_dataflow(dataflow)->is(firmware::kOnePass) ? r.schedule.tiling["nkv"]
                                                                                           : 0};
      const auto passes = [&] {
        return job::check_attention(shape, tensors.q.data(), tensors.k.data(), tensors.v.data(), r.output.data(),
                                    softmax)
            .passed;
      };
      EXPECT_FALSE(passes()) << layer << dataflow;
      shape.bias = [&](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
        return workload::bias_of(n, head, query, key);
      };
      EXPECT_TRUE(passes()) << layer << dataflow;
      shape.cap = 0;
      EXPECT_FALSE(passes()) << layer << dataflow;
    }
    const job::RunResult r = run(n, schedule_of("fusemax", ""), true, "fusemax");
    EXPECT_TRUE(r.golden.passed) << layer << r.golden.to_string();
  }
}

// Where batches have keys of their own number, their last tokens' places differ.
TEST(Biases, GoByTheBatchsOwnPlaces) {
  TemporaryFolder folder;
  folder.write("requests.csv", "new_tokens,cached_tokens\n1,200\n5,40\n70,0\n");
  std::vector<workload::Workload> networks;
  for (const char* layer : {"L=100+37+260,H=4,HKV=2,NQ=1,E=32,alibi=1", "L=100+37+260,H=4,NQ=4,E=32,relative=1"}) {
    networks.push_back(workload::load(layer));
  }
  for (const char* layer : {"H=4,HKV=2,N=8,E=32,alibi=1", "H=4,N=8,E=32,causal=1,relative=1"}) {
    networks.push_back(workload::with_requests(workload::load(layer), "requests.csv"));
  }
  for (const workload::Workload& n : networks) {
    for (const char* dataflow : {"lean", "flash-decoding", "flash2"}) {
      const job::RunResult r = run(n, schedule_of(dataflow, "nkv=64"), true);
      EXPECT_TRUE(r.golden.passed) << n.identity() << " " << dataflow << r.golden.to_string();
      expect_same_counts(r, run(n, r.schedule, false));
    }
  }
}

TEST(BiasTensors, AreTheSameCommandsOfARiscv) {
  ATTNVP_NEEDS_RISCV();
  TemporaryFolder folder;
  tensors::write_npy("b.npy", some_bias({4, 40, 70}));
  for (const char* dataflow : {"layerwise", "flat", "mas", "tileflow", "cascade", "lean"}) {
    const std::string shape = "H=4,HKV=2,NQ=40,NKV=70,E=32,causal=1,bias=b.npy";
    const RiscvRun native = run_job(machine_with("edge", {}), shape, dataflow),
                   riscv = run_job(machine_with("edge", {"control.cpu=riscv"}), shape, dataflow, true,
                                   native.result.schedule.tiling);
    EXPECT_TRUE(riscv.result.golden.passed) << dataflow;
    EXPECT_EQ(native.descriptors, riscv.descriptors) << dataflow;
  }
}

TEST(BiasTensors, AreRefusedInASentence) {
  TemporaryFolder folder;
  const auto refusal = [](const std::string& network) -> std::string {
    try {
      workload::load(network);
    } catch (const config::ConfigError& e) {
      return e.what();
    }
    return "taken";
  };
  const auto with = [&](const std::vector<std::size_t>& shape, const std::string& more = "") {
    tensors::write_npy("b.npy", some_bias(shape));
    return refusal("B=2,H=4,NQ=8,NKV=16,E=16,bias=b.npy" + more);
  };
  for (const std::vector<std::size_t>& shape : std::vector<std::vector<std::size_t>>{
           {8, 16}, {1, 16}, {8, 1}, {4, 8, 16}, {1, 8, 16}, {2, 4, 8, 16}, {1, 1, 1, 1}, {2, 1, 1, 16}}) {
    EXPECT_EQ(with(shape), "taken");
  }
  const std::string allowed =
      "; allowed is (2, 4, 8, 16), its last three or its last two, with 1 for what is the same for all";
  EXPECT_EQ(with({16}), "b.npy: has shape (16,)" + allowed);
  EXPECT_EQ(with({16, 8}), "b.npy: has shape (16, 8)" + allowed);
  EXPECT_EQ(with({2, 8, 16}), "b.npy: has shape (2, 8, 16)" + allowed);
  EXPECT_EQ(with({1, 2, 4, 8, 16}), "b.npy: has shape (1, 2, 4, 8, 16)" + allowed);
  EXPECT_NE(with({8, 16}, ",alibi=1").find("key 'bias': allowed is one bias, and 'alibi' is 1"), std::string::npos);
  EXPECT_NE(with({8, 16}, ",relative=1").find("key 'bias': allowed is one bias, and 'relative' is 1"),
            std::string::npos);
  EXPECT_NE(with({8, 16}, ",softmax=none").find("key 'softmax': found 'none'; with 'bias' allowed is 'softmax'"),
            std::string::npos);
  EXPECT_NE(refusal("H=4,NQ=1,L=16+8,E=16,bias=b.npy").find("key 'bias': with 'L' there is none from a file"),
            std::string::npos);
  EXPECT_NE(refusal("H=4,NQ=4,L=16+3,E=16,alibi=1")
                .find("key 'NQ': found 4; with a bias by place allowed is at most the fewest keys of a batch, 3"),
            std::string::npos);
  folder.write("requests.csv", "new_tokens,cached_tokens\n1,15\n");
  try {
    workload::with_requests(workload::load("B=2,H=4,NQ=8,NKV=16,E=16,bias=b.npy"), "requests.csv");
    ADD_FAILURE();
  } catch (const config::ConfigError& e) {
    EXPECT_STREQ(e.what(),
                 "requests.csv: requests have lengths of their own; a layer with them takes no bias from a file");
  }
  EXPECT_EQ(refusal("H=4,N=8,E=16,bias=none.npy"), "none.npy: cannot be read: no such file");
  folder.write("text.npy", "0 1 2\n");
  EXPECT_EQ(refusal("H=4,N=8,E=16,bias=text.npy"), "text.npy: is not a .npy file");
  const auto numbers = [&](std::vector<std::uint16_t> half, const std::string& shape) {
    tensors::write_npy("c.npy", {{1, half.size()}, half});
    return refusal(shape + ",bias=c.npy");
  };
  EXPECT_EQ(numbers({0, 0x7E00}, "H=1,NQ=1,NKV=2,E=16"),
            "c.npy: element 1 is NaN; allowed are finite numbers and -inf, which hides a key");
  EXPECT_EQ(numbers({0x7C00, 0}, "H=1,NQ=1,NKV=2,E=16"),
            "c.npy: element 0 is inf; allowed are finite numbers and -inf, which hides a key");
  const std::string none =
      "c.npy: has -inf for all keys that token 0 of batch 0 attends to, head 0; every query needs one";
  EXPECT_EQ(numbers({kMinusInfinity, kMinusInfinity}, "H=1,NQ=1,NKV=2,E=16"), none);
  EXPECT_EQ(numbers({kMinusInfinity, 0}, "H=1,NQ=2,NKV=2,E=16,causal=1"), none);
  EXPECT_EQ(numbers({0, kMinusInfinity}, "H=1,NQ=2,NKV=2,E=16,causal=1"), "taken");
}

}  // namespace
}  // namespace attnvp::runs
