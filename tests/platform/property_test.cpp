// Random layers on random machines under every dataflow. Values do not depend on the schedule, counts do not
// depend on the data, and no resource does more than it can. Integers only: the cases are the same
// everywhere.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

const std::vector<std::string> kTexts = [] {
  std::vector<std::string> all = kDataflows;
  all.emplace_back("layerwise:spills=fusemax");
  return all;
}();
#ifdef ATTNVP_LONG
constexpr int kFirst = 8, kShards = 40;
#else
constexpr int kFirst = 0, kShards = 8;
#endif
constexpr int kCasesPerShard = 10;

struct Case {
  MachineConfig machine;
  workload::Attention network;
  job::Tiling tiling;  // where it is not left to firmware

  std::string text() const {
    const workload::Attention& n = network;
    std::string tiles;
    for (const auto& [key, value] : job::tiling_text(tiling)) tiles += fmt::format(",{}={}", key, value);
    return fmt::format("--net B={},H={},NQ={},NKV={},E={} --tiling {}\n{}", n.batch, n.heads, n.seq_q, n.seq_kv, n.emb,
                       tiles.empty() ? "default" : tiles.substr(1), config::to_yaml(machine));
  }
};

job::Tiling random_tiling(Random& r, const workload::Attention& n) {
  job::Tiling t;
  if (r.one_in(2)) return t;
  if (r.one_in(3)) t.set("bb", r.from(1, n.batch));
  if (r.one_in(2)) t.set("hh", r.from(1, n.heads));
  if (r.one_in(2)) t.set("nq", r.from(1, n.seq_q));
  if (r.one_in(2)) t.set("nkv", r.from(1, n.seq_kv));
  if (r.one_in(3)) t.set("m0", r.from(1, 40));
  if (r.one_in(3)) t.set("n0", r.from(1, 40));
  if (r.one_in(3)) t.set("k0", r.from(1, 40));
  if (r.one_in(2)) t.set("kv", r.one_in(2) ? hal::kWord : r.from(1, 3));
  if (r.one_in(4)) t.set("rb", r.from(1, 3));
  return t;
}

Case random_case(std::uint32_t number) {
  Random r(number * 2654435761U + 12345);
  Case c;
  c.machine = random_machine(r);
  Random kinds(number);
  if (kinds.one_in(3)) c.machine.l1.kind = "banked";
  if (kinds.one_in(3)) c.machine.interconnect.kind = kinds.one_in(2) ? "mesh" : "crossbar";
  if (kinds.one_in(3)) c.machine.dma.in_order = false;
  if (kinds.one_in(3)) c.machine.dma.channel_outstanding = kinds.of({1, 2});
  c.network = random_network(r);
  c.tiling = random_tiling(r, c.network);
  config::check_machine(c.machine, {"random"});
  return c;
}

void expect_golden(const job::RunResult& r) {
  ASSERT_TRUE(r.golden_checked);
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
}

// Exact counts, and what they imply for time.
void expect_counts(const Case& c, const std::string& dataflow, const job::RunResult& r) {
  const MachineConfig& m = c.machine;
  const workload::Attention& n = c.network;
  const auto cycles = static_cast<double>(r.cycles);
  const std::uint64_t elements = std::uint64_t{n.batch} * n.heads * n.seq_q * n.seq_kv;
  EXPECT_EQ(r.sum("mac", "macs"), 2 * elements * n.emb);
  EXPECT_EQ(r.sum("vec", "elements"), elements);

  const DramBytes least = least_dram_bytes(n, dataflow);
  EXPECT_EQ(2 * r.sum("dram", "write_words"), least.write);
  EXPECT_EQ(r.sum("dma", "write_bytes"), least.write);
  EXPECT_GE(r.sum("dma", "read_bytes"), least.read);
  EXPECT_EQ(2 * r.sum("dram", "read_words"), r.sum("dma", "read_bytes"));
  const auto dram_bytes = static_cast<double>(r.sum("dma", "read_bytes") + r.sum("dma", "write_bytes"));
  EXPECT_GE(cycles, dram_bytes * m.clock_hz / m.dram.bytes_per_second * (1 - 1e-9));

  const double cores = 1.0 * m.clusters * m.cores;
  EXPECT_GE(r.sum("mac", "slots"), r.sum("mac", "macs"));
  EXPECT_GE(cycles * cores * m.mac.rows * m.mac.columns, static_cast<double>(r.sum("mac", "slots")));
  EXPECT_GE(cycles * cores * m.vec.lanes, static_cast<double>(r.sum("vec", "lane_ops")));
  const double l1_bytes = 2.0 * static_cast<double>(r.sum("l1", "read_words") + r.sum("l1", "write_words"));
  EXPECT_GE(cycles * m.clusters * m.l1.banks * m.l1.bank_bytes_per_cycle, l1_bytes);
  const job::Utilization& u = r.utilization;
  for (const auto& [part, busy] : {std::pair{"mac", u.mac}, {"vec", u.vec}, {"dma", u.dma}, {"dram", u.dram}}) {
    EXPECT_GE(busy, 0.0) << part;
    EXPECT_LE(busy, 1.0 + 1e-6) << part;
  }
  EXPECT_LE(r.max("l1", "peak_bytes"), m.l1.size_bytes);
  EXPECT_LE(r.max("l0", "peak_bytes"), m.l0.size_bytes / 2);

  double parts = 0;
  for (const std::string& part : r.energy_parts()) parts += r.energy_pj(part);
  EXPECT_NEAR(parts, r.total_energy_pj(), 1e-9 * r.total_energy_pj());
  EXPECT_GT(parts, 0);
}

