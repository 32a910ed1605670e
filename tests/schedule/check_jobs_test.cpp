// The checker and random delays on whole jobs: no false alarm on any dataflow, and whatever it passes gives the same
// bytes whatever takes how long.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "models/control/riscv_processor/program.h"
#include "models/sim/module.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/control/commands.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/programs.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/all_schedules.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

using runs::all_schedules;
using runs::Random;

std::string text_of(const schedule::check::Report& r) {
  std::string text;
  for (const schedule::check::Finding& f : r.findings) text += to_text(f) + "\n";
  return text;
}

schedule::check::Report check(const MachineConfig& machine, const workload::Workload& network,
                              const job::Schedule& schedule) {
  return schedule::check::check(job::make_job(machine, network, schedule), machine,
                                {job::result_bytes(network, schedule)});
}

// A machine, a layer and one of the schedules; whether that schedule fits.
struct RandomJob {
  explicit RandomJob(std::uint32_t number) {
    Random r(number * 2654435761U + 77);
    machine = runs::random_machine(r);
    network = runs::random_network(r);
    if (number % 2 == 1) runs::random_rules(r, network);
    config::check_machine(machine, {"random"});
    const std::vector<job::Schedule> schedules = all_schedules();
    const job::Schedule& open = schedules[r.from(0, static_cast<std::uint32_t>(schedules.size() - 1))];
    text = fmt::format("{} on B={},H={},NQ={},NKV={},E={}{}\n{}", open.text, network.batch, network.heads,
                       network.seq_q, network.seq_kv, network.emb, network.rules(), config::to_yaml(machine));
    try {
      schedule = runs::complete(machine, network, open);
      fits = true;
    } catch (const std::runtime_error&) {
    }
  }
  MachineConfig machine;
  workload::Attention network;
  job::Schedule schedule;
  std::string text;
  bool fits = false;
};

class CheckShipped : public testing::TestWithParam<const char*> {};

