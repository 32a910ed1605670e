// Batches of requests, each with its own new and cached tokens, in one run or from a cache of pages.
#include <fmt/format.h>

#include <fstream>

#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"
#include "tests/platform/test_files.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

struct Batch {
  std::string csv;
  std::uint64_t scores = 0;  // of one head, that are seen
  std::uint64_t tokens = 0, keys = 0;
};

// Under a causal mask. With pages every request has its own, in any order.
Batch random_batch(Random& r, std::uint32_t page) {
  struct One {
    std::uint32_t fresh, cached;
  };
  std::vector<One> all;
  std::uint32_t pages = 0;
  for (std::uint32_t n = r.from(1, 5); n > 0; --n) {
    all.push_back({r.one_in(2) ? 1 : r.from(1, 70), r.one_in(4) ? 0 : r.from(1, 150)});
    if (page > 0) pages += (all.back().fresh + all.back().cached + page - 1) / page;
  }
  std::vector<std::uint32_t> free;
  for (std::uint32_t p = 0; p < pages; ++p) free.push_back(p);
  Batch batch;
  batch.csv = page > 0 ? "new_tokens,cached_tokens,block_table\n" : "new_tokens,cached_tokens\n";
  for (const One& one : all) {
    batch.csv += fmt::format("{},{}", one.fresh, one.cached);
    for (std::uint32_t i = 0; page > 0 && i < (one.fresh + one.cached + page - 1) / page; ++i) {
      const std::uint32_t at = r.from(0, static_cast<std::uint32_t>(free.size()) - 1);
      batch.csv += fmt::format("{}{}", i == 0 ? "," : " ", free[at]);
      free.erase(free.begin() + at);
    }
    batch.csv += "\n";
    for (std::uint32_t t = 0; t < one.fresh; ++t) batch.scores += one.cached + t + 1;
    batch.tokens += one.fresh;
    batch.keys += one.fresh + one.cached;
  }
  return batch;
}

class Requests : public ::testing::TestWithParam<int> {};

TEST_P(Requests, AreGoldenAndCounted) {
  TemporaryFolder folder;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 7919 + i);
    const std::uint32_t page = r.of({0, 16, 32}), kv_heads = r.from(1, 3), group = r.from(1, 4), emb = 8 * r.from(1, 5);
    const Batch batch = random_batch(r, page);
    const std::string shape = fmt::format("H={},HKV={},N=64,E={},causal=1,scale=1/sqrt(E){}", kv_heads * group,
                                          kv_heads, emb, page > 0 ? fmt::format(",page={}", page) : "");
    const workload::Workload n =
        workload::with_requests(workload::load(shape), folder.write(fmt::format("r{}.csv", i), batch.csv));
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.from(1, 3);
    for (const char* dataflow : {"lean", "flash-decoding", "flash2"}) {
      SCOPED_TRACE(fmt::format("{} {} clusters {}\n{}", dataflow, shape, machine.clusters, batch.csv));
      const job::Tensors tensors = job::random_tensors(n, 3);
      job::RunResult full;
      {
        runs::Runner runner(machine, config::load_energy("fusemax-45nm"), true);
        full = runner.run(n, job::parse_dataflow(dataflow), &tensors, {});
      }
      EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
      EXPECT_EQ(full.output.size(), batch.tokens * kv_heads * group * emb);
      EXPECT_EQ(n.attention().visible_scores(), batch.scores * kv_heads * group);
      EXPECT_GE(full.sum("mac", "macs"), 2 * batch.scores * kv_heads * group * emb);
      EXPECT_GE(2 * full.sum("dram", "read_words"),
                2 * emb * (batch.tokens * kv_heads * group + 2 * kv_heads * batch.keys));
      runs::Runner runner(machine, config::load_energy("fusemax-45nm"), false);
      expect_same_counts(full, runner.run(n, job::parse_dataflow(dataflow), nullptr, {}));
      if (HasFailure()) return;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Random, Requests, ::testing::Range(0, 10));