// "L1 is too small: the schedule needs at least N bytes, l1.size is M bytes", and so it is.
bool is_clean_refusal(const std::string& sentence) {
  for (const char* memory : {"firmware: L1 is too small", "firmware: L0 is too small"}) {
    const std::size_t found = sentence.find(memory);
    if (found == std::string::npos) continue;
    unsigned long long need = 0, size = 0;
    const int fields = std::sscanf(
        sentence.c_str() + found,
        "firmware: L%*d is too small: the schedule needs at least %llu bytes, l%*d.size is %llu", &need, &size);
    return fields == 2 && need > size;
  }
  return false;
}

// The result, or nothing after a clean refusal.
struct Attempt {
  bool done = false;
  std::string refusal;
  job::RunResult result;
};

// One machine; elaborated again after a refusal, which leaves a Runner spent.
class Machine {
 public:
  Machine(const Case& c, bool full_data)
      : c_(c), energy_(config::load_energy(c.machine.energy)), full_data_(full_data) {}

  Attempt attempt(const std::string& dataflow, const job::Tiling& tiling, const job::Tensors* tensors) {
    if (!runner_) runner_ = std::make_unique<runs::Runner>(c_.machine, energy_, full_data_);
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling = tiling;
    Attempt a;
    try {
      a.result = runner_->run(c_.network, schedule, tensors, {});
      a.done = true;
    } catch (const std::runtime_error& e) {
      a.refusal = e.what();
      runner_.reset();
      EXPECT_TRUE(is_clean_refusal(a.refusal)) << a.refusal;
    }
    return a;
  }

 private:
  const Case& c_;
  config::EnergyTable energy_;
  bool full_data_;
  std::unique_ptr<runs::Runner> runner_;
};

// As --tiling has it.
std::string text_of(const job::Tiling& tiling) {
  std::string text;
  for (const auto& [name, value] : job::tiling_text(tiling))
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  return text;
}

// All dataflows of a case; a failure leaves its case's text behind. True if one of them fits the machine.
bool check_case(const Case& c) {
  const job::Tensors tensors = job::random_tensors(c.network, 7);
  std::vector<job::Tiling> tilings{c.tiling};
  if (job::tiling_text(c.tiling) != job::tiling_text({})) tilings.emplace_back();  // firmware's own choice beside it
  std::vector<Attempt> attempts;
  {
    Machine machine(c, true);
    std::vector<arith::Half> output;
    for (const job::Tiling& tiling : tilings) {
      for (const std::string& dataflow : kTexts) {
        SCOPED_TRACE(dataflow);
        attempts.push_back(machine.attempt(dataflow, tiling, &tensors));
        const Attempt& a = attempts.back();
        if (!a.done) continue;
        expect_golden(a.result);
        expect_counts(c, dataflow.substr(0, dataflow.find(':')), a.result);
        if (output.empty()) output = a.result.output;
        EXPECT_TRUE(output == a.result.output) << "another output than the dataflow before";
        const job::Tiling& chosen = a.result.schedule.tiling;
        EXPECT_TRUE(job::parse_tiling(text_of(chosen)) == chosen) << text_of(chosen);
        const Attempt again = machine.attempt(dataflow, chosen, &tensors);
        EXPECT_TRUE(again.done);
        expect_same_counts(a.result, again.result);
        EXPECT_TRUE(again.result.output == a.result.output) << "another output the second time";
        if (testing::Test::HasFailure()) return true;
      }
    }
  }
  Machine machine(c, false);
  std::size_t i = 0;
  for (const job::Tiling& tiling : tilings) {
    for (const std::string& dataflow : kTexts) {
      SCOPED_TRACE("timing mode, " + dataflow);
      const Attempt& full = attempts[i++];
      // Which tiles are chosen has nothing to do with data: those of before. So when it is run again, too.
      const Attempt timing = machine.attempt(dataflow, full.done ? full.result.schedule.tiling : tiling, nullptr);
      EXPECT_EQ(timing.done, full.done);
      EXPECT_EQ(timing.refusal, full.refusal);
      if (timing.done && full.done) expect_same_counts(timing.result, full.result);
      if (testing::Test::HasFailure()) return true;
    }
  }
  return std::any_of(attempts.begin(), attempts.end(), [](const Attempt& a) { return a.done; });
}

class Property : public testing::TestWithParam<int> {};

TEST_P(Property, HoldsForRandomJobs) {
  int fit = 0;
  for (int i = 0; i < kCasesPerShard; ++i) {
    const Case c = random_case(static_cast<std::uint32_t>(GetParam() * kCasesPerShard + i));
    SCOPED_TRACE(fmt::format("case {}: {}", GetParam() * kCasesPerShard + i, c.text()));
    fit += check_case(c) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(fit, kCasesPerShard / 4) << "too few cases fit their machine";
}

INSTANTIATE_TEST_SUITE_P(Shards, Property, testing::Range(kFirst, kFirst + kShards));

}  // namespace
}  // namespace attnvp::runs
