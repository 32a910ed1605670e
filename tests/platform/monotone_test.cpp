// A machine that has more of something is not slower, and a layer with more to do is not faster: random machines,
// layers and dataflows, with equal tiles. Integers only: the cases are the same everywhere.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/schedule/programs.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

// Cycles against those before: of better hardware at most, of more work at least.
constexpr double kSlower = 1.03, kFaster = 0.97;
// Greedy schedulers of DMA controllers and DRAM have anomalies (Graham 1966): another order of loads may end later
// although every resource is as fast. So few of the comparisons, in 1/100, may exceed the bounds, and by so much.
constexpr int kAnomalies = 3;
constexpr double kAnomaly = 1.15;

struct Case {
  MachineConfig machine;
  workload::Attention network;
  job::Schedule schedule;

  std::string text() const {
    std::string tiles;
    for (const auto& [key, value] : job::tiling_text(schedule.tiling)) {
      tiles += fmt::format("{}{}={}", tiles.empty() ? "" : ",", key, value);
    }
    const workload::Attention& n = network;
    return fmt::format("--dataflow {} --net B={},H={},HKV={},NQ={},NKV={},E={}{} --tiling {}\n{}", schedule.text,
                       n.batch, n.heads, n.heads_of_kv(), n.seq_q, n.seq_kv, n.emb, n.rules(), tiles,
                       config::to_yaml(machine));
  }
};

struct Better {
  const char* what;
  void (*apply)(MachineConfig& machine);
};
constexpr Better kBetter[] = {
    {"clusters", [](MachineConfig& m) { m.clusters *= 2; }},
    {"cores and L1 ports", [](MachineConfig& m) { m.cores *= 2, m.l1.ports *= 2, m.l1.banks *= 2; }},
    {"MAC rows", [](MachineConfig& m) { m.mac.rows *= 2; }},
    {"lanes", [](MachineConfig& m) { m.vec.lanes *= 2; }},
    {"DRAM bandwidth", [](MachineConfig& m) { m.dram.bytes_per_second *= 2; }},
    {"bursts under way", [](MachineConfig& m) { m.dma.outstanding *= 2; }},
    {"L1", [](MachineConfig& m) { m.l1.size_bytes *= 2; }},
    {"L1 ports", [](MachineConfig& m) { m.l1.ports *= 2; }},
};

struct More {
  const char* what;
  void (*apply)(workload::Attention& network);
};
constexpr More kMore[] = {
    {"token", [](workload::Attention& n) { ++n.seq_kv, ++n.seq_q, ++n.mask.queries; }},
    {"head",
     [](workload::Attention& n) {
       const std::uint32_t group = n.heads / n.heads_of_kv();
       n.heads += group;
       if (n.kv_heads > 0) ++n.kv_heads;
     }},
    {"batch", [](workload::Attention& n) { ++n.batch; }},
};

// Not `lean` and `flash-decoding`: into how many pieces they cut a context is a published rule, which does not count
// what the pieces' merging takes.
const std::vector<std::string> kOf = {"layerwise", "softpipe", "flat",    "flat:overlap=on", "tileflow",
                                      "mas",       "mas",      "fusemax", "cascade",         "weave",
                                      "weave",     "flash2",   "flash3",  "flash2",          "weave"};

MachineConfig random_hardware(Random& r) {
  MachineConfig m = random_machine(r);
  m.mac.rows = r.of({8, 16, 16, 32});
  m.mac.columns = r.of({8, 16, 16, 32});
  m.l0.size_bytes = 64 << 10;
  m.l1.size_bytes = 1024 * std::uint64_t{r.of({128, 256, 512, 1024, 2048})};
  m.events.events = 1024;
  m.dram.size_bytes = 256 << 20;
  m.dma.burst_bytes = r.of({1024, 256, 256, 64});
  m.dma.outstanding = r.of({2, 4, 16});
  return m;
}

workload::Attention random_layer(Random& r) {
  workload::Attention n;
  n.name = "random";
  n.batch = r.one_in(3) ? r.from(1, 3) : 1;
  n.heads = r.from(1, 8);
  n.seq_q = n.seq_kv = r.one_in(2) ? 16 * r.from(2, 16) : r.from(32, 256);
  n.emb = r.one_in(2) ? 64 : 16 * r.from(1, 8);
  if (r.one_in(4)) {
    n.kv_heads = r.from(1, 2);
    n.heads = n.kv_heads * r.from(1, 4);
  }
  if (r.one_in(4)) {
    n.mask.queries = n.seq_q;
    n.mask.causal = 1;
  }
  return n;
}

