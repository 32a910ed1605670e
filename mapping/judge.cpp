#include "mapping/judge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "mapping/programs.h"
#include "mapping/prospects.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

namespace {

// How many commands of a stream are looked at: of all schedules at first, then of the best ones of those.
struct Closer {
  std::size_t schedules, commands;
};
constexpr std::size_t kCommands = 1000, kRoughly = 250;
constexpr Closer kCloser[] = {{12, 4000}, {3, 40000}};
constexpr std::size_t kMore = 5, kFirst = 2, kOfEachMerit = 2;
constexpr double kNearBest = 1.3;
constexpr double kLess = 0.99;       // of the bus: worth larger buffers
constexpr std::size_t kSure = 8000;  // before a choice ends early

// Of schedules that take nearly as long, the one that moves less: energy, and what others leave of the bus.
// The K and V of a group are to come once for all its queries: what brings them again is to save half of its bus time.
constexpr double kBusShare = 1.0 / 30, kBusShareOfGroups = 1.0 / 2;

// Likewise of what is read and written in L1, of which each core has its part. And the one with fewer commands: each
// has a little that no estimate knows of, cycles of an engine. Neither of those whose scores go by way of DRAM: 12
// networks on edge were tried, and it made those up to 3.7% slower.
constexpr double kL1Share = 1.0 / 100, kOfACommand = 1;

double on_chip(const firmware::Dataflow& dataflow, double share) {
  return dataflow.scores == hal::kScoresOnChip ? share : 0;
}

double bus_share_of(const firmware::Dataflow& dataflow, const Job& job) {
  double share = kBusShare;
  for (std::size_t i = 0; dataflow.parameters[i] != nullptr; ++i) {
    const firmware::Parameter& p = *dataflow.parameters[i];
    const auto keeps = [&](std::uint32_t value) { return keeps_heads(p, value) && worth_trying(p, value, job); };
    if (std::any_of(std::begin(p.tries), std::end(p.tries), keeps)) share = kBusShareOfGroups;
  }
  return share;
}

}  // namespace

Judge::Judge(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance)
    : job_(job),
      dataflow_(dataflow),
      replays_(replays),
      known_(replays.known(job)),
      bus_share_(bus_share_of(dataflow, job)),
      l1_share_(on_chip(dataflow, kL1Share / replays.costs().machine().cores)),
      command_(on_chip(dataflow, kOfACommand / (2.0 * replays.costs().machine().cores))),
      least_(kNever),
      rough_(glance == Glance::kRough),
      at_first_(rough_ ? kRoughly : kCommands),
      commands_(at_first_) {
  while (dataflow.parameters[count_] != nullptr) ++count_;
}

Job Judge::with(const Words& words) const {
  Job job = job_;
  std::copy(words.begin(), words.end(), job.block.parameter);
  return job;
}

const Need& Judge::need(const Words& words) {
  const auto [found, fresh] = known_.needs.try_emplace(words);
  if (fresh) {
    found->second = need_of(with(words));
    replays_.effort().add(Effort::kOfANeed);
  }
  const Need& n = found->second;
  if (nearest_.result.status == hal::Status::kIdle || nearer(n, nearest_)) {
    nearest_ = n;
    nearest_words_ = words;
  }
  return n;
}

