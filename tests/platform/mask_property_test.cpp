// Random layers under masks, with grouped queries and a scale, on random machines under every dataflow: values within
// their bound, what is hidden neither loaded nor computed, the same counts without data, and readers of the command
// stream that agree. Integers only: the cases are the same everywhere.
#include <fmt/format.h>

#include <algorithm>

#include "mapping/bound.h"
#include "mapping/counter.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

#ifdef ATTNVP_LONG
constexpr int kFirst = 20, kShards = 230;
#else
constexpr int kFirst = 0, kShards = 20;
#endif
constexpr int kCasesPerShard = 8;

const std::vector<std::string> kAll = {"layerwise",      "softpipe", "flat",    "flat:overlap=on", "tileflow",
                                       "mas",            "fusemax",  "cascade", "cascade:binding=serial",
                                       "fusemax:binding=serial", "lean", "flash-decoding", "flash2"};

struct Case {
  MachineConfig machine;
  config::Network network;
  job::Schedule schedule;
};

Case random_case(std::uint32_t number) {
  Random r(number * 2654435761U + 2020);
  Case c;
  c.machine = random_machine(r);
  if (r.one_in(3)) {
    c.machine.mac.resident_tiles = r.of({1, 2, 12});
    c.machine.mac.reduce_cycles = 15;
  }
  c.network = random_network(r);
  random_rules(r, c.network);
  config::check_machine(c.machine, {"random"});
  c.schedule = job::parse_dataflow(kAll[r.from(0, static_cast<std::uint32_t>(kAll.size()) - 1)]);
  job::Tiling& t = c.schedule.tiling;
  const bool decodes = firmware::find_dataflow(c.schedule.dataflow.c_str())->is(firmware::kRagged);
  if (!decodes && r.one_in(2)) t.set("nq", r.from(1, c.network.folded().seq_q));
  if (r.one_in(2)) t.set("nkv", r.from(1, c.network.seq_kv));
  if (r.one_in(4)) t.set("kv", r.one_in(2) ? hal::kWord : r.from(1, 4));
  return c;
}

struct Attempt {
  bool done = false;
  std::string refusal;
  job::Result result;
};
Attempt attempt(const Case& c, bool full, const job::Tensors* tensors) {
  job::Runner runner(c.machine, config::load_energy("fusemax-45nm"), full);
  Attempt a;
  try {
    a.result = runner.run(c.network, c.schedule, tensors, {});
    a.done = true;
  } catch (const std::runtime_error& e) {
    a.refusal = e.what();
  }
  return a;
}

void check(const Case& c, const Attempt& a) {
  if (!a.done) {
    const bool clean = a.refusal.find("too small") != std::string::npos ||
                       a.refusal.find("it cannot do with ") != std::string::npos ||
                       a.refusal.find("partial results need") != std::string::npos;
    EXPECT_TRUE(clean) << a.refusal;
    return;
  }
  const job::Result& r = a.result;
  const config::Network& n = c.network;
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  // No less than what is seen, no more than without a mask; and with no rows and columns to spare just that.
  const std::uint64_t scores = n.visible_scores(), all = std::uint64_t{n.batch} * n.heads * n.seq_q * n.seq_kv;
  EXPECT_GE(r.sum("mac", "macs"), 2 * scores * n.emb);
  EXPECT_LE(r.sum("mac", "macs"), 2 * all * n.emb);
  const bool one_pass = firmware::find_dataflow(c.schedule.dataflow.c_str())->is(firmware::kOnePass);
  if (!one_pass) {
    EXPECT_EQ(r.sum("vec", "elements"), scores);
  }
  const mapping::Job made = job::make_job(c.machine, n, r.schedule);
  const mapping::Counts counts = mapping::count(made, c.machine);
  EXPECT_EQ(counts.mac.macs, r.sum("mac", "macs"));
  EXPECT_EQ(counts.dram.read / 2, r.sum("dram", "read_words"));
  EXPECT_EQ(counts.dram.written / 2, r.sum("dram", "write_words"));
  EXPECT_EQ(counts.l1_peak_bytes, r.max("l1", "peak_bytes"));
  EXPECT_EQ(counts.refused, 0U);
  EXPECT_LE(mapping::least_cycles(made, c.machine), static_cast<double>(r.cycles));
}

class MaskProperty : public testing::TestWithParam<int> {};

TEST_P(MaskProperty, HoldsForRandomJobs) {
  int fit = 0;
  for (int i = 0; i < kCasesPerShard; ++i) {
    const int number = GetParam() * kCasesPerShard + i;
    const Case c = random_case(static_cast<std::uint32_t>(number));
    std::string tiles;
    for (const auto& [key, value] : job::tiling_text(c.schedule.tiling)) tiles += fmt::format(",{}={}", key, value);
    SCOPED_TRACE(fmt::format("case {}: --dataflow {} --net B={},H={},HKV={},NQ={},NKV={},E={}{} --tiling {}\n{}", number,
                             c.schedule.text, c.network.batch, c.network.heads, c.network.heads_of_kv(),
                             c.network.seq_q, c.network.seq_kv, c.network.emb, c.network.rules(), tiles,
                             config::to_yaml(c.machine)));
    const job::Tensors tensors = job::random_tensors(c.network, 7);
    const Attempt full = attempt(c, true, &tensors), timing = attempt(c, false, nullptr);
    check(c, full);
    EXPECT_EQ(full.done, timing.done);
    EXPECT_EQ(full.refusal, timing.refusal);
    if (full.done && timing.done) expect_same_counts(full.result, timing.result);
    fit += full.done ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(fit, 1) << "no case fits its machine";
}

INSTANTIATE_TEST_SUITE_P(Shards, MaskProperty, testing::Range(kFirst, kFirst + kShards));

}  // namespace
}  // namespace attnvp::runs