// Every word of it, so that nothing is chosen.
job::Tiling random_tiles(Random& r, const Case& c) {
  const MachineConfig& m = c.machine;
  const workload::Attention n = c.network.folded();
  const auto rows = [&](std::uint32_t unit, std::uint32_t all) { return std::min(unit * r.of({1, 2, 2, 4, 8}), all); };
  std::map<std::string, std::uint32_t> words = {{"bb", 1},
                                                {"hh", 1},
                                                {"nq", rows(m.mac.rows, n.seq_q)},
                                                {"nkv", rows(m.mac.columns, n.seq_kv)},
                                                {"m0", 0},
                                                {"n0", 0},
                                                {"k0", std::min(n.emb, 64U)},
                                                {"kv", r.of({1, 2, 2, hal::kWord})},
                                                {"rb", r.from(1, 4)},
                                                {"np", hal::kWord},
                                                {"tb", 3},
                                                {"sb", 3},
                                                {"steps", 1},
                                                {"spare", 2},
                                                {"walk", r.from(1, 6)}};
  words["m0"] = std::min(2 * m.mac.rows, 64U);
  words["n0"] = std::min(2 * m.mac.columns, 64U);
  const std::string& name = c.schedule.dataflow;
  const bool weave = name == "weave", online = name == "fusemax" || name == "cascade";
  const bool rows_walk = weave && words["walk"] <= 3,
             tiles_walk = online || (weave && words["walk"] <= 5 && !rows_walk);
  if (words["walk"] == 5) words["walk"] = 4;  // no PEs that hold scores
  if (tiles_walk) words["steps"] = 3, words["kv"] = hal::kWord;
  if (weave && !tiles_walk) words["spare"] = hal::kWord;
  if ((weave && words["walk"] >= 6) || (!weave && schedule::find_dataflow(name)->is(firmware::kRagged)))
    words["rb"] = 1;
  if (name == "flash3" && words["kv"] == 1) words["kv"] = 2;
  job::Tiling tiling;
  const firmware::Dataflow& dataflow = *schedule::find_dataflow(name);
  for (int i = 0; dataflow.parameters[i] != nullptr; ++i) {
    tiling.set(dataflow.parameters[i]->name, words.at(dataflow.parameters[i]->name));
  }
  return tiling;
}

Case random_case(std::uint32_t number) {
  Random r(number * 2654435761U + 97);
  Case c;
  c.machine = random_hardware(r);
  c.network = random_layer(r);
  c.schedule = job::parse_dataflow(kOf[number % kOf.size()]);
  c.schedule.tiling = random_tiles(r, c);
  config::check_machine(c.machine, {"random"});
  return c;
}

// The cycles, or why there are none.
struct Outcome {
  std::optional<double> cycles;
  std::string refusal;
};
Outcome run(const Case& c) {
  static const config::EnergyTable energy = config::load_energy("fusemax-45nm");
  Outcome o;
  try {
    job::Runner runner(c.machine, energy, false);
    o.cycles = static_cast<double>(runner.run(c.network, c.schedule, nullptr, {}).cycles);
  } catch (const std::runtime_error& e) {
    o.refusal = e.what();
  }
  return o;
}

struct Comparisons {
  int done = 0, beyond = 0;
  bool shown = false;  // every one of them
  void add(const Case& c, std::uint32_t number, const char* what, double slower, double bound, double cycles) {
    ++done;
    if (shown) fmt::print("{};{};{};{:.3f};{:.0f};\n", number, c.schedule.text, what, slower, cycles);
    if (slower <= bound) return;
    ++beyond;
    if (shown) fmt::print("# {}\n", c.text());
    EXPECT_LE(slower, kAnomaly) << "case " << number << ", twice the " << what << ": " << c.text();
  }
};

void compare(std::uint32_t number, Comparisons& better, Comparisons& more) {
  const Case c = random_case(number);
  const Outcome before = run(c);
  if (!before.cycles) return;
  for (const Better& b : kBetter) {
    Case other = c;
    b.apply(other.machine);
    const Outcome after = run(other);
    if (after.cycles) {
      better.add(c, number, b.what, *after.cycles / *before.cycles, kSlower, *before.cycles);
    } else {
      ADD_FAILURE() << "case " << number << ", twice the " << b.what << ": " << after.refusal << "\n" << c.text();
    }
  }
  for (const More& m : kMore) {
    Case other = c;
    m.apply(other.network);
    const Outcome after = run(other);
    if (after.cycles) more.add(c, number, m.what, *before.cycles / *after.cycles, 1 / kFaster, *before.cycles);
  }
}

// ATTNVP_SEEDS=FIRST-LAST shows those cases instead.
TEST(BetterHardware, IsNotSlowerAndMoreWorkIsNotFaster) {
  std::uint32_t first = 0, last = 64;
  const char* seeds = std::getenv("ATTNVP_SEEDS");
  if (seeds != nullptr) {
    ASSERT_EQ(std::sscanf(seeds, "%u-%u", &first, &last), 2);
  }
  Comparisons better, more;
  better.shown = more.shown = seeds != nullptr;
  for (std::uint32_t number = first; number < last; ++number) compare(number, better, more);
  EXPECT_GE(better.done, static_cast<int>(last - first) * 3) << "too few cases fit their machine";
  EXPECT_LE(100 * better.beyond, kAnomalies * better.done) << better.beyond << " of " << better.done;
  EXPECT_LE(100 * more.beyond, kAnomalies * more.done) << more.beyond << " of " << more.done;
}

