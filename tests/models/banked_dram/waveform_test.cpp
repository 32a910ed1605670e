// A waveform's bank states against the part's data sheet, by a checker that sees nothing but the VCD file: distances
// between states are those between commands, on the part's own clock.
#include "tests/platform/waveform.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/trace/session.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

struct Traced {
  std::string vcd;
  BankedConfig part;
  job::RunResult result;
};

Traced traced(const std::vector<std::string>& settings, const char* network = "H=2,N=128,E=64") {
  std::vector<std::string> all = {"dram.policy=banked", "dram.channels=1"};
  all.insert(all.end(), settings.begin(), settings.end());
  const MachineConfig machine = config::load_hardware("edge", all);
  trace::TraceRequest request;
  request.waveform = true;
  request.scopes = {"dram"};
  trace::Session session(request);
  job::RunOptions options;
  options.trace = &session;
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  Traced t;
  t.part = machine.own<BankedConfig>();
  t.result = runner.run(workload::load(network), job::parse_dataflow("layerwise"), nullptr, options);
  t.vcd = session.vcd();
  return t;
}

// What the states of a channel's banks say of its commands.
class Checker {
 public:
  explicit Checker(const BankedConfig& part) : part_(part), tick_(std::llround(part.tCK_seconds * 1e15)) {}

  void check(const std::string& vcd) {
    const runs::Waveform wave = runs::parse_vcd(vcd);
    struct Event {
      std::int64_t time;
      std::uint32_t bank;
      std::string state;
    };
    std::vector<Event> events;
    for (const auto& [code, variable] : wave.by_code) {
      const std::size_t dot = variable.path.rfind('.');
      if (variable.path.compare(dot + 1, 4, "bank") != 0) continue;
      const std::size_t rank = variable.path.find(".rank");
      const std::uint32_t unit =
          rank == std::string::npos ? 0 : static_cast<std::uint32_t>(std::stoul(variable.path.substr(rank + 5)));
      const auto bank = static_cast<std::uint32_t>(std::stoul(variable.path.substr(dot + 5)));
      for (const auto& [time, value] : variable.changes) {
        events.push_back({static_cast<std::int64_t>(time), unit * part_.banks_of_unit() + bank, wave.name(value)});
      }
    }
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
    for (const Event& e : events) {
      if (e.time % tick_ != 0) violated(e.time, "off the part's clock", 0, 0);
      change(e.bank, e.time / tick_, e.state);
    }
  }

  std::uint64_t activates() const { return activates_; }
  std::uint64_t columns() const { return columns_; }
  std::uint64_t refreshes() const { return refreshes_; }
  const std::map<std::string, std::string>& violations() const { return violations_; }  // the first of each limit

 private:
  static constexpr std::int64_t kLongAgo = -(std::int64_t{1} << 40);
  struct Bank {
    std::string state = "closed";
    std::int64_t activate = kLongAgo, precharge = kLongAgo, refresh = kLongAgo, column = kLongAgo;
  };
  struct Activate {
    std::int64_t at;
    std::uint32_t group;
  };

  void violated(std::int64_t at, const std::string& limit, std::int64_t found, std::int64_t least) {
    violations_.emplace(limit, fmt::format("{} at {}: {} of {}", limit, at, found, least));
  }
  void limit(std::int64_t at, const char* name, std::int64_t before, std::int64_t least) {
    if (at - before < least) violated(at, name, at - before, least);
  }

  void change(std::uint32_t index, std::int64_t at, const std::string& state) {
    Bank& bank = banks_[index];
    const bool was_open = bank.state != "closed" && bank.state != "refresh";
    const bool is_open = state != "closed" && state != "refresh";
    const bool column = state == "read" || state == "write";
    if (!was_open && is_open) {
      if (column) violated(at, "a row is read that is not open", 0, 0);
      activate(index, bank, at);
    }
    if (was_open && !is_open) {
      limit(at, "tRAS", bank.activate, part_.tRAS);
      bank.precharge = at;
    }
    if (column) {
      ++columns_;
      limit(at, "tRCD", bank.activate, state == "read" ? part_.tRCDRD : part_.tRCDWR);
      bank.column = at;
    }
    if (state == "refresh") {
      ++refreshes_;
      limit(at, "tRP before a refresh", bank.precharge, part_.tRP);
      bank.refresh = at;
    }
    const std::int64_t refresh = part_.refresh == RefreshPolicy::kPerBank ? part_.tRFCpb : part_.tRFC;
    if (bank.state == "refresh") limit(at, "tRFC", bank.refresh, refresh);
    bank.state = state;
  }

  void activate(std::uint32_t index, Bank& bank, std::int64_t at) {
    ++activates_;
    limit(at, "tRC", bank.activate, part_.tRC);
    limit(at, "tRP", bank.precharge, part_.tRP);
    bank.activate = at;
    std::vector<Activate>& of_rank = ranks_[index / part_.banks_of_unit()];
    const std::uint32_t group = index / part_.banks;
    for (const Activate& a : of_rank) {
      limit(at, a.group == group ? "tRRD_L" : "tRRD_S", a.at, a.group == group ? part_.tRRD_L : part_.tRRD_S);
    }
    if (of_rank.size() >= 4) limit(at, "tFAW", of_rank[of_rank.size() - 4].at, part_.tFAW);
    of_rank.push_back({at, group});
    if (of_rank.size() > 8) of_rank.erase(of_rank.begin());
  }

