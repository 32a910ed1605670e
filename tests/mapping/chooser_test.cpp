// A choice that is made part by part, beside others that share their replays, and with as much effort as is allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "mapping/bound.h"
#include "mapping/choose.h"
#include "mapping/programs.h"
#include "mapping/recording.h"
#include "mapping/replay.h"
#include "tests/mapping/given.h"

namespace attnvp::mapping {
namespace {

const Given kCases[] = {
    {{"cores=2"}, "H=4,N=196,E=64", "mas", ""},
    {{"clusters=4", "l1.size=256KiB"}, "H=8,N=256,E=32,HKV=2,causal=1", "fusemax", ""},
    {{"clusters=2", "dram.bandwidth=10GB/s"}, "H=4,E=64,phase=decode,batch=4,cache=1000", "lean", ""},
};

Job job_of(const Given& given, const MachineConfig& machine, const char* dataflow) {
  return job::make_job(machine, given.layer(), job::parse_dataflow(dataflow));
}

TEST(Chooser, ChoosesTheSameWhateverElseItsReplaysAreFor) {
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    Replays shared(machine);
    for (const char* name : {"flat", "mas", "lean", "fusemax"}) {
      const Job job = job_of(given, machine, name);
      const firmware::Dataflow& dataflow = *find_dataflow(name);
      Replays own(machine);
      const Choice alone = choose(job, dataflow, own), beside = choose(job, dataflow, shared);
      ASSERT_TRUE(alone.fits) << given.network << " " << name;
      EXPECT_EQ(alone.words, beside.words) << given.network << " " << name;
      EXPECT_EQ(alone.cycles, beside.cycles) << given.network << " " << name;
    }
  }
}

TEST(Chooser, LooksAtNothingNewOnceThereWasEnoughEffort) {
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    const Job job = job_of(given, machine, given.dataflow);
    const firmware::Dataflow& dataflow = *find_dataflow(given.dataflow);
    Replays all(machine), some(machine);
    const Choice chosen = choose(job, dataflow, all);
    Chooser chooser(job, dataflow, some);
    const double begun = some.effort().spent();
    some.effort().allow(begun + 0.1 * (all.effort().spent() - begun));
    while (chooser.advance()) {
    }
    // What was found is still looked at closely.
    EXPECT_LT(some.effort().spent(), 0.8 * all.effort().spent()) << given.network;
    const Choice early = chooser.choice();
    ASSERT_TRUE(early.fits) << given.network;
    EXPECT_GE(early.cycles, 0.9 * chosen.cycles) << given.network;
    some.effort().allow(0);
    Chooser late(job, dataflow, some);
    EXPECT_TRUE(late.choice().fits) << given.network;  // where it begins is known
  }
}

// What is run before it is looked at closely is the schedule whose estimate is told.
TEST(Chooser, TellsTheLikeliestWithoutACloserLook) {
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    const Job job = job_of(given, machine, given.dataflow);
    Replays replays(machine);
    Chooser chooser(job, *find_dataflow(given.dataflow), replays, Glance::kRough);
    EXPECT_EQ(chooser.likeliest().fits, chooser.best().cycles < kNever) << given.network;
    while (chooser.advance()) {
      const double spent = replays.effort().spent();
      const Choice likeliest = chooser.likeliest();
      ASSERT_TRUE(likeliest.fits) << given.network;
      EXPECT_EQ(likeliest.cycles, chooser.best().cycles) << given.network;
      EXPECT_EQ(likeliest.commands, chooser.best().all_commands) << given.network;
      EXPECT_EQ(replays.effort().spent(), spent) << given.network;
      Job whole = job;
      std::copy(likeliest.words.begin(), likeliest.words.end(), whole.block.parameter);
      EXPECT_TRUE(need_of(whole).fits(job)) << given.network;
    }
  }
}

// What another choice of the same job has found is not looked at again, and not taken for another job's.
TEST(Chooser, TakesWhatWasFoundOfTheSameJob) {
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    const firmware::Dataflow& dataflow = *find_dataflow(given.dataflow);
    const Job job = job_of(given, machine, given.dataflow);
    Job larger = job;
    larger.block.layer.batch *= 2;
    Replays shared(machine), own(machine);
    const Choice first = choose(job, dataflow, shared);
    const double spent = shared.effort().spent();
    const Choice again = choose(job, dataflow, shared);
    EXPECT_EQ(shared.effort().spent(), spent) << given.network;
    EXPECT_EQ(first.words, again.words) << given.network;
    EXPECT_EQ(first.cycles, again.cycles) << given.network;
    const Choice other = choose(larger, dataflow, shared), alone = choose(larger, dataflow, own);
    EXPECT_EQ(other.words, alone.words) << given.network;
    EXPECT_EQ(other.cycles, alone.cycles) << given.network;
    EXPECT_GT(shared.effort().spent(), spent) << given.network;
  }
}

