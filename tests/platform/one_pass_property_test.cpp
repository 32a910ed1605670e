// Random layers on random machines under the one-pass dataflows: values within their bound, counts exact and the same
// without data, or a clean refusal. Integers only: the cases are the same everywhere.
#include "tests/platform/random_jobs.h"
#include "tests/platform/random_runs.h"

namespace attnvp::runs {
namespace {

#ifdef ATTNVP_LONG
constexpr int kFirst = 4, kShards = 208;
#else
constexpr int kFirst = 0, kShards = 4;
#endif
constexpr int kCasesPerShard = 10;

Case random_case(std::uint32_t number) {
  Random r(number * 2654435761U + 99);
  Case c;
  MachineConfig& m = c.machine;
  m.name = "random";
  m.clusters = r.of({1, 1, 2, 3});
  m.cores = r.from(1, 4);
  m.mac.rows = r.of({16, 8, 5, 32});
  m.mac.columns = r.of({16, 8, 7, 32});
  m.mac.pipeline_cycles = r.from(0, 40);
  m.mac.queue_depth = r.of({2, 4, 64});
  m.mac.resident_tiles = r.of({0, 1, 2, 3, 12});
  m.mac.reduce_cycles = r.of({0, 15});
  m.vec.lanes = r.of({256, 64, 10});
  m.vec.queue_depth = r.of({2, 16});
  m.l1.size_bytes = 1024 * std::uint64_t{r.of({8, 16, 64, 256, 512})};
  m.l0.size_bytes = std::min<std::uint64_t>(r.of({64 << 10, 4096, 1024}), m.l1.size_bytes / 2);
  m.l1.banks = r.of({16, 4});
  m.l1.ports = r.from(1, 2 * m.cores + 1);
  m.dma.channels = r.from(3, 6);
  m.dma.queue_depth = r.of({2, 4, 16});
  m.dma.burst_bytes = r.of({1024, 64});
  m.dram.size_bytes = 16 << 20;
  config::check_machine(m, {"random"});

  workload::Attention& n = c.network;
  n.batch = r.of({1, 1, 2});
  n.heads = r.from(1, 4);
  n.seq_q = r.one_in(6) ? 1 : r.from(1, 150);
  n.seq_kv = r.one_in(2) ? n.seq_q : r.from(1, 200);
  n.emb = r.one_in(2) ? 16 * r.from(1, 4) : r.from(1, 70);
  n.name = fmt::format("B={},H={},NQ={},NKV={},E={}", n.batch, n.heads, n.seq_q, n.seq_kv, n.emb);

  static const char* const kOnePass[] = {"fusemax",
                                         "fusemax:binding=serial",
                                         "cascade",
                                         "cascade:binding=serial",
                                         "fusemax:sums=fusemax",
                                         "cascade:sums=fusemax"};
  c.schedule = job::parse_dataflow(kOnePass[r.from(0, 5)]);
  job::Tiling& t = c.schedule.tiling;
  if (r.one_in(3)) t.set("nq", r.from(1, std::min(n.seq_q, 2 * m.mac.rows)));
  if (r.one_in(3)) t.set("nkv", r.from(1, std::min(n.seq_kv, 2 * m.mac.columns)));
  if (r.one_in(4)) t.set("rb", r.from(1, 3));
  if (r.one_in(4)) t.set("kv", r.from(1, 4));
  return c;
}

void check(const Case& c, const job::RunResult& r) {
  const MachineConfig& m = c.machine;
  const workload::Attention& n = c.network;
  const std::uint64_t elements = std::uint64_t{n.batch} * n.heads * n.seq_q * n.seq_kv;
  EXPECT_EQ(r.sum("mac", "macs"), 2 * elements * n.emb);
  EXPECT_GE(r.sum("mac", "exp_ops") + r.sum("vec", "exp_ops"), elements);  // and scales
  const DramBytes least = least_dram_bytes(n, "fusemax");
  EXPECT_EQ(2 * r.sum("dram", "write_words"), least.write);
  EXPECT_GE(2 * r.sum("dram", "read_words"), least.read);
  const double cores = 1.0 * m.clusters * m.cores;
  EXPECT_GE(static_cast<double>(r.cycles) * cores * m.mac.rows * m.mac.columns,
            static_cast<double>(r.sum("mac", "slots")));
  EXPECT_LE(r.max("l1", "peak_bytes"), m.l1.size_bytes);
  expect_counted(c, r);
}

class OnePassProperty : public testing::TestWithParam<int> {};

TEST_P(OnePassProperty, HoldsForRandomJobs) { hold_for_random_jobs(GetParam(), kCasesPerShard, random_case, check); }

INSTANTIATE_TEST_SUITE_P(Shards, OnePassProperty, testing::Range(kFirst, kFirst + kShards));

}  // namespace
}  // namespace attnvp::runs