TEST_P(CheckShipped, RaisesNoFalseAlarm) {
  const MachineConfig machine = config::load_hardware(GetParam(), {});
  int checked = 0;
  for (const char* layer : {"H=2,N=196,E=64", "H=4,HKV=2,N=160,E=32,causal=1,window=100", "H=2,NQ=1,NKV=500,E=64"}) {
    const workload::Workload network = workload::load(layer);
    for (const job::Schedule& open : all_schedules()) {
      SCOPED_TRACE(open.text + " on " + layer);
      job::Schedule schedule;
      try {
        schedule = runs::complete(machine, network, open);
      } catch (const std::runtime_error&) {
        continue;
      }
      EXPECT_EQ(text_of(check(machine, network, schedule)), "");
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}
INSTANTIATE_TEST_SUITE_P(Machines, CheckShipped,
                         testing::Values("edge", "edge-small", "edge-large", "cluster3", "fusemax", "fusemax-baseline",
                                         "overwrite-v", "overwrite-k", "davinci"));

TEST(CheckSources, NamesTheDataflowsLine) {
  const MachineConfig machine = config::load_hardware("edge", {});
  const workload::Attention network = workload::load("H=2,N=196,E=64").attention();
  for (const char* dataflow : {"mas", "layerwise", "softpipe", "flat", "fusemax", "flash2"}) {
    const job::Schedule schedule = runs::complete(machine, network, job::parse_dataflow(dataflow));
    const schedule::Job made = job::make_job(machine, network, schedule);
    const auto no_wait = [](std::uint32_t, const schedule::Queue& queue, std::uint64_t number, hal::Descriptor& d) {
      if (queue.unit == schedule::Unit::kVec && number == 2) d.wait[0] = d.wait[1] = {0};
    };
    schedule::check::Report report = schedule::check::check_changed(made, machine, {}, no_wait);
    name_sources(report, made, machine);
    ASSERT_FALSE(report.findings.empty()) << dataflow;
    for (const schedule::check::Party& p : report.findings.front().parties) {
      if (p.number > 0) {
        EXPECT_EQ(p.source.rfind("firmware/dataflows/", 0), 0U) << to_text(report.findings.front());
      }
    }
  }
}

// Of a schedule without its processor's last wait: the result that is not waited for.
schedule::check::Finding unfinished(const schedule::Job& made, const MachineConfig& machine, std::uint64_t bytes) {
  std::uint64_t last = 0;
  const auto find_last_take = [&](std::uint32_t, std::uint64_t n, bool take, std::uint32_t&, std::uint32_t&) {
    if (take) last = n;
  };
  const auto drop = [&](std::uint32_t, std::uint64_t n, bool, std::uint32_t&, std::uint32_t& tokens) {
    if (n == last) tokens = 0;
  };
  schedule::check::check_changed(made, machine, {}, {}, find_last_take);
  schedule::check::Report report = schedule::check::check_changed(made, machine, {bytes}, {}, drop);
  name_sources(report, made, machine);
  for (const schedule::check::Finding& f : report.findings) {
    if (f.kind == schedule::check::FindingKind::kUnfinished) return f;
  }
  return {};
}

TEST(CheckSources, NamesStoresThatNobodyWaitsFor) {
  MachineConfig machine = config::load_hardware("edge", {"control.cpu=riscv"});
  const workload::Attention network = workload::load("H=2,N=96,E=32").attention();
  for (const bool program : {false, true}) {  // this process' own firmware, or that in an ELF file
    auto& control = machine.own<RiscvConfig>();
    if (program && !riscv::program_problem(control).empty()) GTEST_SKIP() << "no firmware for RISC-V is built";
    if (program) control.firmware = riscv::program_path(control);
    const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
    for (const char* dataflow : {"mas", "softpipe", "flash2"}) {
      const job::Schedule schedule = runs::complete(machine, network, job::parse_dataflow(dataflow, firmware));
      const schedule::check::Finding f =
          unfinished(job::make_job(machine, network, schedule), machine, job::result_bytes(network, schedule));
      ASSERT_EQ(f.kind, schedule::check::FindingKind::kUnfinished) << dataflow;
      EXPECT_EQ(f.parties[0].source.rfind("firmware/dataflows/", 0), 0U) << to_text(f);
    }
  }
}

// All tokens that firmware waits for come from other stores; the last one waits for one that nobody gives.
TEST(Run, EndsInAnErrorWhereCommandsAreLeftOver) {
  const MachineConfig machine = config::load_hardware("edge", {});
  const workload::Attention network = workload::load("H=2,N=96,E=32").attention();
  const job::Schedule schedule = runs::complete(machine, network, job::parse_dataflow("mas"));
  std::uint64_t stores = 0;
  const auto is_store = [](const schedule::Queue& q) { return q.unit == schedule::Unit::kDma && q.index == 1; };
  const schedule::Job made = job::make_job(machine, network, schedule);
  schedule::check::check_changed(made, machine, {},
                                 [&](std::uint32_t, const schedule::Queue& q, std::uint64_t n, hal::Descriptor&) {
                                   stores = is_store(q) ? n : stores;
                                 });
  const auto change = [&](std::uint32_t, const schedule::Queue& q, std::uint64_t n, hal::Descriptor& d) {
    if (!is_store(q)) return;
    for (hal::EventRef& signal : d.signal) {  // the one before gives two of each
      if (n + 1 == stores) signal = hal::event_ref(signal.first(), signal.span(), 2 * signal.tokens());
    }
    if (n == stores) d.wait[hal::kWaits - 1] = hal::event_ref(machine.events.events - 1, 1, 1);
  };
  ASSERT_GT(stores, 1U);
  runs::Runner runner(machine, config::load_energy("fusemax-45nm"), false);
  const job::CommandTap tap(runner.platform(), made, {}, change);
  try {
    runner.run(network, schedule, nullptr, {});
    FAIL() << "it counts as done";
  } catch (const job::StoppedError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("commands still wait"), std::string::npos) << what;
    EXPECT_NE(what.find(fmt::format("waits for event {}", machine.events.events - 1)), std::string::npos) << what;
  }
}

// What GPUs' thread blocks do with tiles that are not whole.
TEST(CheckGrid, RaisesNoAlarm) {
  for (const char* hw : {"edge", "cluster3"}) {
    const MachineConfig machine = config::load_hardware(hw, {});
    for (const char* layer : {"H=3,N=77,E=16,causal=1", "H=4,HKV=2,NQ=1,NKV=333,E=64", "H=2,N=200,E=64,window=50"}) {
      const workload::Workload network = workload::load(layer);
      for (const char* dataflow : {"flash2", "flash3", "flash-decoding"}) {
        for (const char* more : {"share=2", "share=3,kernels=2", "kernels=1"}) {
          const job::Schedule schedule =
              runs::complete(machine, network, job::parse_dataflow(fmt::format("{}:grid=blocks,{}", dataflow, more)));
          EXPECT_EQ(text_of(check(machine, network, schedule)), "") << schedule.text << " on " << layer << ", " << hw;
        }
      }
    }
  }
}

// Workers that merge several heads, of which their last tiles may be none.
TEST(CheckMerges, RaiseNoAlarm) {
  const MachineConfig machine = config::load_hardware("cluster3", {"clusters=2", "cores=2"});
  for (const auto& [layer, dataflow, nkv] : {std::tuple{"H=6,NQ=64,NKV=64,E=16", "flash-decoding:share=2", 16},
                                             {"H=6,NQ=32,NKV=77,E=16", "flash-decoding:share=2", 16},
                                             {"H=3,NQ=48,NKV=53,E=16", "flash-decoding:kernels=2", 2}}) {
    const workload::Workload network = workload::load(layer);
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling.set("nkv", static_cast<std::uint32_t>(nkv));
    schedule.tiling.set("kv", 1);
    schedule = runs::complete(machine, network, schedule);
    EXPECT_EQ(text_of(check(machine, network, schedule)), "") << layer;
  }
}

// A cluster whose rows need only the first keys loads the rest of K and V as well, and gives the space back.
TEST(CheckUnread, LoadsAreWaitedFor) {
  const MachineConfig machine = config::load_hardware("cluster3", {});
  for (const auto& [dataflow, layer, tiling] : {std::tuple{"softpipe", "H=1,N=6,E=16,causal=1", "nq=1,nkv=1"},
                                                {"layerwise", "H=1,N=48,E=16,causal=1", "nq=8,nkv=1"},
                                                {"layerwise", "H=1,N=48,E=16,causal=1", "nq=16,nkv=1,np=8,kv=1"},
                                                {"flat:overlap=on", "H=1,N=48,E=16,causal=1", "nq=16,nkv=1,np=8"},
                                                {"softpipe", "H=1,N=48,E=16,window=1", "nq=8,nkv=1"}}) {
    const workload::Workload network = workload::load(layer);
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling = job::parse_tiling(tiling);
    schedule = runs::complete(machine, network, schedule);
    EXPECT_EQ(text_of(check(machine, network, schedule)), "") << dataflow << " on " << layer;
  }
}

// What mas's guard would do with less space is not what its buffers take where there is enough; one cluster has no
// rows, and the first commands, which append to the cache, come before any buffer.
TEST(CheckHeld, TakesTheBuffersThatAreMade) {
  const MachineConfig machine = config::load_hardware("cluster3", {});
  for (const char* layer : {"H=2,NQ=1,NKV=23,E=64,causal=1,history=22", "H=2,NQ=1,NKV=23,E=64"}) {
    const workload::Workload network = workload::load(layer);
    job::Schedule schedule = job::parse_dataflow("mas");
    schedule.tiling = job::parse_tiling("nq=1,nkv=16,kv=1,rb=1");
    schedule = runs::complete(machine, network, schedule);
    EXPECT_EQ(text_of(check(machine, network, schedule)), "") << layer;
  }
}

// A GEMM, a softmax of scores that the host has made, a pair of GEMMs.
TEST(CheckSteps, RaiseNoAlarm) {
  for (const auto& [layer, dataflow] : {std::tuple{"gemm:300x200x500", "gemm"},
                                        {"gemm:64x300x70", "gemm-panels"},
                                        {"softmax:64x300", "softmax-rows"},
                                        {"softmax:33x17", "softmax-rows"},
                                        {"gemm:60x50x300,type=int8", "gemm"},
                                        {"gemm:60x50x300,type=bf16", "gemm"},
                                        {"layernorm:64x300", "rows"},
                                        {"layernorm:1x7", "rows"},
                                        {"rmsnorm:500x40", "rows"},
                                        {"add:64x300", "rows"},
                                        {"gelu:33x17", "rows"},
                                        {"swiglu:90x170", "rows"},
                                        {"rope:64x96x32", "rows"},
                                        {"H=1,NQ=100,NKV=90,E=48,softmax=none", "chain"}}) {
    for (const char* hw : {"edge", "cluster3"}) {
      const MachineConfig machine = config::load_hardware(hw, {});
      const workload::Workload network = workload::load(layer);
      const job::Schedule schedule = runs::complete(machine, network, job::parse_dataflow(dataflow));
      EXPECT_EQ(text_of(check(machine, network, schedule)), "") << layer << " on " << hw;
    }
  }
}

// Of a ring of tiles' sums, one softmax leaves its denominators in the place of the tile behind: the sums that are
// added are of two tiles, and the result is a little off.
TEST(CheckScales, FindsDenominatorsOfAnotherTile) {
  const MachineConfig machine = config::load_hardware("cluster3", {"l1.size=128KiB"});
  const workload::Attention network = workload::load("H=2,NQ=1,NKV=300,E=16").attention();
  job::Schedule schedule = job::parse_dataflow("cascade");
  schedule.tiling = job::parse_tiling("nkv=16");
  schedule = runs::complete(machine, network, schedule);
  std::uint64_t moved = 0;  // the number of the command
  std::uint32_t cluster = 0;
  const schedule::check::CommandMutation move = [&](std::uint32_t c, const schedule::Queue& q, std::uint64_t n,
                                                    hal::Descriptor& d) {
    if (q.unit != schedule::Unit::kVec || q.index != 0 || d.opcode != hal::Opcode::kOnlineSoftmax) return;
    if (n > 20 && moved == 0) moved = n, cluster = c;
    if (n == moved && c == cluster) d.operand[3].address += 2 * std::uint64_t{d.operand[3].row_stride};
  };
  const schedule::check::Report report =
      schedule::check::check_changed(job::make_job(machine, network, schedule), machine, {}, move);
  ASSERT_GT(moved, 0U);
  EXPECT_NE(text_of(report).find("the denominators are of another tile than the numerators"), std::string::npos)
      << text_of(report);
}

#ifdef ATTNVP_LONG
const auto kShards = testing::Range(3U, 63U);
#else
const auto kShards = testing::Range(0U, 3U);
#endif

class CheckRandom : public testing::TestWithParam<std::uint32_t> {};

TEST_P(CheckRandom, RaisesNoFalseAlarm) {
  int checked = 0;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const RandomJob one(GetParam() * 40 + i);
    if (!one.fits) continue;
    SCOPED_TRACE(fmt::format("case {}: {}", GetParam() * 40 + i, one.text));
    EXPECT_EQ(text_of(check(one.machine, one.network, one.schedule)), "");
    ++checked;
    if (HasFailure()) return;
  }
  EXPECT_GE(checked, 10);
}
INSTANTIATE_TEST_SUITE_P(Random, CheckRandom, kShards);