TEST(Chooser, GoesOnFromASchedule) {
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    Job job = job_of(given, machine, given.dataflow);
    const firmware::Dataflow& dataflow = *find_dataflow(given.dataflow);
    Replays replays(machine);
    Words from = look(job, dataflow, replays).words;
    Chooser chooser(job, dataflow, replays, Glance::kUsual, from);
    EXPECT_TRUE(chooser.advance());
    EXPECT_FALSE(chooser.advance());  // nowhere else
    const Choice found = chooser.choice();
    ASSERT_TRUE(found.fits);
    Job begun = job;
    std::copy(from.begin(), from.end(), begun.block.parameter);
    EXPECT_LE(found.cycles, 1.01 * estimate(begun, replays, 40000).cycles) << given.network;
    // What does not fit gives way.
    const int nkv = index_of(dataflow, "nkv");
    ASSERT_GE(nkv, 0);
    from[static_cast<std::size_t>(nkv)] = 1'000'000;
    Chooser other(job, dataflow, replays, Glance::kUsual, from);
    EXPECT_TRUE(other.advance());
    EXPECT_TRUE(other.choice().fits) << given.network;
  }
}

// With those tiles to begin from its first part comes to what is about as fast (a look weighs the bus, too).
TEST(Chooser, BeginsWhereAnotherHasGotTo) {
  bool helped = false;
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    const Job job = job_of(given, machine, given.dataflow);
    const firmware::Dataflow& dataflow = *find_dataflow(given.dataflow);
    Replays replays(machine);
    const Words best = choose(job, dataflow, replays).words;
    const auto after_a_part = [&](const Words& from) {
      Replays own(machine);
      Chooser chooser(job, dataflow, own, Glance::kRough);
      if (!from.empty()) chooser.begin_from(from);
      EXPECT_TRUE(chooser.advance());
      return chooser.best().cycles;
    };
    Job there = job;
    std::copy(best.begin(), best.end(), there.block.parameter);
    const double begun = after_a_part(best);
    EXPECT_LE(begun, 1.05 * estimate(there, replays, 250).cycles) << given.network;
    helped = helped || begun < after_a_part({});
    Words too_large = best;
    too_large[static_cast<std::size_t>(index_of(dataflow, "nkv"))] = 1'000'000;  // gives way
    EXPECT_LT(after_a_part(too_large), kNever) << given.network;
  }
  EXPECT_TRUE(helped);
}

TEST(Chooser, TellsWhatDoesTheSame) {
  const auto same = [](const Given& given, const char* one, const char* other) {
    const MachineConfig machine = given.machine();
    Replays replays(machine);
    const Job first = job_of(given, machine, one), second = job_of(given, machine, other);
    Chooser begun(first, *find_dataflow(one), replays), next(second, *find_dataflow(other), replays);
    begun.advance();
    return next.does_as(begun);
  };
  // PEs that only multiply leave softmax to the vector engine, as the cascade does; those of fusemax's do not.
  const char* const layer = "H=4,N=256,E=64";
  EXPECT_TRUE(same({{}, layer, "", ""}, "fusemax", "cascade"));
  EXPECT_FALSE(same({{"mac.resident_tiles=8"}, layer, "", ""}, "fusemax", "cascade"));
  // A whole context a worker is what the same number of pieces comes to where there are heads enough.
  EXPECT_TRUE(same({{}, "H=16,E=64,phase=decode,batch=4,cache=256", "", ""}, "flash-decoding", "flash2"));
  EXPECT_FALSE(same({{"clusters=8"}, "H=2,E=64,phase=decode,batch=1,cache=4096", "", ""}, "flash-decoding", "flash2"));
}

TEST(Recording, HasItsFirstHalfAsRecordedByItself) {
  for (const Given& given : kCases) {
    const MachineConfig machine = given.machine();
    Job job = job_of(given, machine, given.dataflow);
    Replays replays(machine);
    const Choice chosen = look(job, *find_dataflow(given.dataflow), replays);
    std::copy(chosen.words.begin(), chosen.words.end(), job.block.parameter);
    Costs& costs = replays.costs();
    const std::size_t all = record(job, 0, costs, 1'000'000).commands.size();
    for (const std::size_t most : {std::size_t{2}, std::size_t{31}, all / 2, all + 1, 2 * all + 2}) {
      Recording half;
      const Recording r = record(job, 0, costs, most, &half), by_itself = record(job, 0, costs, most / 2);
      EXPECT_EQ(r.complete, most > all) << given.network << " " << most;
      if (by_itself.complete) {
        EXPECT_TRUE(half.commands.empty()) << given.network << " " << most;
        continue;
      }
      EXPECT_FALSE(half.complete);
      EXPECT_EQ(half.commands.size(), most / 2);
      EXPECT_EQ(half.steps.size(), by_itself.steps.size());
      EXPECT_EQ(half.digest, by_itself.digest);
      EXPECT_EQ(half.bus_bytes, by_itself.bus_bytes);
      EXPECT_EQ(half.macs, by_itself.macs);
      EXPECT_EQ(half.bus, by_itself.bus);
      EXPECT_EQ(half.busy, by_itself.busy);
      EXPECT_EQ(replay(half, costs, Contention::kEstimate).cycles,
                replay(by_itself, costs, Contention::kEstimate).cycles);
    }
  }
}

