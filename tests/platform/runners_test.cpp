// Several platforms of different machines in one process: each gives the results that it gives alone.
#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/tuning/tuner.h"
#include "firmware/runtime/dataflow.h"
#include "models/control/riscv_processor/program.h"
#include "platform/run/beside.h"
#include "platform/run/platform.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/programs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

// A job on a machine of its own, with random delays of a seed, or none.
struct Case {
  std::string hardware;
  std::vector<std::string> keys;
  std::string network, dataflow;
  std::uint64_t seed = 0;

  MachineConfig machine() const { return config::load_hardware(hardware, keys); }
  workload::Workload layer() const { return workload::load(network); }
  job::Schedule schedule() const {
    return explore::first_fit(
        {machine(), layer(), job::parse_dataflow(dataflow, schedule::firmware_of(machine())), {}});
  }
};

// The shipped firmware as a file of the user's, which tells its dataflows itself.
std::string program() { return riscv::program_path(RiscvConfig()); }

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"edge", {}, "H=3,N=128,E=64", "mas"},
      {"cluster3", {"clock=1 GHz", "dram.policy=banked", "dram.part=lpddr4-3200"}, "H=5,N=96,E=32", "flat", 3},
      {"edge-large", {"simulation.run_ahead=off", "interconnect.kind=mesh"}, "H=4,N=160,E=48", "fusemax", 8},
  };
  if (riscv::program_problem(RiscvConfig()).empty()) {
    all.push_back({"edge-large", {"control.cpu=riscv"}, "H=4,N=64,E=64", "softpipe"});
    all.push_back({"edge", {"control.cpu=riscv", "control.firmware=" + program()}, "H=2,N=64,E=32", "mas"});
  }
  return all;
}

void set_jitter(Platform& platform, std::uint64_t seed) {
  Context& context = platform.context();
  if (seed != 0) context.jitter = std::make_unique<Jitter>(seed, context.clock.period_fs());
}

// Two jobs after each other, step by step.
class Sequence {
 public:
  explicit Sequence(const Case& of)
      : layer_(of.layer()),
        schedule_(of.schedule()),
        tensors_(job::random_tensors(layer_, 5)),
        runner_(of.machine(), config::load_energy("fusemax-45nm"), true) {
    set_jitter(runner_.platform(), of.seed);
  }
  job::RunResult run() { return runner_.run(layer_, schedule_, &tensors_, {}); }

 private:
  workload::Workload layer_;
  job::Schedule schedule_;
  job::Tensors tensors_;
  job::Runner runner_;
};

void expect_equal(const job::RunResult& a, const job::RunResult& b) {
  expect_same_counts(a, b);
  EXPECT_TRUE(a.output == b.output);
  EXPECT_TRUE(a.golden.passed);
  EXPECT_TRUE(b.golden.passed);
}

TEST(Runners, UsedInTurnsGiveTheResultsOfEachAlone) {
  std::vector<std::vector<job::RunResult>> alone;
  for (const Case& c : cases()) {
    Sequence sequence(c);
    alone.push_back({sequence.run(), sequence.run()});
  }
  std::vector<std::unique_ptr<Sequence>> together;
  for (const Case& c : cases()) together.push_back(std::make_unique<Sequence>(c));
  for (std::size_t round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < together.size(); ++i) {
      SCOPED_TRACE(fmt::format("case {}, round {}", i, round));
      expect_equal(together[i]->run(), alone[i][round]);
    }
    if (round == 0) {
      std::swap(together.front(), together.back());
      std::swap(alone.front(), alone.back());
    }
  }
  together.front().reset();  // not in the order in which they were made
}

TEST(Runners, CycleLimitsBelongToTheRun) {
  const Case c = cases().front();
  MachineConfig limited = c.machine();
  limited.simulation.max_cycles = 1000;
  const workload::Workload layer = c.layer();
  job::RunOptions options;
  options.full_data = false;
  job::Runner few(limited, config::load_energy("fusemax-45nm"), false);
  job::Runner all(c.machine(), config::load_energy("fusemax-45nm"), false);
  try {
    few.run(layer, c.schedule(), nullptr, options);
    FAIL() << "no limit";
  } catch (const job::RunError& e) {
    EXPECT_NE(std::string(e.what()).find("has not ended after 1000 cycles"), std::string::npos) << e.what();
  }
  options.most_cycles = 2000;
  job::Runner once(c.machine(), config::load_energy("fusemax-45nm"), false);
  EXPECT_THROW(once.run(layer, c.schedule(), nullptr, options), job::RunError);
  EXPECT_GT(all.run(layer, c.schedule(), nullptr, {}).cycles, 2000U);
}

// The phase of a network's own clock at the start of a job is that of the first job.
TEST(Runners, GiveEveryJobOfANetworkWithItsOwnClockTheSameCycles) {
  for (const char* kind : {"crossbar", "mesh"}) {
    const Case c{"cluster3",
                 {"clock=1.05 GHz", std::string("interconnect.kind=") + kind, "interconnect.clock=1172 MHz"},
                 "H=5,N=96,E=32",
                 "flat"};
    job::Runner runner(c.machine(), config::load_energy(c.machine().energy), false);
    const std::uint64_t first = runner.run(c.layer(), c.schedule(), nullptr, {}).cycles;
    for (int i = 0; i < 6; ++i) EXPECT_EQ(runner.run(c.layer(), c.schedule(), nullptr, {}).cycles, first) << kind;
  }
}

