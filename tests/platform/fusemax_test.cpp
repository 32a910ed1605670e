// FuseMax's machines against the closed forms of its model, in cycles: w = heads * N * N / 65536 tiles of 256 x 256
// scores, E per head. The one-dimensional array (256 lanes) and the two-dimensional one work side by side (fusemax), in
// turn (serial), or the former does all of softmax (cascade); FLAT and the unfused baseline spend 4 lane-cycles a
// score, unless DRAM takes longer for what FLAT moves.
#include <fmt/format.h>

#include <algorithm>

#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

struct Model {
  const char* name;
  std::uint32_t heads, emb;
};
const std::vector<Model> kModels = {{"BERT", 12, 64}, {"TrXL", 16, 64}, {"T5", 8, 64}, {"XLM", 16, 128}};

struct Case {
  std::string name, dataflow;
  std::uint64_t heads, tokens, emb;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name << " " << c.dataflow << " " << c.tokens; }

double dram_cycles(double bytes) { return bytes / (400.0 * (1ULL << 30)) * 940e6; }

double closed_form(const Case& c, std::uint64_t moved) {
  const auto e = static_cast<double>(c.emb), n = static_cast<double>(c.tokens);
  const double w = static_cast<double>(c.heads) * n * n / 65536;
  if (c.dataflow == "fusemax") return w * (2 * e + 10 + 256 * e / n);
  if (c.dataflow == "fusemax:binding=serial") return w * (3 * e + 266);
  if (c.dataflow == "cascade") return w * (1029 + 2 * e + 256 * e / n);
  if (c.dataflow == "flat") return std::max(1024 * w, dram_cycles(static_cast<double>(moved)));
  return 1024 * w + dram_cycles(2.0 * static_cast<double>(c.heads) * (2 * n * n + 4 * n * e));
}

bool one_pass(const Case& c) { return c.dataflow != "flat" && c.dataflow != "layerwise"; }
std::string machine_of(const Case& c) { return c.dataflow.rfind("fusemax", 0) == 0 ? "fusemax" : "fusemax-baseline"; }

class Fusemax : public testing::TestWithParam<Case> {};

TEST_P(Fusemax, IsTheClosedForm) {
  const Case& c = GetParam();
  const MachineConfig machine = config::load_hardware(machine_of(c));
  explore::TuningOptions options = few_evaluations(80);
  options.enough = one_pass(c) ? 1 : 1.02;  // the unfused forms leave more room
  options.sample_steps = explore::TuningOptions().sample_steps;
  Runner runner(machine, config::load_energy(machine.energy), false, options);
  const workload::Attention network =
      workload::load(fmt::format("H={},N={},E={}", c.heads, c.tokens, c.emb)).attention();
  // As the paper's authors have it: tiles as wide as the array; FLAT's softmax beside its matmuls.
  job::Schedule schedule = job::parse_dataflow(c.dataflow == "flat" ? "flat:overlap=on" : c.dataflow);
  if (one_pass(c)) schedule.tiling.set("nkv", 256);
  if (c.dataflow == "fusemax:binding=serial") schedule.tiling.set("nq", 256);
  const job::RunResult r = runner.run(network, schedule, nullptr, {});
  const std::uint64_t moved = 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words"));
  const double form = closed_form(c, moved), cycles = static_cast<double>(r.cycles);
  EXPECT_GE(cycles, form) << "faster than what it is made of";
  EXPECT_LE(cycles, form * (one_pass(c) ? 1.02 : 1.04)) << cycles / form;
  if (c.dataflow == "fusemax") {
    const auto e = static_cast<double>(c.emb), n = static_cast<double>(c.tokens);
    EXPECT_NEAR(r.utilization.mac, (2 * e + 9) / (2 * e + 10 + 256 * e / n), 0.01);
    EXPECT_NEAR(r.utilization.vec, 1, 0.01);
  }
  if (one_pass(c)) {
    // Q and O once, K and V for every row block.
    const std::uint64_t slabs = (c.tokens + r.schedule.tiling["nq"] - 1) / r.schedule.tiling["nq"];
    const std::uint64_t blocks = (slabs + r.schedule.tiling["rb"] - 1) / r.schedule.tiling["rb"];
    EXPECT_EQ(moved, 4 * c.heads * c.tokens * c.emb * (1 + blocks));
    if (machine.name == "fusemax") {  // as many row blocks at a time as the paper's buffer of 16 MiB holds
      const std::uint64_t n = c.tokens / 256;
      std::uint64_t p1 = std::min(n, (16 * 1048576 - 1024 * c.emb) / (512 * (2 * c.emb + 2)));
      while (n % p1 != 0) --p1;
      // Tiles are chosen by cycles: K and V may come again as long as DRAM has time.
      EXPECT_LE(blocks, 2 * n / p1);
    }
  } else {
    const DramBytes least = least_dram_bytes(network, c.dataflow);
    const job::Tiling& t = r.schedule.tiling;
    if (c.tokens <= 16384 || t.used("np") > 0 || c.dataflow == "layerwise") {
      // K and V again for every row block, where they are streamed; C and P twice, where they go in tiles.
      const bool streamed = t["kv"] == hal::kWord;
      const std::uint64_t again = streamed ? (c.tokens + t["nq"] - 1) / t["nq"] - 1 : 0;
      const std::uint64_t scores = c.dataflow == "flat" && t.used("np") > 0 ? 8 * c.heads * c.tokens * c.tokens : 0;
      EXPECT_EQ(moved, least.read + least.write + scores + again * 4 * c.heads * c.tokens * c.emb);
    }
  }
  EXPECT_LE(r.max("l1", "peak_bytes"), machine.l1.size_bytes);
}

// Batch 64 at 1K, 4 at 4K, 1 beyond.
std::vector<Case> cases(const std::vector<std::uint64_t>& lengths, const std::vector<std::string>& dataflows,
                        std::uint64_t heads = 0) {
  std::vector<Case> all;
  for (const Model& m : kModels) {
    if (heads > 0 && m.heads != 12 && m.emb == 64) continue;  // one head of one is one head of the other
    for (const std::uint64_t n : lengths) {
      for (const std::string& d : dataflows) {
        all.push_back({m.name, d, heads > 0 ? heads : m.heads * (n <= 1024 ? 64 : n <= 4096 ? 4 : 1), n, m.emb});
      }
    }
  }
  return all;
}
const std::vector<std::string> kOnePass = {"fusemax", "fusemax:binding=serial", "cascade"};
const std::vector<std::string> kAll = {"fusemax", "fusemax:binding=serial", "cascade", "flat", "layerwise"};
std::string case_name(const testing::TestParamInfo<Case>& of) {
  return test_name(fmt::format("{}_{}_{}", of.param.name, of.param.tokens, of.param.dataflow));
}

#ifndef ATTNVP_LONG
INSTANTIATE_TEST_SUITE_P(Models, Fusemax, testing::ValuesIn(cases({1024, 4096}, kAll)), case_name);
#else
INSTANTIATE_TEST_SUITE_P(Models, Fusemax, testing::ValuesIn(cases({16384}, kAll)), case_name);
INSTANTIATE_TEST_SUITE_P(OneHead, Fusemax, testing::ValuesIn(cases({65536, 262144, 1048576}, kOnePass, 1)), case_name);
INSTANTIATE_TEST_SUITE_P(OneHeadUnfused, Fusemax, testing::ValuesIn(cases({65536, 262144}, {"flat", "layerwise"}, 1)),
                         case_name);
#endif

}  // namespace
}  // namespace attnvp::runs