// Where a page lies does not matter to what comes out.
TEST(RequestFiles, OfPagesInAnyOrderGiveTheSameBytes) {
  TemporaryFolder folder;
  const MachineConfig machine = config::load_hardware("edge");
  std::vector<std::vector<arith::Half>> outputs;
  for (const char* csv :
       {"new_tokens,cached_tokens\n3,40\n1,20\n", "new_tokens,cached_tokens,block_table\n3,40,4 0 2\n1,20,1 3\n"}) {
    const bool paged = std::string(csv).find("block_table") != std::string::npos;
    const workload::Workload n =
        workload::with_requests(workload::load(std::string("H=4,HKV=2,N=8,E=16,causal=1") + (paged ? ",page=16" : "")),
                                folder.write("r.csv", csv));
    const job::Tensors tensors = job::random_tensors(n, 5);
    runs::Runner runner(machine, config::load_energy("fusemax-45nm"), true);
    outputs.push_back(runner.run(n, job::parse_dataflow("lean"), &tensors, {}).output);
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

// Pages that requests share, as prefix caching has them, hold the numbers of all of them: what comes out is what pages
// of their own give, golden, and firmware writes none of them.
TEST(RequestFiles, SharingPagesGiveTheBytesOfPagesOfTheirOwn) {
  TemporaryFolder folder;
  const MachineConfig machine = config::load_hardware("edge");
  const std::string names = "new_tokens,cached_tokens,block_table\n";
  const std::string shared = names + "3,40,4 0 2\n1,35,4 0 5\n20,16,4 1 3\n",
                    own = names + "3,40,4 0 2\n1,35,6 7 5\n20,16,8 1 3\n";
  for (const char* type : {"", ",type=bf16", ",type=fp8_e4m3", ",type=int8,scale_block=16"}) {
    const std::string layer = std::string("H=4,HKV=2,N=8,E=16,causal=1,page=16,pages=9") + type;
    const workload::Workload together = workload::load(layer, folder.write("shared.csv", shared));
    const workload::Workload apart = workload::load(layer, folder.write("own.csv", own));
    EXPECT_TRUE(together.attention().shares_pages());
    EXPECT_FALSE(apart.attention().shares_pages());
    const job::Tensors tensors = job::random_tensors(together, 5);
    EXPECT_NE(tensors.k, job::random_tensors(apart, 5).k);
    for (const char* dataflow : {"lean", "flash-decoding", "flash2"}) {
      SCOPED_TRACE(layer + " " + dataflow);
      std::vector<job::RunResult> results;
      for (const workload::Workload& n : {together, apart}) {
        runs::Runner runner(machine, config::load_energy("fusemax-45nm"), true);
        results.push_back(runner.run(n, job::parse_dataflow(dataflow), &tensors, {}));
        EXPECT_TRUE(results.back().golden_checked);
        EXPECT_TRUE(results.back().golden.passed) << results.back().golden.to_string();
      }
      EXPECT_EQ(results[0].output, results[1].output);
    }
    runs::Runner runner(machine, config::load_energy("fusemax-45nm"), true);
    const job::Tensors others = job::random_tensors(apart, 5);
    EXPECT_NE(message_of([&] {
                runner.run(together, job::parse_dataflow("lean"), &others, {});
              }).find("other numbers in page 4 than the requests it shares it with"),
              std::string::npos);
  }
}

// The layer's own lengths are those of nobody.
TEST(RequestFiles, GiveTheLengthsThatKeysAreHeldTo) {
  TemporaryFolder folder;
  const std::string path = folder.write("r.csv", "new_tokens,cached_tokens\n3,61\n1,7\n");
  const std::string layer = "H=8,HKV=2,E=64,causal=1,window=8,";
  EXPECT_EQ(workload::load(layer + "N=1,sinks=4", path).identity(),
            workload::load(layer + "N=64,sinks=4", path).identity());
  EXPECT_EQ(workload::load(layer + "sinks=4", path).identity(),
            workload::load(layer + "N=64,sinks=4", path).identity());
  EXPECT_NE(message_of([&] {
              workload::load(layer + "N=4096,sinks=65", path);
            }).find("key 'sinks': found 65; allowed is at most 'NKV', 64"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              workload::load(layer + "L=64+8", path);
            }).find("key 'L': found '64+8'; requests have lengths of their own"),
            std::string::npos);
  EXPECT_NE(message_of([&] { workload::load("gemm:64x64x64", path); }).find("requests are for attention"),
            std::string::npos);
  // Sinks of a layer that one request has fewer keys than: it sees all of its keys.
  const workload::Workload n = workload::load(layer + "N=1,sinks=12", path);
  runs::Runner runner(config::load_hardware("edge"), config::load_energy("fusemax-45nm"), true);
  const job::Tensors tensors = job::random_tensors(n, 5);
  const job::RunResult result = runner.run(n, job::parse_dataflow("flash2"), &tensors, {});
  EXPECT_TRUE(result.golden.passed) << result.golden.to_string();
}

TEST(Pages, AreAsManyAsTheBatchesNeed) {
  const workload::Attention n = workload::load("H=1,N=64,E=16,page=16,pages=3").attention();
  EXPECT_NE(message_of([&] {
              job::make_job(config::load_hardware("edge"), n, job::parse_dataflow("lean"));
            }).find("its cache has 3 pages of 16 tokens; the batches need 4"),
            std::string::npos);
}

TEST(RequestFiles, RefuseWhatCannotBe) {
  TemporaryFolder folder;
  const auto refusal = [&](const std::string& csv, const char* more = ",page=16,pages=8") {
    const workload::Attention n = workload::load(std::string("H=4,N=8,E=16,causal=1") + more).attention();
    try {
      workload::with_requests(n, folder.write("r.csv", csv));
    } catch (const config::ConfigError& e) {
      const std::string message = e.what();
      return message.substr(message.find("r.csv"));
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal("new_tokens,cached_tokens,block_table\n1,20,3 3\n"),
            "r.csv:2: block_table: page 3 is there twice, in the table of one request; allowed is once");
  EXPECT_EQ(
      refusal("new_tokens,cached_tokens,block_table\n1,40,3 4 5\n1,20,4 6\n"),
      "r.csv:3: block_table: page 4 is there twice, at place 2 of request 1 and at place 1 of request 2; allowed is "
      "the same place of both");
  EXPECT_EQ(
      refusal("new_tokens,cached_tokens,block_table\n1,40,3 4 5\n2,30,3 4\n"),
      "r.csv:3: block_table: page 4 is there twice, and request 2 has 30 cached tokens, which do not fill place 2 "
      "of its table; allowed is to share pages of cached tokens");
  const std::string scaled =
      refusal("new_tokens,cached_tokens,block_table\n1,20,3 4\n1,20,3 5\n", ",page=16,pages=8,type=int8");
  EXPECT_NE(scaled.find("every request scales INT8 by its own numbers"), std::string::npos) << scaled;
  EXPECT_EQ(refusal("new_tokens,cached_tokens,block_table\n1,20,3 8\n"),
            "r.csv:2: block_table: page 8 is out of range; the cache has 8 pages, from 0 on");
  EXPECT_EQ(refusal("new_tokens,cached_tokens,block_table\n1,20,3\n"),
            "r.csv:2: block_table: found 1 pages; 21 tokens need 2 of 16");
  EXPECT_EQ(refusal("new_tokens,cached_tokens,block_table\n1,20,3 4\n", ""),
            "r.csv:2: a block_table needs a cache of pages: a key such as page=16 of the layer");
  EXPECT_EQ(refusal("new_tokens,cached_tokens\n0,20\n"),
            "r.csv:2: found '0'; allowed is a whole number of 1 to 4194304");
  EXPECT_EQ(refusal("new_tokens,cached_tokens\n1,many\n"),
            "r.csv:2: found 'many'; allowed is a whole number of 0 to 4194303");
  EXPECT_EQ(refusal("new,cached\n1,2\n").substr(0, 35), "r.csv:1: found columns 'new,cached'");
}

}  // namespace
}  // namespace attnvp::runs