// A hart with a clock of its own ends between two edges of the platform's clock; the next job waits for an edge.
TEST(Runners, GiveEveryJobOfAHartWithItsOwnClockTheSameCycles) {
  if (!riscv::program_problem(RiscvConfig()).empty()) GTEST_SKIP() << "no firmware for RISC-V is built";
  for (const char* clock : {"control.clock=1.3 GHz", "control.clock=333 MHz"}) {
    const Case c{"edge", {"control.cpu=riscv", clock}, "H=2,N=96,E=32", "mas"};
    job::Runner runner(c.machine(), config::load_energy(c.machine().energy), false);
    const std::uint64_t first = runner.run(c.layer(), c.schedule(), nullptr, {}).cycles;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(runner.run(c.layer(), c.schedule(), nullptr, {}).cycles, first) << clock;
  }
}

TEST(Firmware, BelongsToTheMachine) {
  if (!riscv::program_problem(RiscvConfig()).empty()) GTEST_SKIP() << "no firmware for RISC-V is built";
  const MachineConfig own = config::load_hardware("edge", {"control.cpu=riscv", "control.firmware=" + program()});
  const MachineConfig native = config::load_hardware("edge", {});
  const workload::Attention layer = workload::load("H=2,N=64,E=32").attention();
  for (const MachineConfig* machine : {&native, &own, &native}) {
    const schedule::FirmwareImage& firmware = schedule::firmware_of(*machine);
    EXPECT_EQ(firmware.is_program(), machine == &own);
    const job::Schedule s = explore::first_fit({*machine, layer, job::parse_dataflow("weave", firmware), {}});
    EXPECT_EQ(&s.tiling.firmware(), &firmware);
    EXPECT_EQ(job::make_job(*machine, layer, s).image, &firmware);
    EXPECT_FALSE(job::tiling_line(s.tiling).empty());
    MachineConfig limited = *machine;  // the limit of a program that is run at once
    limited.simulation.max_cycles = 10;
    const auto run = [&] { schedule::count(job::make_job(limited, layer, s), limited); };
    if (machine == &own) {
      EXPECT_THROW(run(), riscv::ProgramError);
    } else {
      EXPECT_NO_THROW(run());
    }
  }
  EXPECT_EQ(&schedule::firmware_of(own), &schedule::firmware_of(own));
}

// A platform in SystemC's current simulation, with a job at its place.
class Placement {
 public:
  Placement(const std::string& name, const Case& of, std::uint64_t max_cycles)
      : machine_(of.machine()), layer_(of.layer()), schedule_(of.schedule()) {
    machine_.simulation.max_cycles = max_cycles;
    platform_ = std::make_unique<Platform>(name.c_str(), machine_, false, firmware::boot);
    set_jitter(*platform_, of.seed);
    placed_.emplace(*platform_, Partition{}, machine_, layer_, schedule_, nullptr);
  }
  Platform& platform() { return *platform_; }
  void start() {
    for (const auto& cluster : platform_->clusters) cluster->cpu->start();
  }
  job::RunResult result() {
    job::RunResult r;
    const std::uint32_t clusters = machine_.clusters;
    for (std::uint32_t c = 0; c < clusters; ++c) r.cycles = std::max(r.cycles, platform_->cycles_of(c));
    r.counters = job::read_counters(platform_->modules(), energy_, machine_.technology, r.cycles);
    placed_->read_answers(r);
    return r;
  }

 private:
  MachineConfig machine_;
  workload::Workload layer_;
  job::Schedule schedule_;
  config::EnergyTable energy_ = config::load_energy("fusemax-45nm");
  std::unique_ptr<Platform> platform_;
  std::optional<job::Placed> placed_;
};

// A simulation of its own for platforms that are put into it.
struct Kernel {
  job::Elaborated host{config::load_hardware("edge", {}), false};
};

// Two module trees in one kernel, whose events are at interleaved times.
TEST(Platforms, OfOneKernelGiveTheResultsOfEachAlone) {
  const std::vector<Case> all = cases();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Case &a = all[i], &b = all[(i + 1) % all.size()];
    SCOPED_TRACE(fmt::format("{} and {}", a.hardware, b.hardware));
    const auto alone = [](const std::string& name, const Case& of) {
      const Kernel kernel;
      Placement one(name, of, 0);
      one.platform().run();
      return one.result();
    };
    const job::RunResult first = alone("first", a), second = alone("second", b);
    const Kernel kernel;
    Placement one("first", a, 0), two("second", b, 0), short_lived("third", a, 500);
    two.start();
    short_lived.start();
    one.platform().run();
    EXPECT_EQ(one.result().cycles, first.cycles);
    EXPECT_EQ(two.result().cycles, second.cycles);
    expect_same_counts(one.result(), first);
    expect_same_counts(two.result(), second);
    EXPECT_TRUE(short_lived.platform().context().faults.any());
  }
}

}  // namespace
}  // namespace attnvp::runs
