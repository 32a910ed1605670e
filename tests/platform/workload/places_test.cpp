// What depends on the places of queries and keys: maps of blocks from files, biases, padding, scales of blocks, and
// tokens that are appended to a cache.
#include <fmt/format.h>

#include <cmath>

#include "platform/run/golden/tensors.h"
#include "tests/platform/runs.h"
#include "tests/platform/test_files.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

using testing::TemporaryFolder;

job::RunResult run(const workload::Workload& n, const job::Schedule& schedule, bool full,
                   const char* hardware = "edge") {
  const MachineConfig machine = config::load_hardware(hardware);
  runs::Runner runner(machine, config::load_energy(machine.energy), full);
  const job::Tensors tensors = full ? job::random_tensors(n, 11) : job::Tensors{};
  return runner.run(n, schedule, full ? &tensors : nullptr, {});
}

job::RunResult run(const workload::Workload& n, const std::string& dataflow, bool full, const std::string& tiling = "",
                   const char* hardware = "edge") {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  if (!tiling.empty()) schedule.tiling = job::parse_tiling(tiling);
  return run(n, schedule, full, hardware);
}

std::string refusal(const std::string& network) {
  try {
    workload::load(network);
  } catch (const config::ConfigError& e) {
    return e.what();
  }
  return "taken";
}

// A band and a column of blocks of 64, of 8 x 8.
std::string some_map(std::uint64_t& tiles) {
  std::string text = "block 64\n";
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const bool seen = j == 2 || (j <= i && j + 1 >= i) || (i == 5 && j == 7);
      tiles += seen ? 1 : 0;
      text += seen ? '1' : '0';
    }
    text += '\n';
  }
  return text;
}

class BlockMask : public ::testing::TestWithParam<const char*> {};

TEST_P(BlockMask, ComputesTilesThatHoldAnUnmaskedElementAndNoOthers) {
  TemporaryFolder folder;
  std::uint64_t tiles = 0;
  folder.write("map.txt", some_map(tiles));
  const workload::Attention n = workload::load("H=2,HKV=1,N=512,E=32,block_mask=map.txt").attention();
  EXPECT_EQ(n.visible_scores(), 2 * tiles * 64 * 64);
  const job::RunResult r = run(n, GetParam(), true, "nq=64,nkv=64");
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  EXPECT_EQ(r.sum("mac", "macs"), 2 * 2 * tiles * 64 * 64 * 32);
  expect_same_counts(r, run(n, GetParam(), false, "nq=64,nkv=64"));
}
// A layer's file names its files as they lie beside it; an inline layer, as they lie here.
TEST(FilesOfALayer, LieBesideIt) {
  TemporaryFolder folder;
  folder.write("sub/map.txt", "block 16\n10\n11\n");
  folder.write("sub/layer.yaml", "heads: 1\nseq: 32\nemb: 16\nblock_mask: map.txt\n");
  EXPECT_EQ(workload::load("sub/layer.yaml").attention().visible_scores(), 3U * 16 * 16);
  EXPECT_NE(refusal("H=1,N=32,E=16,block_mask=map.txt").find("map.txt"), std::string::npos);
  EXPECT_EQ(workload::load("H=1,N=32,E=16,block_mask=sub/map.txt").attention().visible_scores(), 3U * 16 * 16);
}

INSTANTIATE_TEST_SUITE_P(Dataflows, BlockMask,
                         ::testing::Values("mas", "flat", "layerwise", "softpipe", "tileflow", "cascade", "lean",
                                           "flash2", "flash-decoding"),
                         [](const auto& of) { return test_name(of.param); });

TEST(BlockMaskFiles, AreRefusedInASentence) {
  TemporaryFolder folder;
  const auto with = [&](const std::string& text, const char* more = "") {
    folder.write("m.txt", text);
    const std::string sentence = refusal(std::string("H=1,N=32,E=16,block_mask=m.txt") + more);
    return sentence.substr(std::min(sentence.find("m.txt:"), sentence.size()));
  };
  EXPECT_EQ(with("block 16\n11\n01\n"), "");
  EXPECT_EQ(with("block 12\n11\n01\n"),
            "m.txt:1: found 'block 12'; allowed is a first line such as 'block 64', with a power of two of 8 to 4096");
  EXPECT_EQ(with("11\n01\n").substr(0, 23), "m.txt:1: found '11'; al");
  EXPECT_EQ(with("block 16\n111\n011\n"), "m.txt:2: found a row of 3 blocks; 32 keys are 2 of 16");
  EXPECT_EQ(with("block 16\n11\n"), "m.txt: found 1 rows; 32 new tokens are 2 blocks of 16");
  EXPECT_EQ(with("block 16\n1x\n11\n"), "m.txt:2: found 'x'; allowed are 0 and 1");
  EXPECT_EQ(with("block 16\n11\n00\n"), "m.txt: token 16 of batch 0 attends to no key; every query needs one");
  EXPECT_EQ(with("block 16\n01\n11\n", ",causal=1"),
            "m.txt: token 0 of batch 0 attends to no key; every query needs one");
  EXPECT_NE(refusal("H=1,N=32,E=16,block_mask=none.txt").find("none.txt"), std::string::npos);
}

