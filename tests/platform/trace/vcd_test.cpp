// Waveforms, read back by a reader of their own: that they are well-formed, complete, and tell what the report tells.
#include "models/sim/trace/vcd.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/shared/run_files.h"
#include "platform/machine/error.h"
#include "platform/trace/session.h"
#include "tests/models/bench.h"
#include "tests/platform/runs.h"
#include "tests/platform/traced.h"
#include "tests/platform/waveform.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

TEST(Vcd, ReadsBack) {
  const Traced traced = trace();
  const Waveform wave = parse_vcd(traced.text);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(wave.timescale, "1fs");
  EXPECT_EQ(traced.text.find("$date"), std::string::npos);  // equal runs give equal files
  EXPECT_EQ(wave.header_words.back(), "$enddefinitions");
  EXPECT_EQ(wave.times.front(), 0U);
  for (const auto& [code, v] : wave.by_code) {
    ASSERT_FALSE(v.changes.empty()) << v.path << " has no first value";
    EXPECT_EQ(v.changes.front().first, 0U) << v.path;
    for (std::size_t i = 1; i < v.changes.size(); ++i) {
      EXPECT_NE(v.changes[i].second, v.changes[i - 1].second) << v.path;
      EXPECT_GT(v.changes[i].first, v.changes[i - 1].first) << v.path << " comes and goes within one instant";
    }
  }
}

TEST(Vcd, EveryModuleIsAScope) {
  const Waveform wave = parse_vcd(trace({"H=6,N=48,E=16", "mas", "cluster3", "nq=16", false, {}, 0, UINT64_MAX}).text);
  for (const char* path : {"attnvp.cluster0.core0.mac.state",
                           "attnvp.cluster2.core1.mac.queue_level",
                           "attnvp.cluster0.core1.vec.state",
                           "attnvp.cluster1.core0.mac.operation",
                           "attnvp.cluster0.core0.mac.head",
                           "attnvp.cluster0.core0.mac.row_block",
                           "attnvp.cluster0.core0.mac.descriptor",
                           "attnvp.cluster0.core0.vec.waits_for_event",
                           "attnvp.cluster0.dma.outstanding",
                           "attnvp.cluster0.dma.channel0.state",
                           "attnvp.cluster0.dma.channel1.operation",
                           "attnvp.cluster0.l1.allocated_bytes",
                           "attnvp.cluster0.l1.regions.scores_bytes",
                           "attnvp.cluster0.l1.port4.bytes_per_cycle",
                           "attnvp.cluster0.cpu.state",
                           "attnvp.cluster0.events.event3",
                           "attnvp.dram.bytes_per_cycle",
                           "attnvp.dram.bus",
                           "attnvp.cluster0.core1.l0.energy_pj",
                           "attnvp.energy_pj"}) {
    EXPECT_FALSE(wave.of(path).changes.empty()) << path;
  }
  // What a run does not use is left out.
  EXPECT_EQ(wave.find("attnvp.cluster0.events.event255"), nullptr);
  EXPECT_EQ(wave.find("attnvp.cluster0.dma.channel3.state"), nullptr);
  EXPECT_EQ(wave.find("attnvp.cluster0.core0.mac.halts"), nullptr);
}