class JitterRandom : public testing::TestWithParam<std::uint32_t> {};

TEST_P(JitterRandom, ChangesTimeAndNothingElse) {
  int changed = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const RandomJob one(1000 + GetParam() * 8 + i);
    if (!one.fits) continue;
    SCOPED_TRACE(fmt::format("case {}: {}", 1000 + GetParam() * 8 + i, one.text));
    const job::Tensors tensors = job::random_tensors(one.network, 3);
    runs::Runner runner(one.machine, config::load_energy("fusemax-45nm"), true);
    const job::RunResult plain = runner.run(one.network, one.schedule, &tensors, {});
    ASSERT_TRUE(plain.golden.passed);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      std::uint64_t cycles = 0;
      for (int again = 0; again < 2; ++again) {
        Context& context = runner.platform().context();
        context.jitter = std::make_unique<Jitter>(seed, context.clock.period_fs());
        const job::RunResult r = runner.run(one.network, one.schedule, &tensors, {});
        context.jitter.reset();
        EXPECT_TRUE(r.golden.passed) << "seed " << seed;
        EXPECT_TRUE(r.output == plain.output) << "seed " << seed;
        EXPECT_TRUE(again == 0 || r.cycles == cycles) << "seed " << seed << " takes another time the second time";
        cycles = r.cycles;
      }
      changed += cycles != plain.cycles ? 1 : 0;
    }
    EXPECT_EQ(runner.run(one.network, one.schedule, &tensors, {}).cycles, plain.cycles);
    if (HasFailure()) return;
  }
  EXPECT_GE(changed, 5);
}
INSTANTIATE_TEST_SUITE_P(Random, JitterRandom, kShards);

}  // namespace
}  // namespace attnvp