// Bucket by the logarithm that T5 takes.
TEST(RelativePositions, HaveT5sBuckets) {
  for (const bool both : {false, true}) {
    for (std::uint32_t distance = 0; distance < 3000; ++distance) {
      const std::uint32_t buckets = both ? 16 : 32, exact = buckets / 2;
      std::uint32_t expected = distance;
      if (distance >= exact) {
        const double steps =
            std::log(static_cast<double>(distance) / exact) / std::log(128.0 / exact) * (buckets - exact);
        expected = std::min(exact + static_cast<std::uint32_t>(steps + 1e-9), buckets - 1);
      }
      EXPECT_EQ(hal::relative_bucket(3000, 3000 - distance, both), expected) << distance;
      if (both && distance > 0) {
        EXPECT_EQ(hal::relative_bucket(0, distance, both), 16 + expected) << distance;
      }
    }
  }
  EXPECT_EQ(hal::relative_bucket(5, 9, false), 0U);
}

TEST(Alibi, HasTheSlopesOfThePaper) {
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(workload::alibi_slope(i, 8), std::exp2(-static_cast<float>(i + 1)));
  EXPECT_EQ(workload::alibi_slope(8, 12), std::exp2(-0.5F));  // of 16 heads the first,
  EXPECT_EQ(workload::alibi_slope(9, 12), std::exp2(-1.5F));  //   the third, ...
  EXPECT_EQ(workload::alibi_slope(7, 12), std::exp2(-8.0F));
}

// The check sees what was added: with another bias, or scales that are off, the same output is wrong.
TEST(Places, GoldenChecksCanFail) {
  const workload::Attention n = workload::load("H=4,N=96,E=32,causal=1,alibi=1").attention();
  expect_bias_is_seen(n, job::random_tensors(n, 11), run(n, "flat", true));
}

TEST(BlockScales, GoldenChecksCanFail) {
  const workload::Attention n = workload::load("H=2,N=128,E=32,type=int8,scale_block=32").attention();
  const job::Tensors tensors = job::random_tensors(n, 11);
  for (const char* dataflow : {"flat", "lean"}) {
    const job::RunResult r = run(n, dataflow, true);
    ASSERT_TRUE(r.golden.passed) << r.golden.to_string();
    const job::Quantised kept = job::quantised(n, tensors);
    ASSERT_EQ(kept.blocks.size(), 2U);
    ASSERT_EQ(kept.blocks[0].k.size(), 4U);
    const job::OnePass softmax{std::string(dataflow) == "lean" ? r.schedule.tiling["nkv"] : 0};
    const auto passes = [&](float of_k, float of_v) {
      job::AttentionShape shape{1, 2, 128, 128, 32, n.mask, n.scale, true, n.type};
      for (const job::Quantised::LayerScales& b : kept.blocks) {
        shape.scales.push_back({32, b.q, b.k, b.v});
        shape.scales.back().k[1] *= of_k;
        shape.scales.back().v[2] *= of_v;
      }
      const job::Tensors& seen = kept.numbers;
      return job::check_attention(shape, seen.q.data(), seen.k.data(), seen.v.data(), r.output.data(), softmax).passed;
    };
    EXPECT_TRUE(passes(1, 1));
    EXPECT_FALSE(passes(1.5F, 1));
    EXPECT_FALSE(passes(1, 1.5F));
  }
}

// More keys than a command has scales for: O is a sum over runs of V's rows.
TEST(BlockScales, MayBeMoreThanACommandHas) {
  const workload::Attention n = workload::load("H=2,HKV=1,NQ=33,NKV=300,E=32,type=int8,scale_block=32").attention();
  for (const char* dataflow : {"flat", "mas", "tileflow", "layerwise", "softpipe"}) {
    const job::RunResult r = run(n, dataflow, true);
    EXPECT_TRUE(r.golden.passed) << dataflow << r.golden.to_string();
  }
}

