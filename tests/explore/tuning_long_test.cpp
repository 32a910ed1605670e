// The default choice of tile sizes and dataflows on machines and layers at random, against searches of 300 further
// simulations, and against the same machine with more of one resource. Minutes, therefore labelled long. The bars are
// shares of jobs; each miss is printed with its job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "platform/machine/hardware.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {
namespace {

// ATTNVP_TUNING_CASES=FIRST-END runs others.
struct Range {
  int first = 0, end = 100;
};
Range cases() {
  Range r;
  const char* const text = std::getenv("ATTNVP_TUNING_CASES");
  if (text != nullptr) std::sscanf(text, "%d-%d", &r.first, &r.end);
  return r;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435761U + 77) {}
  template <typename T>
  T of(const std::vector<T>& values) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return values[(state_ >> 33) % values.size()];
  }

 private:
  std::uint64_t state_;
};

struct Case {
  int clusters, cores, rows, lanes, l1_kib, gbps;
  std::string network, dataflow;
  std::vector<std::string> keys() const {  // over those of `edge`
    const int l0_kib = std::max(48, 16 * rows * rows / 1024);
    return {fmt::format("clusters={}", clusters),       fmt::format("cores={}", cores),
            fmt::format("l1.ports={}", 2 * cores + 1),  fmt::format("mac.rows={}", rows),
            fmt::format("mac.columns={}", rows),        fmt::format("vec.lanes={}", lanes),
            fmt::format("l0.size={} KiB", l0_kib),      fmt::format("l1.size={} KiB", std::max(l1_kib, 2 * l0_kib)),
            fmt::format("dram.bandwidth={} GB/s", gbps)};
  }
  std::string text() const { return fmt::format("{} {} {}", dataflow, network, fmt::join(keys(), " ")); }
};

Case random_case(int number) {
  Random r(static_cast<std::uint64_t>(number));
  Case c{};
  c.clusters = r.of<int>({1, 1, 2, 4, 16, 64});
  c.cores = r.of<int>({1, 2, 4});
  c.rows = r.of<int>({8, 16, 32, 64, 128, 256});
  c.lanes = r.of<int>({16, 64, 256, 1024});
  c.l1_kib = r.of<int>({128, 256, 512, 1024, 2048, 5120, 16384});
  c.gbps = r.of<int>({8, 30, 100, 500, 2000});
  const int heads = r.of<int>({2, 4, 8, 12, 32}), emb = r.of<int>({32, 64, 128});
  const int tokens = r.of<int>({128, 196, 256, 512, 1024});
  switch (r.of<int>({0, 0, 1, 2, 3})) {
    case 0:
      c.network = fmt::format("H={},N={},E={}", heads, tokens, emb);
      break;
    case 1:
      c.network = fmt::format("H={},N={},E={},causal=1", heads, tokens, emb);
      break;
    case 2:
      c.network = fmt::format("H={},HKV={},N={},E={},causal=1", heads, heads / 2, tokens, emb);
      break;
    default:
      c.network = fmt::format("H={},HKV={},E={},phase=decode,batch=4,cache={}", heads, heads / 2, emb, 4 * tokens);
  }
  c.dataflow = r.of<std::string>({"mas", "flat", "tileflow", "softpipe", "layerwise", "fusemax", "flash2", "lean"});
  return c;
}

Problem problem(const Case& c, const std::vector<std::string>& more = {}) {
  std::vector<std::string> keys = c.keys();
  keys.insert(keys.end(), more.begin(), more.end());
  const MachineConfig machine = config::load_hardware("edge", keys);
  return {machine, workload::load(c.network), job::parse_dataflow(c.dataflow), config::load_energy(machine.energy)};
}

TuningOptions options(std::uint64_t evaluations = TuningOptions().evaluations) {
  TuningOptions o;
  o.evaluations = evaluations;
  o.use_cache = false;
  return o;
}

