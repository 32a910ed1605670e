#include "tests/mutation/campaign.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "mapping/check/changed.h"
#include "models/bus/jitter.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/elaboration/platform.h"
#include "platform/job/command_tap.h"
#include "platform/job/job.h"
#include "tests/mutation/mutation.h"
#include "tests/support/all_schedules.h"

namespace attnvp::mutation {

namespace {

struct Setting {
  const char* machine;
  std::vector<std::string> changes;
  const char* layer;
};
const Setting kSettings[] = {
    {"edge-small", {}, "H=2,N=48,E=16"},
    {"edge", {"l1.size=64KiB"}, "H=3,N=64,E=16"},
    {"edge", {"mac.queue_depth=4", "vec.queue_depth=2"}, "H=2,HKV=1,N=70,E=16,causal=1"},
    {"cluster3", {"l1.size=128KiB"}, "H=2,NQ=1,NKV=300,E=16"},
};

// One schedule, its commands and its output as it should be.
class Subject {
 public:
  Subject(const Setting& setting, const job::Schedule& open)
      : machine_(config::load_hardware(setting.machine, setting.changes)),
        network_(config::load_network(setting.layer)),
        schedule_(job::complete(machine_, network_, open)),
        made_(job::make_job(machine_, network_, schedule_)),
        tensors_(job::random_tensors(network_, 5)) {
    std::map<std::tuple<std::uint32_t, int, std::uint32_t>, hal::Descriptor> before;
    const auto note = [&](std::uint32_t c, const mapping::Queue& q, std::uint64_t n, hal::Descriptor& d) {
      hal::Descriptor& last = before[{c, static_cast<int>(q.unit), q.index}];
      commands_.push_back({{c, q, n}, d, last});
      last = d;
    };
    check(note);
    output_ = run(nullptr).value_or(job::Result{}).output;
  }
  const std::vector<Recorded>& commands() const { return commands_; }
  bool sound() const { return !output_.empty() && check({}).findings.empty(); }

  Tally attempt(const Mutation& m, std::uint64_t seeds) {
    Tally t;
    t.mutants = 1;
    const auto change = [&](std::uint32_t c, const mapping::Queue& q, std::uint64_t n, hal::Descriptor& d) {
      if (m.is_at(c, q, n)) m.apply(d);
    };
    if (!check(change).findings.empty()) {
      t.found = 1;
      return t;
    }
    const std::optional<job::Result> plain = run(change);
    if (!plain || !plain->golden.passed) {
      t.by_run = 1;
      return t;
    }
    bool same = plain->output == output_;
    for (std::uint64_t seed = 1; same && seed <= seeds; ++seed) {
      jitter::begin(seed, runner().platform().context().clock.period_fs());
      const std::optional<job::Result> shaken = run(change);
      jitter::end();
      same = shaken && shaken->output == output_;
      if (!same) t.examples = fmt::format("seed {}: ", seed);
    }
    (same ? t.harmless : t.missed) = 1;
    if (!same)
      t.examples += fmt::format("{} of {} on {}, {}\n", m.text(), schedule_.text, network_.name, machine_.name);
    return t;
  }

 private:
  mapping::check::Report check(const mapping::check::Change& change) const {
    return mapping::check::check_changed(made_, machine_, {job::result_bytes(network_, schedule_)}, change);
  }
  job::Runner& runner() {
    if (!runner_) runner_ = std::make_unique<job::Runner>(machine_, config::load_energy("fusemax-45nm"), true);
    return *runner_;
  }
  // Nothing: it stopped on its own, or firmware said that it failed.
  std::optional<job::Result> run(const mapping::check::Change& change) {
    std::optional<job::Result> result;
    try {
      const job::CommandTap tap(runner().platform(), made_, {}, change);
      result = runner().run(network_, schedule_, &tensors_, {});
    } catch (const job::RunError&) {
    }
    if (!result) runner_.reset();
    return result;
  }

  MachineConfig machine_;
  config::Network network_;
  job::Schedule schedule_;
  mapping::Job made_;
  job::Tensors tensors_;
  std::unique_ptr<job::Runner> runner_;
  std::vector<Recorded> commands_;
  std::vector<arith::Half> output_;
};

void print(const std::string& name, const Tally& t) {
  std::fputs(fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, t.mutants, t.found, t.by_run, t.harmless, t.missed)
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

}  // namespace

Tally& Tally::operator+=(const Tally& o) {
  mutants += o.mutants;
  found += o.found;
  by_run += o.by_run;
  harmless += o.harmless;
  missed += o.missed;
  examples += o.examples;
  return *this;
}

Tally campaign(std::uint64_t mutants, std::uint64_t seeds) {
  const std::vector<job::Schedule> schedules = runs::all_schedules();
  const std::uint64_t each = (mutants + schedules.size() - 1) / schedules.size();
  Tally all;
  std::fputs("| dataflow | mutants | found | only by the run | harmless | missed |\n|---|--:|--:|--:|--:|--:|\n",
             stdout);
  runs::Random dice(20);
  for (const job::Schedule& open : schedules) {
    if (open.text.find("grid=blocks") != std::string::npos) continue;  // reads padding, of which the checker tells
    Tally of_dataflow;
    std::uint64_t settings = std::size(kSettings);
    for (const Setting& setting : kSettings) {
      const std::uint64_t wanted = (each - of_dataflow.mutants + settings - 1) / settings;
      --settings;
      try {
        Subject subject(setting, open);
        if (!subject.sound()) {
          of_dataflow.examples += fmt::format("{} on {} is not sound without any mutation\n", open.text, setting.layer);
          ++of_dataflow.missed;
          continue;
        }
        for (std::uint64_t i = 0; i < wanted; ++i) {
          Mutation m;
          if (random_mutation(dice, subject.commands(), m)) of_dataflow += subject.attempt(m, seeds);
        }
      } catch (const std::runtime_error&) {  // no schedule fits there
      }
    }
    print(open.text, of_dataflow);
    all += of_dataflow;
  }
  print("all", all);
  return all;
}

}  // namespace attnvp::mutation
