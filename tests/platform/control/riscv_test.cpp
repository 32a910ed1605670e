// Control processors of kind `riscv` beside `native`: the same commands, the same output, and time of their own.
#include "models/control/riscv_processor/riscv_processor.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/report/report.h"
#include "tests/platform/control/riscv_runs.h"

namespace attnvp {
namespace {

using runs::machine_with;
using runs::run_job;

struct Case {
  const char* hardware;
  const char* dataflow;
  const char* network;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.hardware << " " << c.dataflow << " " << c.network; }

class EveryDataflow : public testing::TestWithParam<Case> {};

TEST_P(EveryDataflow, GivesEnginesTheSameDescriptors) {
  ATTNVP_NEEDS_RISCV();
  const Case& c = GetParam();
  const auto native = run_job(machine_with(c.hardware, {}), c.network, c.dataflow);
  const auto riscv = run_job(machine_with(c.hardware, {"control.cpu=riscv"}), c.network, c.dataflow, true,
                             native.result.schedule.tiling);
  EXPECT_TRUE(riscv.result.golden.passed);
  EXPECT_EQ(native.descriptors, riscv.descriptors);
  EXPECT_EQ(native.result.output, riscv.result.output);
  EXPECT_EQ(native.result.statistics, riscv.result.statistics);
  EXPECT_GT(riscv.result.sum("cpu", "instructions"), 0U);
  EXPECT_GE(riscv.result.sum("cpu", "hart_cycles"), riscv.result.sum("cpu", "instructions"));
}

INSTANTIATE_TEST_SUITE_P(
    Riscv, EveryDataflow,
    testing::Values(Case{"edge", "layerwise", "H=3,N=96,E=32"}, Case{"edge", "softpipe", "H=3,N=96,E=32"},
                    Case{"edge", "layerwise:spills=fusemax", "H=3,N=96,E=32"}, Case{"edge", "flat", "H=3,N=96,E=32"},
                    Case{"edge", "flat:prefetch=off", "H=3,N=96,E=32"},
                    Case{"edge", "flat:overlap=on", "H=3,N=96,E=32"}, Case{"edge", "tileflow", "H=3,N=96,E=32"},
                    Case{"edge", "tileflow:row_blocks=8", "H=3,N=96,E=32"}, Case{"edge", "mas", "H=3,N=96,E=32"},
                    Case{"edge", "cascade", "H=3,N=96,E=32"}, Case{"edge", "cascade:binding=serial", "H=3,N=96,E=32"},
                    Case{"fusemax", "fusemax", "H=2,N=512,E=64"},
                    Case{"fusemax", "fusemax:binding=serial", "H=2,N=512,E=64"},
                    Case{"fusemax", "fusemax:binding=serial,sums=fusemax", "H=2,N=512,E=64"},
                    Case{"edge", "lean", "H=3,N=96,E=32"}, Case{"cluster3", "lean", "H=5,NQ=1,NKV=700,E=32"},
                    Case{"cluster3", "flash-decoding", "H=5,NQ=1,NKV=700,E=32"},
                    Case{"cluster3", "flash2", "H=5,NQ=1,NKV=700,E=32"}, Case{"cluster3", "mas", "H=5,N=96,E=32"}),
    [](const auto& of) { return runs::test_name(std::string(of.param.hardware) + "_" + of.param.dataflow); });

INSTANTIATE_TEST_SUITE_P(
    RiscvSteps, EveryDataflow,
    testing::Values(Case{"edge", "rows", "layernorm:60x768"}, Case{"cluster3", "rows", "rmsnorm:50x300"},
                    Case{"edge", "rows", "add:60x200"}, Case{"cluster3", "rows", "swiglu:30x500"},
                    Case{"edge", "rows", "rope:40x256x64"}, Case{"edge", "softmax-rows", "softmax:60x200"},
                    Case{"edge", "gemm", "gemm:60x70x300"}, Case{"edge", "gemm", "gemm:60x70x300,type=int8"}),
    [](const auto& of) { return runs::test_name(std::string(of.param.hardware) + "_" + of.param.network); });

TEST(Riscv, ResultsDoNotDependOnTheQuantum) {
  ATTNVP_NEEDS_RISCV();
  for (const char* hardware : {"edge", "cluster3"}) {
    const auto small =
        run_job(machine_with(hardware, {"control.cpu=riscv", "control.quantum=1"}), "H=3,N=64,E=16", "mas", false);
    const auto large = run_job(machine_with(hardware, {"control.cpu=riscv", "control.quantum=1000000"}),
                               "H=3,N=64,E=16", "mas", false);
    runs::expect_same_counts(small.result, large.result);
  }
}

TEST(Riscv, EveryInstructionIsPricedByItsClass) {
  ATTNVP_NEEDS_RISCV();
  const MachineConfig machine = machine_with("edge-16nm", {"control.cpu=riscv"});
  const auto run = run_job(machine, "H=3,N=96,E=32", "mas", false);
  const config::EnergyTable table = energy::resolved(config::load_energy(machine.energy), machine);
  const std::pair<const char*, const char*> classes[] = {{"alu_instructions", "alu"},
                                                         {"multiplies", "multiply"},
                                                         {"divides", "divide"},
                                                         {"loads", "load"},
                                                         {"stores", "store"},
                                                         {"branches", "branch"},
                                                         {"system_instructions", "system"}};
  std::uint64_t instructions = 0;
  double pj = static_cast<double>(run.result.sum("cpu", "bus_bytes")) * table.pj("attnvp.control", "bus_byte", 0);
  for (const auto& [counter, action] : classes) {
    const std::uint64_t count = run.result.sum("cpu", counter);
    instructions += count;
    pj += static_cast<double>(count) * table.pj("attnvp.control", action, 0);
  }
  EXPECT_EQ(instructions, run.result.sum("cpu", "instructions"));
  EXPECT_NEAR(run.result.energy_pj("control"), pj, 1e-9 * pj);
  EXPECT_NE(report::actions_text(run.result).find("\nmultiply"), std::string::npos);
  EXPECT_EQ(report::actions_text(run_job(machine_with("edge-16nm", {}), "H=3,N=96,E=32", "mas", false).result), "");
  const auto price = [&](const char* action) { return table.pj("attnvp.control", action, 0); };
  EXPECT_LT(price("system"), price("alu"));
  EXPECT_LT(price("alu"), price("multiply"));
  EXPECT_LT(price("multiply"), price("divide"));
  EXPECT_LT(price("alu"), price("load"));
}

TEST(Riscv, ThePushUnitsWidthChangesTimeNotCommands) {
  ATTNVP_NEEDS_RISCV();
  const auto wide = run_job(machine_with("edge", {"control.cpu=riscv"}), "H=3,N=64,E=16", "mas");
  const auto narrow = run_job(machine_with("edge", {"control.cpu=riscv", "control.push_width=4 B"}), "H=3,N=64,E=16",
                              "mas", true, wide.result.schedule.tiling);
  EXPECT_EQ(wide.descriptors, narrow.descriptors);
  EXPECT_TRUE(narrow.result.golden.passed);
  // 128 bytes in 32 cycles instead of 8, in which the hart stalls.
  EXPECT_GE(narrow.result.sum("cpu", "hart_stalls"),
            wide.result.sum("cpu", "hart_stalls") + 24 * wide.result.sum("cpu", "doorbells"));
}

TEST(Riscv, ACommandTakesFewInstructions) {
  ATTNVP_NEEDS_RISCV();
  const job::Tiling tiling = job::parse_tiling("bb=1,hh=1,nq=128,nkv=512,kv=2,rb=2");
  const auto run = run_job(machine_with("edge", {"control.cpu=riscv"}), "bert-base", "mas", false, tiling);
  EXPECT_LT(run.result.sum("cpu", "instructions"), 350 * run.result.sum("cpu", "doorbells"));
}

// Slow control makes commands in another order, of several strips, sub-blocks and rounds; no queue notices. (Where K
// and V are streamed, rows of Q stand between them as the queue has room: an order that depends on time.)
TEST(Riscv, EveryQueueGetsItsCommandsInTheSameOrder) {
  ATTNVP_NEEDS_RISCV();
  struct {
    const char *network, *dataflow, *tiling;
  } const cases[] = {{"H=3,N=300,E=32", "mas", "bb=1,hh=1,nq=160,nkv=128,m0=32,n0=32,k0=32,kv=2,rb=2"},
                     {"H=4,N=256,E=32", "mas", "bb=1,hh=1,nq=256,nkv=256,m0=16,n0=32,k0=32,kv=1,rb=2"},
                     {"H=3,N=96,E=32", "layerwise:spills=fusemax",
                      "bb=1,hh=1,nq=32,nkv=40,m0=32,n0=32,k0=32,kv=2,rb=2,np=8,tb=2,sb=2"},
                     {"H=4,N=256,E=32,causal=1", "mas", "bb=1,hh=1,nq=64,nkv=64,m0=32,n0=32,k0=32,kv=2,rb=2"},
                     {"H=3,N=300,E=32", "flat", "bb=1,hh=1,nq=160,nkv=128,m0=32,n0=32,k0=32,kv=2,rb=2"}};
  for (const auto& c : cases) {
    const job::Tiling tiling = job::parse_tiling(c.tiling);
    const auto native = run_job(machine_with("edge", {}), c.network, c.dataflow, true, tiling);
    const auto riscv = run_job(machine_with("edge", {"control.cpu=riscv"}), c.network, c.dataflow, true, tiling);
    EXPECT_TRUE(riscv.result.golden.passed) << c.network << " " << c.tiling;
    EXPECT_TRUE(native.descriptors == riscv.descriptors) << c.network << " " << c.tiling;
  }
}

// By command lists. The same tiles for both: what is compared is control, not what is chosen for it.
TEST(Riscv, ControlAtOneGigahertzLosesLittle) {
  ATTNVP_NEEDS_RISCV();
  const auto cycles = [](std::vector<std::string> settings, const std::string& network) {
    const job::Tiling tiling =
        job::parse_tiling(network == "bert-base" ? "bb=1,hh=1,nq=128,nkv=256,m0=32,n0=32,k0=64,kv=2,rb=4"
                                                 : "bb=1,hh=1,nq=196,nkv=196,m0=32,n0=32,k0=64,kv=2,rb=4");
    return static_cast<double>(run_job(machine_with("edge", settings), network, "mas", false, tiling).result.cycles);
  };
  const auto loss = [&](const char* network) {
    return cycles({"control.cpu=riscv", "control.clock=1 GHz", "control.lists=true"}, network) / cycles({}, network) -
           1;
  };
  EXPECT_LT(loss("bert-base"), 0.02);
  EXPECT_LT(loss("vit-l-14"), 0.02);
}

TEST(Riscv, ItsClockIsItsOwn) {
  ATTNVP_NEEDS_RISCV();
  std::uint64_t last = 0;
  for (const char* clock : {"control.clock=4 GHz", "control.clock=1 GHz", "control.clock=250 MHz"}) {
    const auto run = run_job(machine_with("edge", {"control.cpu=riscv", clock}), "H=3,N=64,E=16", "mas", false);
    EXPECT_GT(run.result.cycles, last) << clock;
    last = run.result.cycles;
  }
}

// Where commands cost the processor time, tiles are chosen so that there are fewer.
TEST(Riscv, TilesAreChosenForWhatControlCosts) {
  ATTNVP_NEEDS_RISCV();
  const MachineConfig slow = machine_with("edge", {"control.cpu=riscv", "control.clock=500 MHz"});
  const auto native = run_job(machine_with("edge", {}), "bert-base", "mas", false);
  const auto chosen = run_job(slow, "bert-base", "mas", false);
  const auto as_native = run_job(slow, "bert-base", "mas", false, native.result.schedule.tiling);
  EXPECT_LT(chosen.result.cycles, as_native.result.cycles);
  EXPECT_LT(chosen.result.sum("cpu", "accesses"), as_native.result.sum("cpu", "accesses"));
}

TEST(Riscv, TimingModeTakesTheSameTime) {
  ATTNVP_NEEDS_RISCV();
  const MachineConfig machine = machine_with("edge", {"control.cpu=riscv"});
  const auto full = run_job(machine, "H=3,N=64,E=16", "mas", true);
  const auto timing = run_job(machine, "H=3,N=64,E=16", "mas", false);
  runs::expect_same_counts(full.result, timing.result);
}

TEST(Riscv, WhatDoesNotFitIsRefused) {
  ATTNVP_NEEDS_RISCV();
  for (const char* setting : {"control.itcm=1 KiB", "control.dtcm=4 KiB", "control.firmware=nothing.elf"}) {
    EXPECT_THROW(machine_with("edge", {"control.cpu=riscv", setting}), config::ConfigError) << setting;
    EXPECT_NO_THROW(machine_with("edge", {setting})) << setting;
  }
}

}  // namespace
}  // namespace attnvp