double cycles_of(const Problem& p, const job::Schedule& schedule) {
  return static_cast<double>(job::Runner(p.machine, p.energy, false).run(p.network, schedule, nullptr, {}).cycles);
}

job::Schedule choice(const Problem& p) { return tune(p, options()); }

void report(const char* what, std::vector<double> ratios, double bar) {
  std::sort(ratios.begin(), ratios.end());
  const auto within = std::count_if(ratios.begin(), ratios.end(), [&](double r) { return r <= bar; });
  std::printf("%s: %zu jobs, %ld within %.2f, median %.4f, worst %.3f\n", what, ratios.size(),
              static_cast<long>(within), bar, ratios[ratios.size() / 2], ratios.back());
}

TEST(TuningCampaign, ChoiceIsNearWhatFurtherSimulationsFind) {
  std::vector<double> ratios;
  for (int i = cases().first; i < cases().end; ++i) {
    const Case c = random_case(i);
    try {
      const Problem p = problem(c);
      const double chosen = cycles_of(p, choice(p));
      double best = chosen;
      for (const char* strategy : {"descent", "ga"}) {
        TuningOptions o = options(300);
        o.strategy = strategy;
        best = std::min(best, search(p, o).best.cycles);
      }
      ratios.push_back(chosen / best);
      if (ratios.back() > 1.05) std::printf("%d %.3f %s\n", i, ratios.back(), c.text().c_str());
    } catch (const std::runtime_error&) {  // nothing fits
    }
  }
  report("choice against the best of two searches of 300", ratios, 1.05);
  ASSERT_GE(ratios.size(), 20U);
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[ratios.size() * 9 / 10], 1.05);
  EXPECT_LE(ratios.back(), 1.5);
}

TEST(TuningCampaign, AutoIsNearTheBestDataflow) {
  std::vector<double> ratios;
  for (int i = cases().first; i < cases().end; ++i) {
    const Case c = random_case(i);
    try {
      Problem p = problem(c);
      const double picked = cycles_of(p, pick_dataflow(p, options()).best().schedule);
      double best = picked;
      for (const firmware::Dataflow* dataflow : job::dataflows_for(p.network)) {
        try {
          p.schedule = job::parse_dataflow(dataflow->name);
          best = std::min(best, cycles_of(p, choice(p)));
        } catch (const std::runtime_error&) {  // it does not take the layer
        }
      }
      ratios.push_back(picked / best);
      if (ratios.back() > 1.05) std::printf("%d %.3f %s\n", i, ratios.back(), c.text().c_str());
    } catch (const std::runtime_error&) {  // nothing fits
    }
  }
  report("auto against the best dataflow's own choice", ratios, 1.05);
  ASSERT_GE(ratios.size(), 20U);
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[ratios.size() * 95 / 100], 1.05);
}

TEST(TuningCampaign, BetterHardwareIsNotSlower) {
  std::vector<double> ratios;
  for (int i = cases().first; i < cases().end; ++i) {
    const Case c = random_case(i);
    try {
      const Problem p = problem(c);
      const double before = cycles_of(p, choice(p));
      const std::string l1 = fmt::format("l1.size={} B", 2 * p.machine.l1.size_bytes);
      for (const std::string& key :
           {fmt::format("dram.bandwidth={} GB/s", 2 * c.gbps), l1, fmt::format("vec.lanes={}", 2 * c.lanes),
            fmt::format("mac.rows={}", 2 * c.rows)}) {
        const Problem better = problem(c, {key});
        ratios.push_back(cycles_of(better, choice(better)) / before);
        if (ratios.back() > 1.03) std::printf("%d %.3f %s -> %s\n", i, ratios.back(), c.text().c_str(), key.c_str());
      }
    } catch (const std::runtime_error&) {  // nothing fits
    }
  }
  report("with one resource doubled", ratios, 1.03);
  ASSERT_GE(ratios.size(), 20U);
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[ratios.size() * 97 / 100], 1.03);
  EXPECT_LE(ratios.back(), 1.2);
}

}  // namespace
}  // namespace attnvp::explore