// Whole layers: time, bytes, space and energy of the waveform are those of the report.
class Agrees : public testing::TestWithParam<const char*> {};
TEST_P(Agrees, WithTheReport) {
  const Traced traced = trace({"bert-base", GetParam(), "edge", "", false, {}, 0, UINT64_MAX});
  const job::RunResult& r = traced.result;
  const Waveform wave = parse_vcd(traced.text);
  ASSERT_FALSE(HasFatalFailure());
  const std::uint64_t period = period_of(r);
  const auto cycles = static_cast<double>(r.cycles);
  EXPECT_EQ(wave.times.back(), r.cycles * period);
  EXPECT_EQ(number(wave.of("attnvp.cluster0.cpu.running").changes.back().second), 0U);

  double mac = 0, vec = 0;
  for (const char* core : {"core0", "core1"}) {
    for (const char* engine : {"mac", "vec"}) {
      const std::string path = std::string("attnvp.cluster0.") + core + "." + engine;
      const Variable& state = wave.of(path + ".state");
      const std::uint64_t busy = wave.time_in(state, {"run", "last_tile", "halted"});
      EXPECT_EQ(busy, counter(r, path, "busy_cycles") * period) << path;
      (engine[0] == 'm' ? mac : vec) += static_cast<double>(busy / period) / cycles / 2;
      // An operation is shown exactly while the engine is not idle.
      EXPECT_EQ(wave.time_in(state, {"idle"}), wave.time_in(wave.of(path + ".operation"), {"idle"})) << path;
    }
  }
  EXPECT_NEAR(mac, r.utilization.mac, 1e-12);
  EXPECT_NEAR(vec, r.utilization.vec, 1e-12);
  const double dma = wave.integral(wave.of("attnvp.cluster0.dma.busy")) / static_cast<double>(period);
  EXPECT_NEAR(dma / cycles, r.utilization.dma, 1e-12);
  // Whole cycles, where the bus may be done within one: a cycle per transition.
  const Variable& bus = wave.of("attnvp.dram.bus");
  const double dram = static_cast<double>(wave.time_in(bus, {"read", "write"}) / period);
  EXPECT_NEAR(dram, r.utilization.dram * cycles, static_cast<double>(bus.changes.size()));
  const double dram_bytes = wave.integral(wave.of("attnvp.dram.bytes_per_cycle")) / static_cast<double>(period);
  const auto bytes = [&](const char* memory) {
    return 2 * static_cast<double>(r.sum(memory, "read_words") + r.sum(memory, "write_words"));
  };
  EXPECT_NEAR(dram_bytes / bytes("dram"), 1, 0.01);
  double l1_bytes = 0;
  for (int port = 0; port < 5; ++port) {
    const Variable& rate = wave.of("attnvp.cluster0.l1.port" + std::to_string(port) + ".bytes_per_cycle");
    l1_bytes += wave.integral(rate) / static_cast<double>(period);
    for (const auto& change : rate.changes) EXPECT_LE(std::stod(change.second), 64.01);
  }
  EXPECT_NEAR(l1_bytes / bytes("l1"), 1, 0.01);

  const double energy = std::stod(wave.of("attnvp.energy_pj").changes.back().second);
  EXPECT_NEAR(energy / r.total_energy_pj(), 1, 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Vcd, Agrees, testing::Values("layerwise", "flat", "tileflow", "mas"));

// How much of VEC's work goes on beside the same core's MAC engine.
double overlap(const char* dataflow) {
  const Waveform wave = parse_vcd(trace({"bert-base", dataflow, "edge", "", false, {"core*"}, 0, UINT64_MAX}).text);
  std::uint64_t both = 0, softmax = 0;
  for (const char* core : {"core0", "core1"}) {
    const Variable& mac = wave.of(std::string("attnvp.cluster0.") + core + ".mac.operation");
    const Variable& vec = wave.of(std::string("attnvp.cluster0.") + core + ".vec.operation");
    for (std::size_t i = 0; i + 1 < vec.changes.size(); ++i) {
      if (wave.name(vec.changes[i].second) != "softmax") continue;
      const std::uint64_t from = vec.changes[i].first, to = vec.changes[i + 1].first;
      softmax += to - from;
      for (std::size_t j = 0; j + 1 < mac.changes.size(); ++j) {
        if (wave.name(mac.changes[j].second) == "idle") continue;
        const std::uint64_t a = std::max(from, mac.changes[j].first), b = std::min(to, mac.changes[j + 1].first);
        if (a < b) both += b - a;
      }
    }
  }
  return static_cast<double>(both) / static_cast<double>(softmax);
}

TEST(Vcd, MacAndVecTakeTurnsInFlatAndOverlapInMas) {
  EXPECT_LT(overlap("flat"), 0.01);
  EXPECT_GT(overlap("mas"), 0.9);
}

// L1: never more than there is, the report's peak, and the regions are all of it at any time.
void expect_space(const Waveform& wave, const job::RunResult& r, std::uint64_t size) {
  const Variable& allocated = wave.of("attnvp.cluster0.l1.allocated_bytes");
  std::map<std::uint64_t, std::int64_t> sum;  // changes of the sum over regions
  for (const auto& [code, v] : wave.by_code) {
    if (v.path.rfind("attnvp.cluster0.l1.regions.", 0) != 0) continue;
    std::int64_t before = 0;
    for (const auto& [time, value] : v.changes) {
      sum[time] += static_cast<std::int64_t>(number(value)) - before;
      before = static_cast<std::int64_t>(number(value));
    }
  }
  std::uint64_t most = 0;
  std::int64_t regions = 0;
  for (const auto& [time, difference] : sum) {
    regions += difference;
    EXPECT_EQ(static_cast<std::uint64_t>(regions), number(allocated.at(time))) << "at " << time;
  }
  for (const auto& change : allocated.changes) most = std::max(most, number(change.second));
  EXPECT_LE(most, size);
  EXPECT_EQ(most, r.max("l1", "peak_bytes"));
}

TEST(Vcd, L1OccupancyByRegion) {
  for (const char* dataflow : {"layerwise", "softpipe", "flat", "mas"}) {
    const Traced traced = trace({"bert-base", dataflow, "edge", "", false, {"l1"}, 0, UINT64_MAX});
    expect_space(parse_vcd(traced.text), traced.result, 5 << 20);
  }
}

TEST(Vcd, L1OccupancyOfTheGuard) {
  const Traced traced = trace({"bert-base", "mas:overwrite=on", "overwrite-v", "overwrite", false, {}, 0, UINT64_MAX});
  expect_space(parse_vcd(traced.text), traced.result, config::load_hardware("overwrite-v").l1.size_bytes);
}

TEST(Vcd, EqualRunsGiveEqualBytes) {
  Options o;
  const Traced first = trace(o);
  EXPECT_GT(first.text.size(), 1000U);
  EXPECT_TRUE(first.text == trace(o).text);
  o.full_data = true;
  EXPECT_TRUE(first.text == trace(o).text) << "the data shows in the waveform";
}

TEST(Vcd, TracingChangesNothing) {
  const Traced traced = trace();
  const MachineConfig machine = config::load_hardware("edge");
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  const job::RunResult plain = runner.run(workload::load("H=3,N=64,E=32"), job::parse_dataflow("mas"), nullptr, {});
  expect_same_counts(plain, traced.result);
  EXPECT_LE(plain.events, traced.result.events);  // a waveform shows accesses that nobody else could notice
}

// A window shows what the whole shows within it.
TEST(Vcd, Window) {
  const Traced whole = trace();
  const std::uint64_t period = period_of(whole.result);
  Options o;
  o.from = whole.result.cycles / 3;
  o.to = whole.result.cycles / 2;
  const Waveform all = parse_vcd(whole.text), part = parse_vcd(trace(o).text);
  EXPECT_EQ(part.times.front(), o.from * period);
  EXPECT_EQ(part.times.back(), o.to * period);
  std::size_t changes = 0;
  for (const auto& [code, v] : part.by_code) {
    if (v.type == "real" &&
        (v.path.find("energy_pj") != std::string::npos || v.path.find("power_w") != std::string::npos)) {
      continue;  // sampled at other times
    }
    if (v.path == "attnvp.cycle") continue;  // its marks are as far apart as suits what is seen
    const Variable& full = all.of(v.path);
    EXPECT_EQ(v.changes.front().second, full.at(o.from * period)) << v.path;
    std::vector<std::pair<std::uint64_t, std::string>> inside;
    for (const auto& change : full.changes) {
      if (change.first > o.from * period && change.first <= o.to * period) inside.push_back(change);
    }
    EXPECT_EQ(std::vector(v.changes.begin() + 1, v.changes.end()), inside) << v.path;
    changes += inside.size();
  }
  EXPECT_GT(changes, 50U);
}

TEST(Vcd, Scope) {
  Options o;
  o.scopes = {"core1.mac", "dram"};
  const Waveform wave = parse_vcd(trace(o).text);
  std::set<std::string> modules;
  for (const auto& [code, v] : wave.by_code) modules.insert(v.path.substr(0, v.path.rfind('.')));
  EXPECT_EQ(modules, (std::set<std::string>{"attnvp", "attnvp.cluster0.core1.mac", "attnvp.dram"}));
  o.scopes = {"core7"};
  EXPECT_THROW(trace(o), config::ConfigError);

  EXPECT_TRUE(trace::in_scope("core*.vec", "attnvp.cluster0.core3.vec"));
  EXPECT_TRUE(trace::in_scope("cluster0", "attnvp.cluster0.core3.vec"));
  EXPECT_FALSE(trace::in_scope("cluster1", "attnvp.cluster10.l1"));
  EXPECT_FALSE(trace::in_scope("core0.vec", "attnvp.cluster0.core0.mac"));
}

// The names file and the save file name exactly what the waveform has.
TEST(Gtkw, FitsTheWaveform) {
  const Traced traced = trace({"bert-base", "mas", "edge", "", false, {}, 0, UINT64_MAX});
  const Waveform wave = parse_vcd(traced.text);
  std::istringstream names(traced.names);
  std::size_t lines = 0;
  for (std::string line; std::getline(names, line); ++lines) {
    const bool last = lines == wave.names.size();  // what is not there
    EXPECT_EQ(line.find((last ? "XXX" : std::to_string(lines)) + " "), 0U);
  }
  EXPECT_EQ(lines, wave.names.size() + 1);

  std::istringstream in(traced.gtkw);
  std::set<std::string> shown;
  std::uint64_t marker = 0;
  int depth = 0;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '*') std::sscanf(line.c_str(), "*%*s %lu", &marker);
    if (line == "@800200" || line == "@c00200") ++depth;
    if (line == "@1000200" || line == "@1401200") --depth;
    EXPECT_GE(depth, 0);
    if (line[0] == '^') {
      EXPECT_TRUE(line == "^1 /run.names" || line == "^2 /run.idle") << line;
    }
    const std::size_t path = line.find("attnvp.");
    if (path == std::string::npos || line[0] == '[') continue;
    const std::string reference = line.substr(path), name = reference.substr(0, reference.find('['));
    const Variable& v = wave.of(name);
    if (v.type == "wire" && v.bits > 1) {
      EXPECT_EQ(reference, name + "[" + std::to_string(v.bits - 1) + ":0]");
    }
    shown.insert(name);
  }
  EXPECT_EQ(depth, 0);
  EXPECT_GT(shown.size(), 60U);
  // The marker is where a MAC engine first multiplies by V.
  std::uint64_t first = UINT64_MAX;
  for (const char* core : {"core0", "core1"}) {
    const Variable& operation = wave.of(std::string("attnvp.cluster0.") + core + ".mac.operation");
    for (const auto& [time, value] : operation.changes) {
      if (wave.name(value) == "matmul_ab") first = std::min(first, time);
    }
  }
  EXPECT_EQ(marker, first);
  // Events are called by what they bring.
  EXPECT_NE(traced.gtkw.find(": P from VEC to core0 mac} attnvp.cluster0.events.event"), std::string::npos);
  EXPECT_TRUE(shown.count("attnvp.cluster0.core0.vec.waits_for"));
  EXPECT_FALSE(shown.count("attnvp.cluster0.core0.vec.waits_for_event"));
}

