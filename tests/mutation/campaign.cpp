#include "tests/mutation/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "firmware/hal/registers.h"
#include "models/sim/module.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/control/commands.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/schedule/check/checker.h"
#include "tests/mutation/mutation.h"
#include "tests/support/all_schedules.h"
#include "tests/support/tuned.h"

namespace attnvp::mutation {

namespace {

constexpr std::uint64_t kMoved = 64 << 10;  // by which a mutant may reach further, about

// Small tiles, so that buffers are used again and again.
struct Setting {
  const char* machine;
  std::vector<std::string> changes;
  const char* layer;
  std::vector<job::Tiling::TileParameter> tiles;  // as far as the dataflow has them and the layer takes them
};
const Setting kSettings[] = {
    {"edge-small", {}, "H=2,N=48,E=16", {{"nq", 16}, {"nkv", 16}}},
    {"edge", {"l1.size=64KiB", "l0.size=16KiB"}, "H=3,N=64,E=16", {}},
    {"edge", {"mac.queue_depth=4", "vec.queue_depth=2"}, "H=2,HKV=1,N=70,E=16,causal=1", {{"nq", 16}, {"nkv", 32}}},
    {"cluster3", {"l1.size=128KiB"}, "H=2,NQ=1,NKV=300,E=16", {}},
    {"fusemax", {}, "H=2,N=64,E=32,causal=1,window=40", {{"nq", 16}, {"nkv", 16}}},
    {"edge", {"cores=1", "dma.in_order=false"}, "H=2,N=64,E=16,type=int8", {{"nq", 16}}},
};

// One schedule, its commands and its output as it should be.
class Subject {
 public:
  Subject(const MachineConfig& machine, const Setting& setting, const job::Schedule& open)
      : machine_(machine),
        network_(workload::load(setting.layer)),
        schedule_(completed(setting, open)),
        made_(job::make_job(machine_, network_, schedule_)),
        tensors_(job::random_tensors(network_, 5)) {
    std::map<std::tuple<std::uint32_t, int, std::uint32_t>, hal::Descriptor> before;
    const auto note = [&](std::uint32_t c, const schedule::Queue& q, std::uint64_t n, hal::Descriptor& d) {
      hal::Descriptor& last = before[{c, static_cast<int>(q.unit), q.index}];
      commands_.push_back({{c, q, n}, d, last});
      last = d;
      for (const hal::Operand& o : d.operand) {
        if (o.address < hal::l1_base(c) || o.address - hal::l1_base(c) >= machine_.l1.size_bytes) continue;
        l1_used_ = std::max(l1_used_, o.address - hal::l1_base(c) + std::uint64_t{d.rows} * o.row_stride);
      }
    };
    hal::Descriptor last[2];
    const auto note_event = [&](std::uint32_t c, std::uint64_t n, bool take, std::uint32_t& event,
                                std::uint32_t& tokens) {
      if (tokens > hal::kMaxTokens) return;
      const hal::Descriptor d = nop_of(take, event, tokens);
      (take ? takes_ : gives_).push_back({{c, {}, n, true}, d, last[take ? 1 : 0]});
      last[take ? 1 : 0] = d;
    };
    check(note, note_event);
    output_ = run({}, {}, 0).value_or(job::RunResult{}).output;
  }
  // One in ten of the processor's own waits and signals.
  bool mutation(runs::Random& dice, Mutation& m) const {
    const std::vector<Recorded>& of_processor = dice.one_in(2) ? takes_ : gives_;
    return random_mutation(dice, dice.one_in(10) && !of_processor.empty() ? of_processor : commands_, m);
  }
  std::string text() const { return fmt::format("{} on {}, {}", schedule_.text, network_.name(), machine_.name); }

  // What is wrong with it as it is, or nothing.
  std::string unsound() const {
    if (output_.empty()) return "it does not run";
    const schedule::check::Report report = check({}, {});
    return report.findings.empty() ? "" : to_text(report.findings.front());
  }

  Tally attempt(const Mutation& m, std::uint64_t seeds) {
    const auto change = [&](std::uint32_t c, const schedule::Queue& q, std::uint64_t n, hal::Descriptor& d) {
      if (m.is_at(c, q, n)) m.apply(d);
    };
    const auto of_processor = [&](std::uint32_t c, std::uint64_t n, bool take, std::uint32_t& event,
                                  std::uint32_t& tokens) { m.apply(c, n, take, event, tokens); };
    Tally t;
    t.mutants = 1;
    t.found = check(change, of_processor).findings.empty() ? 0 : 1;
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
      const std::optional<job::RunResult> r = run(change, of_processor, seed);
      if (r && r->output == output_) continue;
      if (t.found != 0) {
        t.seen = 1;
      } else if (seed == 0 && (!r || !r->golden.passed)) {
        t.by_run = 1;
        if (!m.is_of_operand()) t.examples = fmt::format("only by the run: {} of {}\n", m.text(), text());
      } else {
        t.missed = 1;
        t.examples = fmt::format("seed {}: {} of {}\n", seed, m.text(), text());
      }
      return t;
    }
    if (t.found == 0) t.harmless = 1;
    return t;
  }