job::RunResult checked(const MachineConfig& machine, const std::string& net, const std::string& dataflow,
                       const std::string& tiles) {
  const workload::Attention network = workload::load(net).attention();
  job::Runner runner(machine, config::load_energy(machine.energy), true);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = job::parse_tiling(tiles);
  const job::Tensors tensors = job::random_tensors(network, 1);
  job::RunResult r = runner.run(network, schedule, &tensors, {});
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  return r;
}

// Tiles that two cores' L1 has room for have room on a machine with more cores.
TEST(BetterHardware, UsesAsManyCoresAsL1HasRoomFor) {
  const std::string row_tiles = "bb=1,hh=1,nq=64,nkv=64,m0=32,n0=32,k0=64,kv=2,rb=2";
  const std::pair<const char*, std::string> all[] = {
      {"layerwise", row_tiles + ",np=off,tb=3,sb=3"},
      {"layerwise", row_tiles + ",np=8,tb=3,sb=3"},
      {"softpipe", row_tiles},
      {"flat", row_tiles + ",np=off,tb=3,sb=3"},
      {"flat:overlap=on", row_tiles + ",np=8,tb=3,sb=3"},
      {"mas:overwrite=off", row_tiles},
      {"cascade", "bb=1,hh=1,nq=32,nkv=64,m0=32,n0=32,k0=64,kv=3,rb=2,steps=2,spare=1"},
      {"flash2", "bb=1,hh=1,nq=64,nkv=64,m0=32,n0=32,k0=64,kv=2,rb=1"},
      {"lean", "bb=1,hh=1,nq=64,nkv=64,m0=32,n0=32,k0=64,kv=2,rb=1"},
      {"weave", row_tiles + ",steps=1,spare=none,walk=pairs"}};
  for (const auto& [dataflow, tiles] : all) {
    SCOPED_TRACE(dataflow);
    MachineConfig machine = config::load_hardware("edge");
    const char* net = "H=3,N=256,E=64";
    machine.l1.size_bytes = (checked(machine, net, dataflow, tiles).max("l1", "peak_bytes") + 1023) / 1024 * 1024;
    const job::RunResult two = checked(machine, net, dataflow, tiles);
    machine.cores = 6;
    const job::RunResult six = checked(machine, net, dataflow, tiles);
    EXPECT_LE(static_cast<double>(six.cycles), kSlower * static_cast<double>(two.cycles));
    EXPECT_LE(six.max("l1", "peak_bytes"), machine.l1.size_bytes);
  }
}

// Where DRAM takes the time, no two clusters fetch the K and V of a head that one would have time for.
TEST(BetterHardware, ClustersFetchNoHeadTwiceWhereDramTakesTheTime) {
  MachineConfig machine = config::load_hardware("edge-16nm");
  machine.cores = 3;
  machine.mac.rows = machine.mac.columns = 8;
  machine.vec.lanes = 64;
  machine.dram.bytes_per_second = 5e9;
  const auto run_on = [&](std::uint32_t clusters) {
    machine.clusters = clusters;
    return checked(machine, "H=3,N=55,E=80", "flat",
                   "bb=1,hh=1,nq=24,nkv=55,m0=16,n0=16,k0=40,kv=2,rb=4,np=off,tb=3,sb=3");
  };
  const job::RunResult three = run_on(3), six = run_on(6);
  EXPECT_EQ(six.sum("dma", "read_bytes"), three.sum("dma", "read_bytes"));
  EXPECT_LE(static_cast<double>(six.cycles), kSlower * static_cast<double>(three.cycles));
}

// Few rows can be cut, too: 128 rows of 12 heads take six cores no longer than 129.
TEST(MoreWork, RowsOfDecodingAreCutHoweverFew) {
  MachineConfig machine = config::load_hardware("edge-16nm");
  machine.clusters = 3;
  machine.mac.rows = 8;
  for (const char* dataflow : {"flash2", "flash3", "flash-decoding", "lean", "flash2:grid=blocks"}) {
    SCOPED_TRACE(dataflow);
    const char* tiles = "bb=1,hh=1,nq=32,nkv=32,m0=16,n0=32,k0=32,kv=2,rb=1";
    const job::RunResult fewer = checked(machine, "H=12,N=128,E=32", dataflow, tiles);
    const job::RunResult more = checked(machine, "H=12,N=129,E=32", dataflow, tiles);
    EXPECT_GE(static_cast<double>(more.cycles), kFaster * static_cast<double>(fewer.cycles));
  }
}

}  // namespace
}  // namespace attnvp::runs
