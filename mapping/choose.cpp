#include "mapping/choose.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <tuple>

#include "mapping/bound.h"
#include "mapping/costs.h"
#include "mapping/estimate.h"
#include "mapping/programs.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

namespace {

// How many commands of a stream are looked at: of all schedules at first, then of the best ones of those.
struct Look {
  std::size_t schedules, commands;
};
constexpr std::size_t kCommands = 1000;
constexpr std::size_t kMore = 4, kOfEachName = 2;
constexpr Look kCloser[] = {{12, 4000}, {3, 20000}};
constexpr std::size_t kSure = 8000;   // before the choice ends early
constexpr int kRounds = 3;            // over all parameters
constexpr double kBetter = 1 - 5e-4;  // an estimate is no exact number: what gains less is left as it is

// Ways that begin so much worse than the best that was found are not gone.
constexpr double kHopeless = 20;
constexpr double kNearLeast = 1.02;  // of what the layer takes of the machine whatever the schedule

// Of schedules that take nearly as long, the one that moves less: energy, and what others leave of the bus.
// The K and V of a group are to come once for all its queries: what brings them again is to save half of its bus time.
constexpr double kBusShare = 1.0 / 30, kBusShareOfGroups = 1.0 / 2;

class Chooser {
 public:
  Chooser(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine)
      : job_(job), dataflow_(dataflow), costs_(machine) {
    while (dataflow.parameters[count_] != nullptr) ++count_;
    given_.assign(job.block.parameter, job.block.parameter + count_);
    nq_ = index_of(dataflow, "nq");
    for (std::size_t i = 0; i < count_; ++i) {
      const firmware::Parameter& p = parameter(i);
      deep_ = deep_ || p.extent == firmware::Extent::kDepth;
      const auto keeps = [&](std::uint32_t value) { return keeps_heads(p, value) && worth_trying(p, value, job); };
      if (std::any_of(std::begin(p.tries), std::end(p.tries), keeps)) bus_share_ = kBusShareOfGroups;
      of_many_ = of_many_ || p.named != nullptr;
    }
  }

  // `far`: on from where it begins.
  Choice run(bool far) {
    Choice choice;
    if (std::count(given_.begin(), given_.end(), 0U) == 0) {
      choice.fits = fit(given_);
      choice.words = given_;
      if (!far) choice.cycles = cycles_of(given_);
    } else if (!far) {
      ways();
      const auto best = std::min_element(found_.begin(), found_.end());
      choice.fits = best != found_.end();
      if (choice.fits) std::tie(choice.cycles, choice.words) = *best;
    } else {
      std::vector<Ways> all = ways();
      const LayerDemand layer = layer_demand(job_, costs_.machine());
      const double least = merit({layer.cycles(), layer.bus});
      // Where one is nearly as fast as any schedule can be there is nothing left to win with others.
      const auto enough = [&] { return least_merit_ < kNearLeast * least && surely(kNearLeast * least); };
      for (std::size_t i = 0; i < all.size() && (i == 0 || !enough()); ++i) {
        each_structure(0, all[i].fixed, [&](const Words& fixed) { return begin(all[i].starts, fixed), false; });
        if (i == 0) descend(all[0].starts);
      }
      if (!all.empty()) all.erase(all.begin());
      std::stable_sort(all.begin(), all.end());
      for (const Ways& w : all) {
        if (enough() || w.starts.best() > kHopeless * least_merit_) break;
        descend(w.starts);
      }
      look_closer();
      choice.fits = !best_.empty();
      choice.words = best_;
    }
    choice.refusal = least_.result;
    choice.l1_bytes = least_.l1_bytes;
    if (!choice.fits && least_.fits(job_)) choice.refusal = word_on(least_words_);
    return choice;
  }

 private:
  struct Start {
    double merit = kNever;
    Words words;
  };
  // Where it is begun with one name, or one set of them.
  struct Starts {
    Start modest, large, deep;
    double best() const { return std::min({modest.merit, large.merit, deep.merit}); }
  };