// Blocks follow the data: where one token is a hundred times as large, the others keep their bits.
TEST(BlockScales, AreThoseOfTheirRows) {
  const workload::Attention n = workload::load("H=1,N=64,E=16,type=int8,scale_block=32").attention();
  job::Tensors t = job::random_tensors(n, 1);
  t.k[40 * 16] = arith::half_from_float(400);
  const job::Quantised kept = job::quantised(n, t);
  EXPECT_FLOAT_EQ(kept.blocks[0].k[1], 400.0F / 127);
  EXPECT_LT(kept.blocks[0].k[0], 0.1F);
}

// Tokens come from where they were made, and go to the cache: in and out besides Q, K, V and O.
class Appending : public ::testing::TestWithParam<const char*> {};

TEST_P(Appending, CostsReadsAndWritesOfTheNewRows) {
  for (const auto& [rows, more] : {std::pair<std::uint64_t, const char*>{1, ",NQ=1,phase=decode,cache=255"},
                                   {100, ",N=100,causal=1,history=156"}}) {
    const std::string shape = std::string("B=2,H=4,HKV=2,E=64") + more;
    const job::RunResult with = run(workload::load(shape), GetParam(), true),
                         without = run(workload::load(shape + ",append=off"), with.schedule, true);
    EXPECT_TRUE(with.golden.passed) << shape << with.golden.to_string();
    EXPECT_EQ(with.output, without.output);
    const std::uint64_t words = 2 * 2 * 2 * rows * 64;  // of FP16: K and V of two heads, twice
    EXPECT_EQ(with.sum("dram", "read_words"), without.sum("dram", "read_words") + words);
    EXPECT_EQ(with.sum("dram", "write_words"), without.sum("dram", "write_words") + words);
    EXPECT_GT(with.cycles, without.cycles);
    expect_same_counts(with, run(workload::load(shape), GetParam(), false));
  }
}
INSTANTIATE_TEST_SUITE_P(Dataflows, Appending, ::testing::Values("mas", "flat", "cascade", "lean", "flash2"));

TEST(Padding, HidesTheKeysBehindABatchsOwn) {
  const workload::Attention n = workload::load("B=3,H=2,NQ=40,NKV=200,E=32,valid=200+1+77").attention();
  EXPECT_EQ(n.visible_scores(), 2 * 40 * (200U + 1 + 77));
  for (const char* dataflow : {"mas", "flat", "layerwise", "cascade", "lean", "flash2"}) {
    const job::RunResult r = run(n, dataflow, true, "nkv=40");
    EXPECT_TRUE(r.golden.passed) << dataflow << r.golden.to_string();
    EXPECT_EQ(r.sum("mac", "macs"), 2 * 32 * n.visible_scores()) << dataflow;
  }
}

TEST(Places, AreRefusedInASentence) {
  const auto is = [](const std::string& network, const std::string& what) {
    const std::string sentence = refusal(network);
    EXPECT_NE(sentence.find(what), std::string::npos) << network << ": " << sentence;
  };
  is("B=2,H=2,N=8,E=16,valid=8", "key 'valid': found '8'; allowed is one length for each of 2 batches");
  is("B=2,H=2,N=8,E=16,valid=8+9", "key 'valid': found '8+9'; allowed are lengths of 1 to 8 with '+' between them");
  is("H=2,N=8,E=16,window=2,valid=3", "key 'valid': token 4 of batch 0 attends to no key; every query needs one");
  is("H=2,N=8,E=16,alibi=1,relative=1", "key 'relative': found 1; with 'alibi' allowed is 0");
  is("H=32,HKV=1,N=8,E=16,alibi=1", "key 'alibi': found 1; allowed are at most 16 heads of Q for each of K and V");
  is("H=4,HKV=2,N=8,E=16,relative=1", "key 'relative': found 1; it needs as many heads of K and V as of Q");
  is("H=2,N=80,E=16,scale_block=16", "key 'scale_block': only INT8 has scales: allowed is type=int8");
  is("H=2,N=80,E=16,type=int8,scale_block=24", "key 'scale_block': found 24; allowed is a power of two");
  is("H=2,N=80,E=16,window=0", "key 'window': ");
  is("H=2,NQ=8,NKV=16,E=16,causal=1,history=9", "key 'history': found 9; allowed is at most 8");
}

}  // namespace
}  // namespace attnvp::runs