// All clusters together have the products of the scores that no mask hides, whatever their tiles are.
TEST(Recording, CountsNoProductsOfWhatIsHidden) {
  std::uint32_t looked_at = 0;
  for (const char* const layer :
       {"H=4,N=196,E=64,causal=1", "H=3,N=250,E=32,causal=1,window=49", "H=8,N=128,E=32,HKV=2,causal=1,window=33"}) {
    for (const Given& given :
         {Given{{"cores=2"}, layer, "", ""}, Given{{"clusters=4", "l1.size=256KiB"}, layer, "", ""},
          Given{{"mac.resident_tiles=8"}, layer, "", ""}}) {
      const MachineConfig machine = given.machine();
      Replays replays(machine);
      for (const firmware::Dataflow* dataflow : dataflows_for(true)) {
        Job job = job::make_job(machine, given.layer().folded(), job::parse_dataflow(dataflow->name));
        const Choice chosen = look(job, *dataflow, replays);
        if (!chosen.fits) continue;
        std::copy(chosen.words.begin(), chosen.words.end(), job.block.parameter);
        double macs = 0;
        for (std::uint32_t c = 0; c < machine.clusters; ++c) {
          const Recording r = record(job, c, replays.costs(), 1'000'000);
          macs += r.macs - r.hidden;
        }
        EXPECT_DOUBLE_EQ(macs, layer_demand(job, machine).macs) << layer << " " << dataflow->name;
        ++looked_at;
      }
    }
  }
  EXPECT_GT(looked_at, 50U);
}

// Pieces of a row that several clusters have are merged by one of them, which waits for the others.
TEST(Recording, TellsWhetherItWaitsForOthers) {
  const auto by_themselves = [](const Given& given) {  // how many clusters' streams
    const MachineConfig machine = given.machine();
    const Job job = job::make_job(machine, given.layer().folded(), given.schedule());
    Costs costs(machine);
    EXPECT_FALSE(record(job, 0, costs, 3).by_itself) << given.dataflow;  // as it goes on
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < machine.clusters; ++c) count += record(job, c, costs, 1'000'000).by_itself ? 1 : 0;
    return count;
  };
  EXPECT_EQ(by_themselves({{"clusters=4"}, "H=8,N=256,E=64,causal=1", "mas", ""}), 4U);
  EXPECT_EQ(by_themselves({{"clusters=4"}, "H=8,N=256,E=64", "lean", ""}), 4U);
  EXPECT_LT(by_themselves({{"clusters=4"}, "H=4,E=64,phase=decode,batch=1,cache=4096", "lean", ""}), 4U);
  EXPECT_LT(by_themselves({{"clusters=8"}, "H=2,E=64,phase=decode,batch=1,cache=4096", "flash-decoding", ""}), 8U);
}

TEST(Effort, IsOfWhatIsRecordedAndReplayed) {
  const MachineConfig machine = kCases[0].machine();
  const Job job = job_of(kCases[0], machine, "mas");
  Replays replays(machine);
  EXPECT_FALSE(replays.effort().over());
  EXPECT_EQ(replays.effort().left(), std::numeric_limits<double>::infinity());
  look(job, *find_dataflow("mas"), replays);
  const double first = replays.effort().spent();
  EXPECT_GT(first, 0);
  look(job, *find_dataflow("mas"), replays);
  const double again = replays.effort().spent() - first;
  EXPECT_EQ(again, 0);  // what was found is remembered
  replays.effort().allow(first);
  EXPECT_TRUE(replays.effort().over());
  EXPECT_EQ(replays.effort().left(), 0);
}

TEST(Effort, IsLimitedByTheFastestMeanwhile) {
  Effort effort;
  effort.add(100);
  effort.found(50, 7);  // nothing is asked for
  EXPECT_FALSE(effort.over());
  effort.allow_by([](double commands) { return 10 * commands; });
  effort.found(60, 30);
  EXPECT_EQ(effort.left(), 200);
  effort.found(70, 1);  // is slower
  EXPECT_EQ(effort.left(), 200);
  effort.found(40, 40);  // never more
  EXPECT_EQ(effort.left(), 200);
  effort.found(30, 10);
  EXPECT_TRUE(effort.over());
  effort.allow_by({});
  effort.allow(150);
  effort.found(20, 1);
  EXPECT_EQ(effort.left(), 50);
}

}  // namespace
}  // namespace attnvp::mapping
