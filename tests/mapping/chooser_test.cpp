// A choice that is made part by part, beside others that share their replays, and with as much effort as is allowed.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "mapping/choose.h"
#include "mapping/programs.h"
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
  EXPECT_GT(again, 0);      // it is recorded once more,
  EXPECT_LT(again, first);  //   and not replayed
  replays.effort().allow(first);
  EXPECT_TRUE(replays.effort().over());
  EXPECT_LT(replays.effort().left(), 0);
}

}  // namespace
}  // namespace attnvp::mapping