  // Of the parameters, those that have names for their values.
  Words named(Words words) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (parameter(i).named == nullptr) words[i] = 0;
    }
    return words;
  }

  // The structures that have the same names for values (Parameter::named), and the likeliest of them that fits.
  struct Ways {
    Words fixed;
    Starts starts;
    bool operator<(const Ways& other) const { return starts.best() < other.starts.best(); }
  };
  // The likeliest first.
  std::vector<Ways> ways() {
    std::vector<Ways> all;
    each_name(0, given_, [&](const Words& fixed) {
      Ways& w = all.emplace_back();
      w.fixed = fixed;
      each_structure(0, fixed, [&](const Words& words) {
        begin(w.starts, words);
        return w.starts.best() < kNever;
      });
    });
    std::stable_sort(all.begin(), all.end());
    return all;
  }

  void begin(Starts& starts, const Words& fixed) {
    using firmware::Extent;
    const Words first = guess(fixed), whole = with_largest(first, {Extent::kDepth});
    start(starts.modest, first, fixed);
    start(starts.large, with_largest(first, {Extent::kKeys, Extent::kQueries, Extent::kDepth}), fixed);
    if (whole != first) start(starts.deep, whole, fixed);
  }

  // What firmware says when it does the work, too.
  hal::JobResult word_on(const Words& words) const {
    struct Deaf final : Reader {
      void command(const Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
    } reader;
    Job job = job_;
    std::copy(words.begin(), words.end(), job.block.parameter);
    return read_stream(job, 0, reader);
  }

  double merit(const Estimate& e) const { return e.cycles + e.bus * bus_share_; }
  const firmware::Parameter& parameter(std::size_t i) const { return *dataflow_.parameters[i]; }
  bool open(std::size_t i) const { return given_[i] == 0; }
  std::uint32_t nq(const Words& words) const { return nq_ < 0 ? 1 : words[static_cast<std::size_t>(nq_)]; }

  template <typename Visit>
  void each_name(std::size_t i, Words words, const Visit& visit) {
    if (i == count_) return visit(words);
    if (!open(i) || parameter(i).named == nullptr) return each_name(i + 1, words, visit);
    for (words[i] = 1; words[i] <= parameter(i).most; ++words[i]) each_name(i + 1, words, visit);
  }

  // Every combination of the values of parameters that have a word for one, until there is one that is enough.
  template <typename Enough>
  bool each_structure(std::size_t i, Words words, const Enough& enough) {
    if (i == count_) return enough(words);
    if (words[i] != 0 || parameter(i).none == nullptr) return each_structure(i + 1, words, enough);
    if (parameter(i).extent == firmware::Extent::kCount) {
      for (const std::uint32_t value : parameter(i).tries) {  // the likeliest first, as equals keep their order
        if (value == 0) break;
        if (!worth_trying(parameter(i), value, job_)) continue;
        words[i] = value;
        if (each_structure(i + 1, words, enough)) return true;
      }
      return false;
    }
    words[i] = hal::kWord;
    if (each_structure(i + 1, words, enough)) return true;
    words[i] = 0;  // any other value
    return each_structure(i + 1, words, enough);
  }

  Words guess(const Words& fixed) const {
    Words words = fixed;
    const auto fill = [&](std::size_t i) {
      if (words[i] != 0) return;
      const std::uint32_t value = first_guess(parameter(i), job_, nq_ < 0 ? 1 : nq(words));
      words[i] = value == hal::kWord ? largest(parameter(i), job_) : value;
      if (parameter(i).none != nullptr) words[i] = std::min(words[i], std::max(nq(words), 1U));
    };
    if (nq_ >= 0) fill(static_cast<std::size_t>(nq_));
    for (std::size_t i = 0; i < count_; ++i) fill(i);
    for (std::size_t i = 0; i < count_; ++i) {  // tiles that are few enough for all of a head's to stay
      if (words[i] == hal::kWord || !keeps_heads(parameter(i), words[i])) continue;
      for (std::size_t k = 0; k < count_; ++k) {
        const std::uint32_t keys = largest(parameter(k), job_), most = words[i];
        if (parameter(k).extent == firmware::Extent::kKeys && open(k))
          words[k] = std::max(words[k], (keys + most - 1) / most);
      }
    }
    return words;
  }

  void start(Start& best, Words words, const Words& fixed) {
    const hal::JobResult& word = need(words).result;
    if (word.status == hal::Status::kBadTiling && fixed[word.detail[0]] != 0) return;  // no such structure
    if (!shrink(words, fixed)) return;
    const double cycles = cycles_of(words);
    if (best.words.empty() || cycles < best.merit) best = {cycles, words};
  }

  // The whole of those extents in place of what is open.
  Words with_largest(Words words, std::initializer_list<firmware::Extent> extents) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const bool one = std::find(extents.begin(), extents.end(), parameter(i).extent) != extents.end();
      if (open(i) && one && words[i] != hal::kWord) words[i] = largest(parameter(i), job_);
    }
    return words;
  }

  std::vector<std::uint32_t> values(std::size_t i, const Words& words) const {
    std::vector<std::uint32_t> all = candidates(parameter(i), job_, nq(words));
    if (!all.empty() && all.back() == hal::kWord) all.pop_back();
    return all;
  }

  const Need& need(const Words& words) {
    const auto found = needs_.find(words);
    if (found != needs_.end()) return found->second;
    Job job = job_;
    std::copy(words.begin(), words.end(), job.block.parameter);
    const Need& n = needs_[words] = need_of(job);
    if (least_.result.status == hal::Status::kIdle || better(n, least_)) least_ = n, least_words_ = words;
    return n;
  }
  bool fit(const Words& words) { return need(words).fits(job_); }

  // Nearer to what the machine can do: firmware has nothing against it, then what there is too little of.
  static bool better(const Need& a, const Need& b) {
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

  // Smaller values, one at a time, whichever helps most.
  bool shrink(Words& words, const Words& fixed) {
    while (!fit(words)) {
      Words next;
      for (std::size_t i = 0; i < count_; ++i) {
        if (fixed[i] != 0) continue;
        const std::vector<std::uint32_t> all = values(i, words);
        auto at = std::lower_bound(all.begin(), all.end(), words[i]);
        const bool refused = need(words).result.status == hal::Status::kBadTiling && need(words).result.detail[0] == i;
        for (auto v = all.begin(); refused && v != all.end(); ++v) {  // which values it takes, nobody says
          Words other = words;
          other[i] = *v;
          if (next.empty() ? better(need(other), need(words)) : better(need(other), need(next))) next = other;
        }
        if (refused || at == all.begin()) continue;
        Words smaller = words;
        smaller[i] = *--at;
        if (next.empty() ? better(need(smaller), need(words)) : better(need(smaller), need(next))) next = smaller;
      }
      if (next.empty()) return false;
      words = next;
    }
    return true;
  }

  double cycles_of(const Words& words) {
    const auto found = cycles_.find(words);
    if (found != cycles_.end()) return found->second;
    double cycles = kNever;
    if (fit(words)) cycles = closely(words, kCommands);
    cycles_[words] = cycles;
    if (cycles < kNever) found_.emplace_back(cycles, words);
    least_merit_ = std::min(least_merit_, cycles);
    return cycles;
  }

  // Whether the best that was found is below that by more of its stream, too.
  bool surely(double merit_below) {
    const auto best = std::min_element(found_.begin(), found_.end());
    const auto [known, added] = sure_.try_emplace(best->second, kNever);
    if (added) known->second = closely(best->second, kSure);
    return known->second < merit_below;
  }
  double closely(const Words& words, std::size_t commands) {
    Job job = job_;
    std::copy(words.begin(), words.end(), job.block.parameter);
    costs_.set_control(control_of(words, job));
    return merit(estimate(job, costs_, commands));
  }

  // What firmware takes for a command, of schedules of one structure: words in place of numbers, heads taken together.
  double control_of(const Words& words, const Job& job) {
    Words structure = words;
    for (std::size_t i = 0; i < count_; ++i) {
      const firmware::Extent e = parameter(i).extent;
      if (e == firmware::Extent::kBatch || e == firmware::Extent::kHeads)
        structure[i] = std::min(words[i], 2U);
      else if (words[i] != hal::kWord && parameter(i).named == nullptr)
        structure[i] = 0;
    }
    const auto found = control_.find(structure);
    if (found != control_.end()) return found->second;
    return control_[structure] = cycles_of_a_command(job, costs_.machine(), kCommands);
  }

  // The best of what was found, by more of their streams.
  void look_closer() {
    for (const Look& look : kCloser) {
      std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      double best = kNever;
      std::map<Words, std::size_t> of_name;
      std::vector<std::pair<double, Words>> kept;
      for (auto& [cycles, words] : found_) {
        // More of them where those before turn out to be worse than they promised; and the first ones of each name.
        const std::size_t most = cycles < best ? kMore * look.schedules : look.schedules;
        if (of_name[named(words)]++ >= kOfEachName && kept.size() >= most) continue;
        kept.emplace_back(closely(words, look.commands), words);
        best = std::min(best, kept.back().first);
      }
      found_ = std::move(kept);
    }
    for (const auto& [cycles, words] : found_) {
      if (!best_.empty() && cycles >= best_merit_ * kBetter) continue;
      best_ = words;
      best_merit_ = cycles;
    }
  }

  bool trades(std::size_t i, const Words& words) const {
    using firmware::Extent;
    const Extent e = parameter(i).extent;
    return deep_ && open(i) && words[i] != hal::kWord &&
           (e == Extent::kQueries || e == Extent::kKeys || e == Extent::kDepth);
  }

  void descend(const Starts& starts) {
    for (const Start* s : {&starts.modest, &starts.large, &starts.deep}) {
      if (!s->words.empty()) descend(s->words);
    }
  }

  // Parameter by parameter. Rows of a row block decide most, and not smoothly: all of their values are tried; of others
  // the neighbours, as long as they are better.
  void descend(Words words) {
    double here = cycles_of(words);
    bool better = true;
    const auto take = [&](const Words& other) {
      const double there = cycles_of(other);
      if (there >= here * kBetter) return false;
      here = there;
      words = other;
      return better = true;
    };
    const auto try_value = [&](std::size_t i, std::uint32_t value) {
      Words other = words, fixed = given_;
      other[i] = fixed[i] = value;
      for (std::size_t k = 0; k < count_; ++k) {
        if (words[k] == hal::kWord || parameter(k).named != nullptr) fixed[k] = words[k];
      }
      return shrink(other, fixed) && take(other);  // what does not fit makes others give way
    };
    // More of one extent for less of another.
    const auto trade = [&](std::size_t i, std::size_t j) {
      const std::vector<std::uint32_t> all = values(i, words);
      const auto next = std::upper_bound(all.begin(), all.end(), words[i]);
      if (next == all.end()) return false;
      Words other = words, fixed = words;
      other[i] = fixed[i] = *next;
      fixed[j] = 0;
      return !fit(other) && shrink(other, fixed) && take(other);
    };
    for (int round = 0; better && round < kRounds; ++round) {
      better = false;
      for (std::size_t i = 0; i < count_; ++i) {
        if (!open(i) || parameter(i).named != nullptr) continue;
        if (of_many_ && parameter(i).none != nullptr && parameter(i).extent == firmware::Extent::kCount) {
          for (const std::uint32_t value : parameter(i).tries) {
            if (value != 0 && value != words[i] && worth_trying(parameter(i), value, job_)) try_value(i, value);
          }
          continue;
        }
        if (words[i] == hal::kWord) continue;
        const std::vector<std::uint32_t> all = values(i, words);
        if (static_cast<int>(i) == nq_ && round == 0) {
          for (const std::uint32_t value : all) try_value(i, value);
          continue;
        }
        for (const int step : {1, -1}) {
          auto at = std::lower_bound(all.begin(), all.end(), words[i]) - all.begin() + step;
          while (at >= 0 && at < static_cast<std::ptrdiff_t>(all.size()) &&
                 try_value(i, all[static_cast<std::size_t>(at)])) {
            at += step;
          }
        }
      }
      for (std::size_t i = 0; !better && i < count_; ++i) {
        for (std::size_t j = 0; j < count_; ++j) {
          while (i != j && trades(i, words) && trades(j, words) && trade(i, j)) {
          }
        }
      }
    }
  }

  const Job& job_;
  const firmware::Dataflow& dataflow_;
  Costs costs_;
  std::size_t count_ = 0;
  int nq_ = -1;
  double bus_share_ = kBusShare;
  bool deep_ = false;     // a product's three extents share L1
  bool of_many_ = false;  // ways with names: where each begins is no more than a beginning, words included
  Words given_;
  std::map<Words, Need> needs_;
  std::map<Words, double> cycles_, sure_, control_;
  std::vector<std::pair<double, Words>> found_;
  Need least_;  // and whose it is
  Words least_words_;
  Words best_;
  double best_merit_ = kNever;
  double least_merit_ = kNever;  // by the first commands
};

}  // namespace

Choice choose(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine) {
  return Chooser(job, dataflow, machine).run(true);
}

Choice look(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine) {
  return Chooser(job, dataflow, machine).run(false);
}

}  // namespace attnvp::mapping
