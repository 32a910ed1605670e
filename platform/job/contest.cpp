#include "platform/job/contest.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>

#include "mapping/programs.h"
#include "platform/job/ways.h"

namespace attnvp::job {

using mapping::Effort;

namespace {

constexpr double kNearLeast = 1.01;       // of what any schedule takes: there is less than that left to win
constexpr double kNearLeastFound = 1.03;  // of what was not looked at closely
constexpr double kNearly = 1.06;          // estimates are off by 5% at most, and seldom by that
constexpr double kOut = std::numeric_limits<double>::infinity();  // the cycles of what cannot be
constexpr double kMostCommands = 300'000;                         // of what is run: a second
constexpr std::uint32_t kMostCores = 1024;                        // of a machine that is made beside another one

// Where there is a limit, a choice that is so far behind the best one is not gone on with: after its first parts, as
// starts differ, and then. Of cases 0 to 299 of docs/auto.md 2 and 1.35 found nothing faster and took
// longer; 1.2 after two parts lost 7% on one.
constexpr double kBehindFirst = 1.5, kBehind = 1.25;
constexpr int kFirstParts = 3, kParts = 5;
constexpr double kClose = 1.15;      // whose tiles are looked at closely before the nearest are run,
constexpr double kCloseOver = 1.03;  //   once there was enough effort
// Runs of a limit that are kept for those; for those and what others come to from the first one's tiles (of 3, 4, 5 and
// 7 chosen by cases 0 to 499 of docs/auto.md); for what a challenge that has begun in time takes beyond it; and for the
// run that is asked for.
constexpr std::uint32_t kTrials = 3, kVaried = 4, kOver = 6, kTheLast = 2;

}  // namespace

bool Contest::add(const Schedule& open, const Schedule& look_at) {
  const auto left_out = [this](const std::string& why) {
    if (left_out_.find(why) == std::string::npos) left_out_ += (left_out_.empty() ? "" : "; ") + why;
    return false;
  };
  try {
    const Choice look = look_at_tiles(machine_, network_, look_at, replays_, glance());
    least_cycles_ = job::least_cycles(machine_, network_, open);
    all_.push_back({open, look.schedule, look.cycles, look.commands, false, {}});
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

void Contest::out(Contender& c, const std::exception& why) {
  const bool config = dynamic_cast<const config::ConfigError*>(&why) != nullptr;
  std::string& first = config ? config_error_ : run_error_;
  if (first.empty()) first = why.what();
  c.estimate = kOut;
}

double Contest::a_run(double commands) const {
  return Effort::of_a_program(commands) + Effort::of_a_machine(machine_.clusters, machine_.cores);
}

void Contest::allow(double commands, std::uint32_t runs) {
  if (runs_ == 0) return;
  fewest_commands_ = std::min(fewest_commands_, commands);
  replays_.effort().allow(runs * a_run(fewest_commands_));
}

void Contest::allow_all_but(std::uint32_t runs) {
  if (runs_ == 0) return;
  replays_.effort().allow(runs_but(runs) * a_run(all_.front().commands));
}

double Contest::runs_left() {
  allow_all_but(kTheLast);
  return replays_.effort().left() / Effort::of_simulated(std::max(all_.front().commands, 1.0));
}

bool Contest::choose(Contender& c, Choosing& choosing) {
  try {
    const Choice found = choosing.choice();
    c.schedule = found.schedule;
    c.chosen = true;
    if (found.cycles > 0) c.estimate = found.cycles;
    if (found.commands > 0) c.commands = found.commands;
    if (settle_) settle_(c);
    return true;
  } catch (const RunError& why) {
    out(c, why);
  } catch (const config::ConfigError& why) {
    out(c, why);
  }
  return false;
}

void Contest::run(Contender& c) {
  if (c.cycles > 0 || c.commands > kMostCommands || machine_.clusters * machine_.cores > kMostCores) return;
  try {
    if (!trial_.has_value()) {
      trial_.emplace(machine_);
      replays_.effort().add(Effort::of_a_machine(machine_.clusters, machine_.cores));
    }
    c.cycles = trial_->cycles(network_, c.schedule);
    replays_.effort().add(Effort::of_simulated(c.commands));
  } catch (const host_memory::Exceeded&) {  // no room for a second machine
  } catch (const RunError& why) {
    out(c, why);
    trial_.reset();  // it is spent
  }
}

bool Contest::near_least(const Contender& c) const { return c.rank() <= kNearLeast * least_cycles_; }

std::vector<Contest::Open> Contest::choices() {
  std::vector<Open> all;
  for (Contender& c : all_) {
    try {
      all.push_back({&c, std::make_unique<Choosing>(machine_, network_, c.open, replays_, glance())});
    } catch (const RunError& why) {
      out(c, why);
    } catch (const config::ConfigError& why) {
      out(c, why);
    }
  }
  return all;
}

bool Contest::advance(Contender& c, Choosing& choosing) {
  if (replays_.effort().over() || !choosing.advance()) return false;
  const mapping::Estimate best = choosing.best();
  c.estimate = best.cycles * c.off;
  c.commands = best.all_commands;
  return true;
}

void Contest::go_on(Open& o) {
  o.going = advance(*o.contender, *o.choosing);
  if (o.going) allow(likeliest().commands, runs_but(kVaried));
}

double Contest::run_of_likeliest(const Open& o) {
  const std::optional<Choice> found = o.choosing->likeliest();
  if (!found) return 0;
  Contender likeliest{o.contender->open, found->schedule, found->cycles, found->commands, true, {}};
  run(likeliest);
  return static_cast<double>(likeliest.cycles);
}

bool Contest::ends_here(Open& o) {
  Contender& c = *o.contender;
  if (!o.going || o.twin() || !near_least(c)) return false;
  const auto nearly_least = [&] {
    c.cycles = 0;
    if (choose(c, *o.choosing)) run(c);
    return c.cycles > 0 && near_least(c);
  };
  // There is so little left to win that, under a limit, it is run before the rest of its choice is made: at first as it
  // was found, as few commands may promise too much. What is slower than another choice then has to get better first.
  double ran = kOut, chosen = kOut;
  if (runs_ > 0) {
    ran = run_of_likeliest(o);
    for (const Contender& other : all_) chosen = std::min(chosen, other.chosen ? other.rank() : kOut);
    if (ran > kNearly * chosen) {
      c.off *= ran / c.estimate;
      c.estimate = ran;
      return false;
    }
  }
  o.going = ran > kNearLeastFound * least_cycles_ || !nearly_least();
  if (!o.going) return true;
  while (advance(c, *o.choosing)) {
  }
  o.going = false;
  return nearly_least();
}

const std::string* Contest::same_begun(const Contender& c, Choosing& choosing, Begun& begun, const void* parameters) {
  const mapping::Estimate best = choosing.best();
  const auto [at, fresh] = begun.try_emplace({best.digest, best.cycles, best.commands, parameters}, c.open.text);
  return fresh ? nullptr : &at->second;
}

bool Contest::behind(double estimate, int part, double best) const {
  return runs_ > 0 && estimate > (part < kFirstParts ? kBehindFirst : kBehind) * best;
}

Contest::Open* Contest::same_as(const Open& open, std::vector<Open>& all) const {
  const auto parameters = [](const Open& o) { return mapping::find_dataflow(o.contender->open.dataflow)->parameters; };
  for (Open& o : all) {
    if (runs_ == 0 || &o == &open) break;
    if (!o.twin() && parameters(o) == parameters(open) && open.choosing->does_as(*o.choosing)) return &o;
  }
  return nullptr;
}

void Contest::begin_at_best(Open& o, const std::vector<Open>& all) const {
  const Open* best = nullptr;
  for (const Open& before : all) {
    if (runs_ == 0 || &before == &o) break;
    if (before.twin() || before.contender->estimate == kOut) continue;
    if (best == nullptr || before.contender->estimate < best->contender->estimate) best = &before;
  }
  if (best == nullptr) return;
  if (const std::optional<Choice> found = best->choosing->likeliest()) {
    o.choosing->begin_from(begun_at(o.contender->open, found->schedule));
  }
}

bool Contest::choose_all(std::vector<Open>& open) {
  Begun begun;
  for (Open& o : open) {
    if (const Open* const same = same_as(o, open)) {
      o.contender->estimate = same->contender->estimate;
      o.contender->commands = same->contender->commands;
      o.contender->same = same->contender->open.text;
      continue;
    }
    begin_at_best(o, open);
    go_on(o);
    if (const std::string* const same = same_begun(*o.contender, *o.choosing, begun)) o.contender->same = *same;
    if (ends_here(o)) return true;
  }
  // The likeliest one at once to its end, the others part by part.
  const auto likelier = [](const Open& a, const Open& b) { return a.contender->estimate < b.contender->estimate; };
  for (int part = 1; part < kParts; ++part) {
    std::stable_sort(open.begin(), open.end(), likelier);
    for (Open& o : open) {
      do {
        if (!o.going || o.twin() || behind(o.contender->estimate, part, likeliest().estimate)) break;
        go_on(o);
        if (ends_here(o)) return true;
      } while (o.contender == &likeliest());
    }
  }
  return false;
}

// Those that are close once they are looked at closely, the likeliest first, as closer looks may tell that it is none.
void Contest::choose_close(std::vector<Open>& open) {
  double best = kOut;
  const auto next = [&] {
    Open* likeliest = nullptr;
    for (Open& o : open) {
      if (o.twin() || o.contender->chosen || o.seen) continue;
      if (likeliest == nullptr || o.contender->estimate < likeliest->contender->estimate) likeliest = &o;
    }
    return likeliest;
  };
  for (const Open& o : open) {
    if (o.contender->chosen) best = std::min(best, o.contender->estimate);
  }
  const auto close = [&](const Contender& c) {
    return best == kOut || c.estimate <= (replays_.effort().over() ? kCloseOver : kClose) * best;
  };
  for (Open* o = next(); o != nullptr && close(*o->contender); o = next()) {
    o->seen = true;
    if (choose(*o->contender, *o->choosing)) best = std::min(best, o->contender->estimate);
  }
}

const Contender& Contest::likeliest() const {
  // Of two that do the same one is not gone on with.
  const auto likelier = [](const Contender& a, const Contender& b) {
    return std::make_tuple(!a.same.empty(), a.estimate) < std::make_tuple(!b.same.empty(), b.estimate);
  };
  return *std::min_element(all_.begin(), all_.end(), likelier);
}

void Contest::run_nearest(bool always) {
  double least = kOut;
  for (const Contender& c : all_) least = c.chosen ? std::min(least, c.estimate) : least;
  const auto near = [&](const Contender& c) { return c.chosen && c.estimate <= kNearly * least; };
  const auto of_them = std::count_if(all_.begin(), all_.end(), near);
  if (!always && of_them < 2) return;
  allow(all_.front().commands, runs_);
  std::uint32_t ran = 0;
  double best = kOut;
  for (Contender& c : all_) {  // the likeliest first; and what is estimated to be faster than those turn out to be
    if (!c.chosen || c.cycles > 0 || !(near(c) || c.estimate < best)) continue;
    if (ran++ < kTrials || !replays_.effort().over()) run(c);
    best = std::min(best, c.rank());
  }
}

void Contest::decide(bool always) {
  sort();
  if (runs_ > 0) replays_.effort().allow_by([this](double commands) { return runs_but(kVaried) * a_run(commands); });
  std::vector<Open> open = choices();
  if (!choose_all(open)) {
    choose_close(open);
    sort();
    run_nearest(always);
  }
  replays_.effort().allow_by({});
  open.clear();
  const auto out = [](const Contender& c) { return c.estimate == kOut; };
  all_.erase(std::remove_if(all_.begin(), all_.end(), out), all_.end());
  if (all_.empty()) refuse();
  sort();
  trial_.reset();
}

void Contest::challenge(const std::vector<Schedule>& others) {
  Begun begun;
  for (const Schedule& open : others) {
    allow_all_but(kOver);
    if (near_least(all_.front()) || replays_.effort().over()) break;
    if (std::optional<Contender> other = challenger(open, begun)) meet(*other);
  }
  trial_.reset();
}

void Contest::vary(const std::vector<Schedule>& others) {
  for (const Schedule& open : others) {
    allow_all_but(kTrials);
    const Contender& first = all_.front();
    if (near_least(first) || replays_.effort().over()) break;
    if (first.open.text == open.text && first.open.tiling == open.tiling) continue;
    if (std::optional<Contender> other = varied(open)) meet(*other);
  }
  trial_.reset();
}

// As fast as that, or nearly, by its first commands and then by more of them.
std::optional<Contender> Contest::varied(const Schedule& open) {
  const Contender& first = all_.front();
  try {
    Choosing choosing(machine_, network_, open, replays_, glance(), begun_at(open, first.schedule));
    if (choosing.best().cycles > kClose * first.rank() || !choosing.advance()) return std::nullopt;
    const Choice found = choosing.choice();
    if (found.cycles > kNearly * first.rank()) return std::nullopt;
    return Contender{open, found.schedule, found.cycles, found.commands, true, {}};
  } catch (const RunError&) {  // such tiles do not fit
    return std::nullopt;
  } catch (const config::ConfigError&) {
    return std::nullopt;
  }
}

// With its tiles, if it may be as fast as the first one and is another one than those that were begun.
std::optional<Contender> Contest::challenger(const Schedule& open, Begun& begun) {
  const Contender& first = all_.front();
  Contender other;
  other.open = open;
  try {
    Choosing choosing(machine_, network_, open, replays_);
    for (int part = 0; advance(other, choosing); ++part) {
      const void* const parameters = mapping::find_dataflow(open.dataflow)->parameters;
      if (part == 0 && same_begun(other, choosing, begun, parameters) != nullptr) return std::nullopt;
      if (behind(other.estimate, part, first.rank())) return std::nullopt;
    }
    const Choice found = choosing.choice();
    other = {open, found.schedule, found.cycles, found.commands, true, {}};
  } catch (const RunError&) {  // no tiles fit that are found so
    return std::nullopt;
  } catch (const config::ConfigError&) {
    return std::nullopt;
  }
  if (other.estimate > kNearly * first.rank() || other.schedule.tiling == first.schedule.tiling) return std::nullopt;
  return other;
}

void Contest::meet(Contender& other) {
  run(other);
  const Contender& first = all_.front();
  if (first.cycles == 0) run(all_.front());
  if ((other.cycles > 0) != (first.cycles > 0)) return;
  const auto chosen_before = [&](const Contender& c) {
    return c.open.text == other.open.text && c.open.tiling == other.open.tiling;
  };
  const auto before = std::find_if(all_.begin(), all_.end(), chosen_before);
  if (before == all_.end()) {
    all_.push_back(other);
  } else if (before->cycles == 0 || other.rank() < before->rank()) {
    *before = other;
  }
  sort();
}

}  // namespace attnvp::job
