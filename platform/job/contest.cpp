#include "platform/job/contest.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace attnvp::job {

namespace {

constexpr double kNearLeast = 1.01;  // of what any schedule takes: there is less than that left to win
constexpr double kNearly = 1.06;     // estimates are off by 5% at most, and seldom by that
constexpr double kOut = std::numeric_limits<double>::infinity();  // the cycles of what cannot be
constexpr double kMostCommands = 300'000;                         // of what is run: a second
constexpr std::uint32_t kMostCores = 1024;                        // of a machine that is made beside another one

}  // namespace

bool Contest::add(const Schedule& open, const Schedule& look_at) {
  const auto left_out = [this](const std::string& why) {
    left_out_ += (left_out_.empty() ? "" : "; ") + why;
    return false;
  };
  try {
    const Choice look = look_at_tiles(machine_, network_, look_at);
    least_cycles_ = job::least_cycles(machine_, network_, open);
    all_.push_back({open, look.schedule, look.cycles, look.commands, false, look.digest});
    return true;
  } catch (const RunError& why) {
    if (run_error_.empty()) run_error_ = why.what();
    return left_out(why.what());
  } catch (const config::ConfigError& why) {
    if (config_error_.empty()) config_error_ = why.what();
    return left_out(why.what());
  }
}

void Contest::refuse() const {
  if (!run_error_.empty()) throw RunError(run_error_);
  throw config::ConfigError(config_error_);
}

void Contest::refuse_all() const {
  if (!run_error_.empty()) throw RunError(left_out_);
  throw config::ConfigError(left_out_);
}

void Contest::sort() {
  std::stable_sort(all_.begin(), all_.end(), [](const Contender& a, const Contender& b) {
    return std::make_tuple(a.cycles == 0, !a.chosen, a.rank()) < std::make_tuple(b.cycles == 0, !b.chosen, b.rank());
  });
}

bool Contest::choose(Contender& c) {
  try {
    const Choice found = choose_tiles(machine_, network_, c.open);
    c.schedule = found.schedule;
    c.chosen = true;
    if (found.cycles > 0) c.estimate = found.cycles;
    c.commands = found.commands;
    if (settle_) settle_(c);
    return true;
  } catch (const RunError& why) {
    if (run_error_.empty()) run_error_ = why.what();
  } catch (const config::ConfigError& why) {
    if (config_error_.empty()) config_error_ = why.what();
  }
  c.estimate = kOut;
  return false;
}

void Contest::run(Contender& c) {
  if (c.cycles > 0 || c.commands > kMostCommands || machine_.clusters * machine_.cores > kMostCores) return;
  try {
    if (!trial_.has_value()) trial_.emplace(machine_);
    c.cycles = trial_->cycles(network_, c.schedule);
  } catch (const host_memory::Exceeded&) {  // no room for a second machine
  } catch (const RunError& why) {
    if (run_error_.empty()) run_error_ = why.what();
    c.estimate = kOut;
    trial_.reset();  // it is spent
  }
}

void Contest::decide(bool always) {
  sort();
  double best = kOut;
  std::set<std::uint64_t> begun;
  for (Contender& c : all_) {
    if (!begun.insert(c.digest).second) continue;  // another one that does the same on this machine
    if (!choose(c)) continue;
    if (c.estimate <= kNearLeast * least_cycles_) run(c);
    best = std::min(best, c.rank());
    if (c.cycles > 0 && best <= kNearLeast * least_cycles_) break;
  }
  const auto near = [&](const Contender& c) { return c.chosen && c.estimate <= kNearly * best; };
  const auto of_them = std::count_if(all_.begin(), all_.end(), near);
  for (Contender& c : all_) {
    if (near(c) && (always || of_them > 1)) run(c);
  }
  const auto out = [](const Contender& c) { return c.estimate == kOut; };
  all_.erase(std::remove_if(all_.begin(), all_.end(), out), all_.end());
  if (all_.empty()) refuse();
  sort();
  trial_.reset();
}

void Contest::challenge(const Schedule& open) {
  const Contender& first = all_.front();
  if (first.rank() <= kNearLeast * least_cycles_) return;
  Contender other;
  try {
    const Choice found = choose_tiles(machine_, network_, open);
    other = {open, found.schedule, found.cycles, found.commands, true};
  } catch (const RunError&) {  // no tiles fit that are found so
    return;
  } catch (const config::ConfigError&) {
    return;
  }
  if (other.estimate > kNearly * first.rank() || other.schedule.tiling == first.schedule.tiling) return;
  run(other);
  if (first.cycles == 0) run(all_.front());
  trial_.reset();
  if ((other.cycles > 0) == (first.cycles > 0)) all_.push_back(other);
  sort();
}

}  // namespace attnvp::job