 private:
  job::Schedule completed(const Setting& setting, job::Schedule schedule) const {
    job::Schedule tiled = schedule;
    for (const job::Tiling::TileParameter& e : setting.tiles) tiled.tiling.set(e.first, e.second);
    try {
      return runs::complete(machine_, network_, tiled);
    } catch (const std::runtime_error&) {
      return runs::complete(machine_, network_, schedule);
    }
  }
  schedule::check::Report check(const schedule::check::CommandMutation& change,
                                const schedule::check::TokenMutation& of_processor) const {
    return schedule::check::check_changed(made_, machine_, {job::result_bytes(network_, schedule_)}, change,
                                          of_processor);
  }

  // What memories hold beforehand shows in the result: NaNs.
  void spoil(Platform& platform) const {
    const std::uint64_t l1 = std::min<std::uint64_t>(l1_used_ + kMoved, machine_.l1.size_bytes);
    const std::uint64_t dram = made_.scratch.address + std::min(made_.scratch.bytes, kMoved) - made_.block.layer.o;
    const std::vector<std::uint32_t> nans(std::max(l1, dram) / 4, 0xFFFF'FFFF);
    for (std::uint32_t c = 0; c < machine_.clusters; ++c) platform.write(hal::l1_base(c), nans.data(), l1);
    platform.write(made_.block.layer.o, nans.data(), dram);
  }
  // With random delays of a seed, or none for 0. Nothing: it stopped on its own, or firmware said that it failed.
  std::optional<job::RunResult> run(const schedule::check::CommandMutation& change,
                                    const schedule::check::TokenMutation& of_processor, std::uint64_t seed) {
    if (!runner_) runner_ = std::make_unique<runs::Runner>(machine_, config::load_energy("fusemax-45nm"), true);
    Platform& platform = runner_->platform();
    spoil(platform);
    Context& context = platform.context();
    if (seed != 0) context.jitter = std::make_unique<Jitter>(seed, context.clock.period_fs());
    std::optional<job::RunResult> result;
    try {
      const job::CommandTap tap(platform, made_, {}, change, of_processor);
      result = runner_->run(network_, schedule_, &tensors_, {});
    } catch (const job::RunError&) {
    }
    context.jitter.reset();
    if (!result) runner_.reset();
    return result;
  }

  MachineConfig machine_;
  workload::Workload network_;
  job::Schedule schedule_;
  schedule::Job made_;
  job::Tensors tensors_;
  std::unique_ptr<runs::Runner> runner_;
  std::vector<Recorded> commands_, takes_, gives_;  // the latter the processor's
  std::vector<arith::Half> output_;
  std::uint64_t l1_used_ = 0;  // bytes, up to where commands go
};

void print(const std::string& name, const Tally& t) {
  std::fputs(fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name, t.mutants, t.found, t.seen, t.by_run,
                         t.harmless, t.missed)
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

void print_head(const char* what) {
  std::fputs(fmt::format("| {} | mutants | found | of them seen to go wrong | by the golden check | harmless | missed "
                         "|\n|---|--:|--:|--:|--:|--:|--:|\n",
                         what)
                 .c_str(),
             stdout);
}

}  // namespace

Tally& Tally::operator+=(const Tally& o) {
  for (const auto count :
       {&Tally::mutants, &Tally::found, &Tally::seen, &Tally::by_run, &Tally::harmless, &Tally::missed}) {
    this->*count += o.*count;
  }
  examples += o.examples;
  return *this;
}

Tally campaign(std::uint64_t mutants, std::uint64_t seeds, const std::string& only) {
  const std::vector<job::Schedule> schedules = runs::all_schedules();
  const std::uint64_t each = (mutants + schedules.size() - 1) / schedules.size();
  Tally all;
  std::map<std::pair<bool, Mutation::What>, Tally> by_kind;  // of the processor's own waits and signals, or not
  print_head("dataflow");
  std::uint32_t number = 20;
  for (const job::Schedule& open : schedules) {
    runs::Random dice(++number);
    if (open.text.compare(0, only.size(), only) != 0) continue;
    Tally of_dataflow;
    std::uint64_t settings = std::size(kSettings);
    for (const Setting& setting : kSettings) {
      const std::uint64_t wanted = (each - of_dataflow.mutants + settings - 1) / settings;
      --settings;
      const MachineConfig machine = config::load_hardware(setting.machine, setting.changes);
      try {
        Subject subject(machine, setting, open);
        if (const std::string wrong = subject.unsound(); !wrong.empty()) {
          of_dataflow.examples += fmt::format("{} as it is: {}\n", subject.text(), wrong);
          ++of_dataflow.missed;
          continue;
        }
        for (std::uint64_t i = 0; i < wanted; ++i) {
          Mutation m;
          if (!subject.mutation(dice, m)) continue;
          const Tally one = subject.attempt(m, seeds);
          of_dataflow += one;
          std::fputs(one.examples.c_str(), stdout);
          by_kind[{m.place.processor, m.what}] += one;
        }
      } catch (const std::runtime_error&) {  // no schedule fits there
      }
    }
    print(open.text, of_dataflow);
    all += of_dataflow;
  }
  print("all", all);
  print_head("mutation");
  for (const auto& [what, tally] : by_kind) {
    print(fmt::format("{}{}", what.first ? "processor: " : "", to_string(what.second)), tally);
  }
  return all;
}

}  // namespace attnvp::mutation
