// Cycles of --vec rtl beside those of the model, over random small layers, where a pipeline's depth is not hidden. The
// bound is docs/explanation/rtl.md's, "Time": what each command may take longer, counted over the commands of the
// layer.
#include <algorithm>
#include <string>
#include <vector>

#include "models/engine/row_mask.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/programs.h"
#include "tests/platform/random_jobs.h"
#include "tests/rtl/rtl_runs.h"

namespace attnvp::runs {
namespace {

using hal::Opcode;

std::uint64_t over(std::uint64_t n, std::uint64_t d) { return (n + d - 1) / d; }

// Cycles that the RTL may take longer for a command.
std::uint64_t longer(const hal::Descriptor& d, const VecConfig& vec) {
  constexpr std::uint64_t kHandOver = 4;  // from a command to the next, which needs its rows
  const std::uint64_t lanes = vec.lanes / vec.softmax_lane_cycles;
  const std::uint64_t online = vec.max_lane_cycles + 2 * vec.add_lane_cycles + vec.exp_lane_cycles;
  const std::uint64_t columns = d.operand[0].columns;
  std::uint64_t cycles = kHandOver;
  if (d.opcode == Opcode::kSoftmax) return cycles + 3 + over(columns, lanes);
  if (d.opcode == Opcode::kDivide) return cycles + 3;
  if (d.opcode == Opcode::kOnlineMax || d.opcode == Opcode::kRescale) return cycles + d.rows + 16;
  if (d.opcode != Opcode::kOnlineSoftmax) return cycles;
  const RowMask mask(d, columns);
  for (std::uint64_t row = 0; row < d.rows; ++row) {
    const std::uint64_t seen = mask.masked() ? mask.of(row).count() : columns;
    cycles +=
        std::max<std::uint64_t>(over(seen, lanes), 1) - std::min(over(seen, lanes), over(seen * online, vec.lanes));
  }
  return cycles;
}

class Longest final : public schedule::Reader {
 public:
  explicit Longest(const MachineConfig& machine) : machine_(machine), cycles_(machine.cores) {}
  void command(const schedule::Queue& queue, const hal::Descriptor& d) override {
    if (queue.unit == schedule::Unit::kVec && d.opcode != Opcode::kNop) cycles_[queue.index] += longer(d, machine_.vec);
  }
  std::uint64_t cycles() const { return *std::max_element(cycles_.begin(), cycles_.end()); }

 private:
  const MachineConfig& machine_;
  std::vector<std::uint64_t> cycles_;  // of each core
};

// Of the cluster that has the most.
std::uint64_t most_longer(const MachineConfig& machine, const workload::Workload& network,
                          const job::Schedule& schedule) {
  const schedule::Job job = job::make_job(machine, network, schedule);
  std::uint64_t most = 0;
  for (std::uint32_t cluster = 0; cluster < machine.clusters; ++cluster) {
    Longest longest(machine);
    schedule::Bus bus(job, cluster, longest);
    schedule::run_firmware(job, bus, cluster);
    most = std::max(most, longest.cycles());
  }
  return most;
}

workload::Workload small_layer(Random& r) {
  std::string text = "H=" + std::to_string(r.from(1, 4)) + ",E=" + std::to_string(r.of({8, 16, 17, 24, 32, 64}));
  const std::uint32_t queries = r.from(1, 96);
  text += r.one_in(2) ? ",N=" + std::to_string(queries) + (r.one_in(2) ? ",causal=1" : "")
                      : ",NQ=" + std::to_string(queries) + ",NKV=" + std::to_string(r.from(1, 160));
  return workload::load(text);
}

#ifdef ATTNVP_LONG
constexpr int kDraws = 12;
#else
constexpr int kDraws = 6;
#endif

class RtlCycles : public testing::TestWithParam<std::string> {};

TEST_P(RtlCycles, AreTheModelsAndTheCommandsOwn) {
  const std::vector<std::string> machines = {"edge", "edge", "edge-small", "edge-large", "cluster3"};
  std::uint32_t seed = 0;
  for (const char c : GetParam()) seed = 31 * seed + static_cast<unsigned char>(c);
  Random r(seed);
  for (int i = 0; i < kDraws; ++i) {
    MachineConfig machine = config::load_hardware(machines[r.from(0, 4)]);
    const workload::Workload network = i > 0 ? small_layer(r) : workload::load("H=3,N=17,E=16");
    job::Schedule schedule = job::parse_dataflow(GetParam());
    try {
      schedule = explore::tune({machine, network, schedule, config::load_energy(machine.energy)}, few_evaluations(24));
    } catch (const job::RunError&) {
      continue;
    }
    const std::uint64_t longer = most_longer(machine, network, schedule);
    std::vector<std::uint64_t> cycles;
    for (const char* kind : {"model", "rtl"}) {
      machine.vec.kind = kind;
      job::Runner runner(machine, config::load_energy(machine.energy), false);
      cycles.push_back(runner.run(network, schedule, nullptr, {}).cycles);
    }
    const std::string what = machine.name + " " + network.name() + ", " + std::to_string(longer) + " longer at most";
    EXPECT_GE(100 * cycles[1], 99 * cycles[0]) << what;
    EXPECT_LE(100 * cycles[1], 101 * cycles[0] + 100 * longer) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Dataflows, RtlCycles,
                         testing::Values("mas", "flat", "layerwise", "softpipe", "tileflow", "cascade", "fusemax",
                                         "lean", "flash-decoding", "flash2", "cascade:binding=serial",
                                         "fusemax:binding=serial"),
                         [](const auto& of) { return test_name(of.param); });

}  // namespace
}  // namespace attnvp::runs
