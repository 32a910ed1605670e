// What commands cost, remembered by shape, against each by itself.
#include "mapping/costs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/mapping/given.h"
#include "tests/mapping/random_schedules.h"

namespace attnvp::mapping {
namespace {

struct Commands final : Reader {
  void command(const Queue& queue, const hal::Descriptor& descriptor) override {
    all.emplace_back(queue.unit, descriptor);
  }
  bool enough() const override { return all.size() >= 2000; }
  std::vector<std::pair<Unit, hal::Descriptor>> all;
};

struct Seen {
  std::size_t masked = 0, numbers = 0, of_two_heads = 0;
};

Seen expect_same(const Job& job, const MachineConfig& machine, const std::string& what) {
  Commands commands;
  read_stream(job, 0, commands);
  Costs costs(machine);
  std::set<std::uint32_t> numbers;
  Seen seen;
  const auto number_of = [&](Unit unit, const hal::Descriptor& d) {
    Costs alone(machine);
    const std::uint32_t number = costs.number_of(unit, d);
    EXPECT_EQ(costs.of(number).values(), alone.of(alone.number_of(unit, d)).values())
        << what << " row " << d.tail.rule.row << " key " << d.tail.rule.key;
    return number;
  };
  for (const auto& [unit, d] : commands.all) {
    const std::uint32_t number = number_of(unit, d);
    if ((d.flags & hal::kMasked) == 0) continue;
    const hal::RuleTail& at = d.tail.rule;
    seen.of_two_heads += at.row % at.mask.queries + d.rows > at.mask.queries ? 1 : 0;
    numbers.insert(number);
    if (++seen.masked % 9 != 1) continue;
    hal::Descriptor other = d;  // and further along, into the next head
    for (std::uint32_t step = 0; step < 2 * at.mask.queries; step += at.mask.queries / 7 + 1) {
      other.tail.rule.row = at.row + step;
      other.tail.rule.key = at.key + step;
      number_of(unit, other);
    }
  }
  seen.numbers = numbers.size();
  return seen;
}

TEST(Costs, AreThoseOfEachCommandByItself) {
  std::size_t masked = 0;
  const auto look = [](const MachineConfig& machine, const config::Network& network, const job::Schedule& open) {
    return job::look(machine, network, open);
  };
  each_random_schedule(150, 77, look, [&](std::uint32_t, const auto& machine, const auto& network, const auto& chosen) {
    masked += expect_same(job::make_job(machine, network.folded(), chosen), machine, chosen.text).masked;
  });
  EXPECT_GT(masked, 0U);
}

// Bands with history, of grouped heads, in rows that are ragged and that span two heads; with sinks, and a prefix.
TEST(Costs, OfMaskedRowsAreThoseOfTheirPlaces) {
  std::size_t of_two_heads = 0;
  for (const char* layer :
       {"H=4,N=200,E=32,causal=1", "H=4,N=200,E=32,causal=1,window=37", "H=8,HKV=2,N=100,E=32,causal=1,window=25",
        "H=4,NQ=140,NKV=300,E=32,causal=1", "H=4,N=128,E=32,causal=1,window=30,sinks=5", "H=4,N=128,E=32,window=33",
        "H=4,N=128,E=32,causal=1,prefix=40"}) {
    for (const char* dataflow : {"mas", "flat", "fusemax", "weave", "lean"}) {
      for (const char* tiling : {"nq=16,nkv=32", "nq=24,nkv=40", "nq=7,nkv=9", "nq=128,nkv=16"}) {
        const Given given{{"mac.rows=16", "mac.columns=16", "l1.size=4MiB"}, layer, dataflow, tiling};
        const MachineConfig machine = given.machine();
        const Job job = job::make_job(machine, given.layer().folded(), given.schedule());
        const Seen seen = expect_same(job, machine, std::string(layer) + " " + dataflow + " " + tiling);
        of_two_heads += seen.of_two_heads;
        EXPECT_GT(seen.masked, 0U) << layer << " " << dataflow << " " << tiling;
        if (dataflow == std::string("fusemax")) {
          EXPECT_LT(seen.numbers, seen.masked) << layer << " " << tiling;
        }
      }
    }
  }
  EXPECT_GT(of_two_heads, 0U);
}

// Firmware of one's own may push anything.
TEST(Costs, OfAMaskOfNoRowsAreThoseOfWhatIsRefused) {
  const MachineConfig machine = Given{{}, "H=2,N=96,E=32,causal=1", "", ""}.machine();
  Costs costs(machine);
  hal::Descriptor d{};
  d.opcode = hal::Opcode::kSoftmax;
  d.flags = hal::kMasked;
  d.rows = 4;
  for (hal::Operand& o : d.operand) o = {hal::kL1Base, 16, 32};
  d.tail.rule.mask.causal = 1;
  const Cost& cost = costs.of(costs.number_of(Unit::kVec, d));
  EXPECT_FALSE(cost.possible);
  EXPECT_EQ(cost.hidden, 0);
}

// Each with new tokens of its own behind a history of its own.
TEST(Costs, OfRequestsAreThoseOfTheirHistories) {
  std::ofstream(testing::TempDir() + "costs_requests.csv") << "new_tokens,cached_tokens\n40,0\n40,100\n16,33\n40,57\n";
  for (const char* layer :
       {"H=4,N=64,E=32,causal=1", "H=4,N=64,E=32,causal=1,window=30,sinks=5",
        "H=8,HKV=2,N=64,E=32,causal=1,window=30,sinks=5", "H=8,HKV=2,N=64,E=32,causal=1,prefix=9"}) {
    const config::Network network =
        config::with_requests(config::load_network(layer), testing::TempDir() + "costs_requests.csv");
    for (const char* dataflow : {"weave", "lean"}) {
      const MachineConfig machine = config::load_hardware("edge", {"mac.rows=16", "mac.columns=16"});
      job::Schedule schedule = job::parse_dataflow(dataflow);
      schedule.tiling = job::parse_tiling("nq=16,nkv=32");
      const Job job = job::make_job(machine, network.folded(), job::complete(machine, network, schedule));
      EXPECT_GT(expect_same(job, machine, std::string(layer) + " " + dataflow).masked, 0U) << layer << " " << dataflow;
    }
  }
}

}  // namespace
}  // namespace attnvp::mapping