// The ruler tells cycles; of many engines the waveform says how many work.
TEST(Vcd, HasARulerAndCountsWorkingEngines) {
  const Traced traced = trace({"bert-base", "mas", "edge-large", "", false, {}, 0, UINT64_MAX});
  const Waveform wave = parse_vcd(traced.text);
  const Variable& ruler = wave.of("attnvp.cycle");
  ASSERT_GT(ruler.changes.size(), 10U);
  const std::uint64_t period = ruler.changes[1].first / number(ruler.changes[1].second);
  for (const auto& [time, cycle] : ruler.changes) EXPECT_EQ(time, number(cycle) * period);
  for (const std::string kind : {"mac", "vec"}) {
    std::uint64_t busy = 0, counted = 0;
    for (const auto& [code, v] : wave.by_code) {
      if (v.path.find("." + kind + ".operation") == std::string::npos) continue;
      for (std::size_t i = 0; i < v.changes.size(); ++i) {
        const std::uint64_t until = i + 1 < v.changes.size() ? v.changes[i + 1].first : wave.times.back();
        if (wave.name(v.changes[i].second) != "idle") busy += until - v.changes[i].first;
      }
    }
    const Variable& working = wave.of("attnvp." + kind + "_working");
    for (std::size_t i = 0; i < working.changes.size(); ++i) {
      const std::uint64_t until = i + 1 < working.changes.size() ? working.changes[i + 1].first : wave.times.back();
      counted += number(working.changes[i].second) * (until - working.changes[i].first);
    }
    EXPECT_GT(busy, 0U);
    EXPECT_EQ(counted, busy) << kind;
  }
  const Waveform few = parse_vcd(trace({"H=2,N=48,E=16", "mas", "edge", "", false, {}, 0, UINT64_MAX}).text);
  EXPECT_EQ(few.find("attnvp.mac_working"), nullptr);
}