bool Judge::nearer(const Need& a, const Need& b) {
  const auto rank = [](const Need& n) {
    switch (n.result.status) {
      case hal::Status::kDone:
        return 0;
      case hal::Status::kL1TooSmall:
      case hal::Status::kL0TooSmall:
      case hal::Status::kL2TooSmall:
      case hal::Status::kTooFewEvents:
        return 1;
      default:
        return 2;
    }
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 0 ? a.l1_bytes < b.l1_bytes : a.result.detail[0] < b.result.detail[0];
}

hal::JobResult Judge::word_on_nearest() const {
  if (!nearest_.fits(job_)) return nearest_.result;
  struct Deaf final : Reader {
    void command(const Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
  } reader;
  return read_stream(with(nearest_words_), 0, reader);
}

double Judge::merit(const Words& words, double most) {
  const auto found = merits_.find(words);
  if (found != merits_.end()) return found->second;
  if (any() && replays_.effort().over()) return kNever;
  const double merit = fits(words) ? closely(words, commands_, most) : kNever;
  if (merit >= most) return merit;
  merits_[words] = merit;
  found_.emplace_back(merit, words);
  if (merit < least_) {
    least_ = merit;
    const Estimate& best = look(words, commands_, most);
    replays_.effort().found(best.cycles, best.all_commands);
  }
  return merit;
}

std::pair<double, Words> Judge::first() const { return *std::min_element(found_.begin(), found_.end()); }

std::vector<Words> Judge::differing() const {
  if (found_.empty()) return {};
  const Words best = first().second;
  std::vector<Words> some{best};
  for (std::size_t i = 0; i < count_; ++i) {
    const auto other = [&](const auto& found) { return found.first < kNever && found.second[i] != best[i]; };
    const auto at = std::find_if(found_.begin(), found_.end(), other);
    if (at != found_.end()) some.push_back(at->second);
  }
  return some;
}

bool Judge::looks_closer(const Words& words) {
  const auto whole = [&](const Words& one) { return look(one, at_first_).commands <= static_cast<double>(at_first_); };
  if (whole(words) && whole(first().second)) return false;
  commands_ = kCloser[0].commands;
  merits_.clear();
  found_.clear();
  least_ = kNever;
  return merit(words) < kNever;
}

bool Judge::surely(double merit) { return closely(first().second, kSure) < merit; }

const Estimate& Judge::look(const Words& words, std::size_t commands, double enough) {
  std::map<std::size_t, Known::Look>& looks = known_.looks[words];
  Known::Look& known = looks[commands];
  if (known.serves(enough)) return known.estimate;
  for (const auto& [fewer, look] : looks) {
    if (fewer < commands && look.estimate.whole && look.serves(enough)) return (known = look).estimate;
  }
  const Job job = with(words);
  replays_.costs().set_control(control_of(words, job));
  known = {estimate(job, replays_, commands, enough), enough};
  return known.estimate;
}

const Estimate& Judge::estimated(const Words& words, bool closely) {
  return look(words, closely ? kCloser[1].commands : at_first_);
}

bool Judge::beats(const Words& words, const Words& other) {
  const std::size_t commands = kCloser[1].commands;
  return words != other && closely(words, commands) < kBetter * closely(other, commands);
}

bool Judge::spares(const Words& words, const Words& than) {
  const std::size_t commands = kCloser[1].commands;
  const Estimate &one = look(words, commands), &other = look(than, commands);
  return one.bus < kLess * other.bus && merit(one) <= merit(other);
}

// What firmware takes for a command, of schedules of one structure: words in place of numbers, heads taken together.
double Judge::control_of(const Words& words, const Job& job) {
  Words structure = words;
  for (std::size_t i = 0; i < count_; ++i) {
    const firmware::Parameter& p = *dataflow_.parameters[i];
    if (p.extent == firmware::Extent::kBatch || p.extent == firmware::Extent::kHeads)
      structure[i] = std::min(words[i], 2U);
    else if (words[i] != hal::kWord)
      structure[i] = 0;
  }
  const auto found = control_.find(structure);
  if (found != control_.end()) return found->second;
  return control_[structure] = cycles_of_a_command(job, replays_.costs().machine(), kCommands);
}

Words Judge::best() {
  std::vector<std::pair<double, Words>> looked_at = found_;
  for (const Closer& look : kCloser) {
    Prospects from(std::exchange(looked_at, {}));
    double best = kNever;
    std::size_t first = 0;
    std::map<double, std::size_t> of_merit;
    while (const Prospect* p = from.next()) {
      // More of them where those before turn out to be worse than they promised; and, if they are near, the first
      // ones and those where steps ended. Of the others none that is expected to be no better than what is nearly it.
      const std::size_t most = p->merit < best ? kMore * look.schedules : look.schedules;
      if (of_merit[p->merit]++ >= kOfEachMerit) continue;  // where a parameter makes no difference
      const bool one = first++ < kFirst || ends_.count(p->words) > 0;
      if (looked_at.size() >= most && !(one && p->expected < kNearBest * best)) continue;
      if (p->distance == 1 && p->expected >= best && !one) continue;
      const double merit = closely(p->words, look.commands, kNearBest * best);
      best = std::min(best, merit);
      looked_at.emplace_back(merit, p->words);
      if (rough_) from.learn(merit);  // by 1,000 commands it changed nothing but which of equals was taken
    }
  }
  Words chosen;
  double least = kNever;
  for (const auto& [merit, words] : looked_at) {
    if (!chosen.empty() && merit >= least * kBetter) continue;
    chosen = words;
    least = merit;
  }
  return chosen;
}

}  // namespace attnvp::mapping
