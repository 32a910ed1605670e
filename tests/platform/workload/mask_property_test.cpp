// Random layers under masks, with grouped queries and a scale, on random machines under every dataflow: values within
// their bound, what is hidden neither loaded nor computed, the same counts without data, and readers of the command
// stream that agree. Integers only: the cases are the same everywhere.
#include "tests/platform/random_jobs.h"
#include "tests/platform/random_runs.h"

namespace attnvp::runs {
namespace {

#ifdef ATTNVP_LONG
constexpr int kFirst = 20, kShards = 230;
#else
constexpr int kFirst = 0, kShards = 20;
#endif
constexpr int kCasesPerShard = 8;

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
  c.schedule = job::parse_dataflow(kUnderRules[r.from(0, static_cast<std::uint32_t>(kUnderRules.size()) - 1)]);
  job::Tiling& t = c.schedule.tiling;
  if (c.schedule.dataflow == "weave" && !r.one_in(4)) t.set("walk", r.from(1, 7));
  const bool decodes = firmware::find_dataflow(c.schedule.dataflow.c_str())->is(firmware::kRagged);
  if (!decodes && r.one_in(2)) t.set("nq", r.from(1, c.network.folded().seq_q));
  if (r.one_in(2)) t.set("nkv", r.from(1, c.network.seq_kv));
  if (r.one_in(4)) t.set("kv", r.one_in(2) ? hal::kWord : r.from(1, 4));
  return c;
}

// No less than what is seen, no more than without a mask; and with no rows and columns to spare just that.
void check(const Case& c, const job::RunResult& r) {
  const workload::Attention& n = c.network;
  const std::uint64_t scores = n.visible_scores(), all = std::uint64_t{n.batch} * n.heads * n.seq_q * n.seq_kv;
  EXPECT_GE(r.sum("mac", "macs"), 2 * scores * n.emb);
  EXPECT_LE(r.sum("mac", "macs"), 2 * all * n.emb);
  const bool one_pass = job::has(r.schedule, firmware::kOnePass);
  if (!one_pass) {
    EXPECT_EQ(r.sum("vec", "elements"), scores);
  }
  expect_counted(c, r);
}

class MaskProperty : public testing::TestWithParam<int> {};

TEST_P(MaskProperty, HoldsForRandomJobs) { hold_for_random_jobs(GetParam(), kCasesPerShard, random_case, check); }

INSTANTIATE_TEST_SUITE_P(Shards, MaskProperty, testing::Range(kFirst, kFirst + kShards));

}  // namespace
}  // namespace attnvp::runs