  BankedConfig part_;
  std::int64_t tick_;
  std::map<std::uint32_t, Bank> banks_;
  std::map<std::uint32_t, std::vector<Activate>> ranks_;
  std::uint64_t activates_ = 0, columns_ = 0, refreshes_ = 0;
  std::map<std::string, std::string> violations_;
};

void expect_no_violation(const std::vector<std::string>& settings, const char* network = "H=2,N=128,E=64") {
  SCOPED_TRACE(fmt::format("{}", fmt::join(settings, " ")));
  const Traced t = traced(settings, network);
  Checker checker(t.part);
  checker.check(t.vcd);
  for (const auto& [limit, text] : checker.violations()) ADD_FAILURE() << text;
  EXPECT_EQ(checker.activates(), t.result.sum("channel0", "activates"));
  EXPECT_GT(checker.columns(), 0U);
  EXPECT_GT(checker.refreshes(), 0U);
}

class BankWaveform : public testing::TestWithParam<const char*> {};
TEST_P(BankWaveform, KeepsTheLimitsOfTheDataSheet) {
  const std::string part = std::string("dram.part=") + GetParam();
  expect_no_violation({part});
  expect_no_violation({part, "dram.page=closed"});
  expect_no_violation({part, "dram.refresh=per-bank", "dram.page=open-adaptive"});
  BankedConfig ranks;
  config::apply_dram_part(ranks, GetParam());
  expect_no_violation(
      {part, "dram.ranks=2", "dram.mapping=rank " + ranks.mapping, "dram.write_queue=16", "dram.write_high=12"});
}
INSTANTIATE_TEST_SUITE_P(Parts, BankWaveform,
                         testing::Values("ddr4-2400", "ddr5-4800", "gddr6x", "gddr7", "hbm2", "hbm2e", "hbm3",
                                         "lpddr4-3200", "lpddr4-3733", "lpddr4-4266", "lpddr5-6400"),
                         [](const auto& part) {
                           std::string name = part.param;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

// Where DRAM is idle for many refresh intervals, rows are closed by the first refresh that comes.
TEST(BankWaveformOf, AnIdleChannelShowsItsRefreshes) {
  expect_no_violation({"dram.part=lpddr4-3200", "mac.rows=4", "mac.columns=4"});
  expect_no_violation({"dram.part=lpddr4-3200", "mac.rows=4", "mac.columns=4", "dram.refresh=per-bank"});
}

// A row stays open for tRAS, however early its last burst closes it.
TEST(BankWaveformOf, ClosedPagesStayOpenForTras) {
  const Traced t = traced({"dram.part=ddr5-4800", "dram.page=closed"});
  BankedConfig stricter = t.part;
  ++stricter.tRAS;  // rows of one burst are closed at once: none is open for longer than it must
  Checker checker(stricter);
  checker.check(t.vcd);
  EXPECT_EQ(checker.violations().count("tRAS"), 1U);
}

// The checker sees what is there to be seen: a part with slower limits would have been violated in each of them.
TEST(BankWaveformOf, CheckerSeesEveryLimit) {
  const Traced t = traced({"dram.part=ddr5-4800", "dram.page=closed", "dram.refresh=per-bank"});
  BankedConfig slower = t.part;
  for (std::uint32_t* limit : {&slower.tRC, &slower.tRAS, &slower.tRP, &slower.tRCDRD, &slower.tRCDWR, &slower.tRRD_S,
                               &slower.tRRD_L, &slower.tFAW, &slower.tRFCpb}) {
    *limit *= 4;
  }
  Checker checker(slower);
  checker.check(t.vcd);
  for (const char* limit : {"tRC", "tRAS", "tRP", "tRCD", "tRRD_S", "tRRD_L", "tFAW", "tRFC"}) {
    EXPECT_EQ(checker.violations().count(limit), 1U) << limit;
  }
}

// What a waveform shows changes nothing.
TEST(BankWaveformOf, ResultsAreThoseWithoutIt) {
  const std::vector<std::string> settings = {"dram.policy=banked", "dram.channels=1", "dram.part=lpddr4-3200",
                                             "mac.rows=4", "mac.columns=4"};
  const Traced with = traced({settings.begin() + 2, settings.end()});
  const MachineConfig machine = config::load_hardware("edge", settings);
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  const job::RunResult without =
      runner.run(workload::load("H=2,N=128,E=64"), job::parse_dataflow("layerwise"), nullptr, {});
  EXPECT_EQ(with.result.cycles, without.cycles);
  ASSERT_EQ(with.result.counters.size(), without.counters.size());
  for (std::size_t i = 0; i < without.counters.size(); ++i) {
    EXPECT_EQ(with.result.counters[i].value, without.counters[i].value)
        << without.counters[i].module << "." << without.counters[i].name;
  }
}

}  // namespace
}  // namespace attnvp