// A machine that no configuration allows: one firmware deadlocks, another gives an engine nonsense to do.
struct Stopped {
  std::string text;
  std::vector<std::string> waiting;
};
Stopped stopped(const hal::Descriptor& descriptor) {
  Platform platform("attnvp", bench::machine(), false, [&](hal::Cpu& cpu, std::uint32_t) {
    hal::write(cpu, bench::kVec + hal::kQueueDescriptor, &descriptor, descriptor.length);
    hal::write32(cpu, bench::kVec + hal::kQueueDoorbell, 1);
  });
  // As the command line writes it.
  std::string folder = (std::filesystem::temp_directory_path() / "attnvp-test-XXXXXX").string();
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  cli::TraceArguments arguments;
  arguments.vcd = folder + "/run.vcd";
  arguments.timeline = folder + "/run.json";
  files::Outputs outputs;
  cli::TraceFiles files(arguments, 1e9, outputs);
  files.session()->begin(platform, config::load_energy("pat"));
  platform.run();
  files.session()->end();
  files.write();
  EXPECT_FALSE(std::filesystem::exists(arguments.vcd));
  outputs.commit();
  EXPECT_EQ(files.where(), "; what happened up to there is in " + arguments.vcd + " and " + arguments.timeline);
  for (const char* name : {"run.gtkw", "run.names", "run.idle", "run.sucl"})
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name));
  std::ifstream timeline(arguments.timeline), vcd(arguments.vcd);
  EXPECT_TRUE(nlohmann::json::parse(timeline).contains("traceEvents"));
  Stopped s{{std::istreambuf_iterator<char>(vcd), std::istreambuf_iterator<char>()}, platform.waiting()};
  std::filesystem::remove_all(folder);
  return s;
}

TEST(Vcd, ShowsWhatWasBeforeADeadlock) {
  const Stopped s = stopped(bench::after(bench::nop(), 7));
  EXPECT_FALSE(s.waiting.empty());
  const Waveform wave = parse_vcd(s.text);
  EXPECT_EQ(wave.name(wave.of("attnvp.cluster0.core0.vec.fetch_state").changes.back().second), "wait_event");
  EXPECT_EQ(number(wave.of("attnvp.cluster0.core0.vec.waits_for_event").changes.back().second), 7U);
}

TEST(Vcd, ShowsWhatWasBeforeAFault) {
  hal::Descriptor copy{};
  copy.opcode = hal::Opcode::kCopy;  // which is not for VEC
  const Waveform wave = parse_vcd(stopped(copy).text);
  EXPECT_EQ(wave.name(wave.of("attnvp.cluster0.core0.vec.fetch_state").changes.back().second), "fault");
}

}  // namespace
}  // namespace attnvp::runs
