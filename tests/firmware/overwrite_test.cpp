// The proactive overwrite of MAS-Attention section 4.3: exact results, reads that are accounted for, both cases.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

job::RunResult run_overwrite(const MachineConfig& machine, const std::string& net, const std::string& tiling, bool full,
                             const std::string& dataflow = "mas:overwrite=on") {
  const workload::Attention network = workload::load(net).attention();
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = job::parse_tiling(tiling);
  runs::Runner runner(machine, config::load_energy(machine.energy), full, runs::few_evaluations(24));
  job::Tensors tensors;
  if (full) tensors = job::random_tensors(network, 7);
  return runner.run(network, schedule, full ? &tensors : nullptr, {});
}

std::uint64_t tensor_bytes(const workload::Attention& n) {
  return std::uint64_t{n.batch} * n.heads * n.emb * (n.seq_q + 2 * std::uint64_t{n.seq_kv}) * 2;
}

void expect_accounted_for(const job::RunResult& r) {
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  EXPECT_EQ(r.sum("dram", "read_words") * 2,
            tensor_bytes(r.network.attention()) + r.statistic("overwrites.reload_bytes"));
  // What gave way comes back, unless another head's comes next anyway.
  EXPECT_LE(r.statistic("overwrites.reload_bytes"), (r.statistic("overwrites.k") + r.statistic("overwrites.v")) *
                                                        r.network.extents().seq_kv * r.network.extents().emb * 2);
  EXPECT_EQ(r.statistic("overwrites.count"), r.statistic("overwrites.k") + r.statistic("overwrites.v"));
}

TEST(Overwrite, TakesV) {
  const job::RunResult r = run_overwrite(config::load_hardware("overwrite-v"), "H=2,N=512,E=64",
                                         "bb=1,hh=1,nq=64,nkv=64,m0=32,n0=32,k0=16,kv=1,rb=1", true);
  expect_accounted_for(r);
  EXPECT_GT(r.statistic("overwrites.v"), 0U);
  EXPECT_LE(r.statistic("overwrites.k"), 1U);  // when there is no C to come
}

TEST(Overwrite, TakesK) {
  const job::RunResult r = run_overwrite(config::load_hardware("overwrite-k"), "H=2,N=512,E=64",
                                         "bb=1,hh=1,nq=64,nkv=64,m0=32,n0=32,k0=32,kv=1,rb=1", true);
  expect_accounted_for(r);
  EXPECT_GT(r.statistic("overwrites.k"), 0U);
  EXPECT_EQ(r.statistic("overwrites.v"), 0U);
}

TEST(Overwrite, NothingGivesWayWhereThereIsRoom) {
  const job::RunResult r = run_overwrite(config::load_hardware("edge"), "H=2,N=512,E=64", "nq=64", true);
  expect_accounted_for(r);
  EXPECT_EQ(r.statistic("overwrites.count"), 0U);
}

// Where nothing gives way the guard costs nothing, whatever the tiling.
TEST(Overwrite, CostsNothingWhereThereIsRoom) {
  const MachineConfig machine = config::load_hardware("edge");
  for (const char* tiling : {"nq=64", "nq=48,kv=1,rb=1", "nq=32,nkv=96,kv=stream", "nq=80,rb=2"}) {
    const job::RunResult plain = run_overwrite(machine, "H=3,N=300,E=48", tiling, false, "mas:overwrite=off");
    for (const char* guarded : {"mas", "mas:overwrite=on"}) {
      EXPECT_EQ(run_overwrite(machine, "H=3,N=300,E=48", tiling, false, guarded).cycles, plain.cycles) << tiling;
    }
  }
}

// P in the place of C needs no more than one block of O beside what the guard needs: there the guard takes over.
TEST(Overwrite, TakesOverWhereSpaceRunsOut) {
  const char* const kTiles = "bb=1,hh=1,nq=64,nkv=128,m0=16,n0=16,k0=32,kv=1,rb=1";
  int guarded = 0;
  for (unsigned kib = 90; kib <= 180; kib += 3) {
    MachineConfig machine = config::load_hardware("edge", {"cores=1"});
    machine.l1.size_bytes = std::uint64_t{kib} << 10;
    const auto try_run = [&](const char* dataflow) -> std::uint64_t {
      try {
        const job::RunResult r = run_overwrite(machine, "H=2,N=256,E=64", kTiles, true, dataflow);
        expect_accounted_for(r);
        guarded += r.statistic("overwrites.count") > 0 && std::string(dataflow) == "mas" ? 1 : 0;
        return r.cycles;
      } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find("L1 is too small"), std::string::npos) << e.what();
        return 0;
      }
    };
    const std::uint64_t off = try_run("mas:overwrite=off"), as_it_is = try_run("mas");
    if (off != 0) {
      EXPECT_EQ(as_it_is, off) << kib;
    }
  }
  EXPECT_GT(guarded, 0);
}

TEST(Overwrite, TimingModeSeesTheSame) {
  const MachineConfig machine = config::load_hardware("overwrite-v");
  const job::RunResult full = run_overwrite(machine, "H=2,N=300,E=48", "nq=64", true);
  const job::RunResult timing = run_overwrite(machine, "H=2,N=300,E=48", "nq=64", false);
  EXPECT_EQ(full.cycles, timing.cycles);
  EXPECT_EQ(full.statistic("overwrites.reload_bytes"), timing.statistic("overwrites.reload_bytes"));
}

// L1 sizes from too small to ample, odd shapes, several cores: exact or refused.
TEST(Overwrite, AnyL1Size) {
  const char* const nets[] = {"H=3,N=200,E=40", "B=2,H=1,NQ=130,NKV=333,E=24", "H=1,NQ=50,NKV=512,E=80"};
  int overwriting = 0, refused = 0;
  for (const char* net : nets) {
    for (unsigned cores = 1; cores <= 3; ++cores) {
      for (unsigned kib = 90; kib <= 400; kib += 13) {
        MachineConfig machine = config::load_hardware("overwrite-k");
        machine.cores = cores;
        machine.vec.lanes = 40 + 8 * (kib % 7);
        machine.l1.size_bytes = std::uint64_t{kib} << 10;
        try {
          const job::RunResult r = run_overwrite(machine, net, "nq=48,kv=1,rb=1", true);
          expect_accounted_for(r);
          overwriting += r.statistic("overwrites.count") > 0 ? 1 : 0;
        } catch (const std::runtime_error& e) {
          EXPECT_NE(std::string(e.what()).find("L1 is too small"), std::string::npos) << e.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(overwriting, 5);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace attnvp
