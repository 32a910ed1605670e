#include "mapping/choose.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <tuple>

#include "mapping/bound.h"
#include "mapping/judge.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

namespace {

constexpr int kRounds = 8;            // over all parameters
constexpr std::size_t kFollowed = 3;  // sizes of row blocks that the others are fitted to,
constexpr double kPromising = 1.5;    //   unless that is so much worse to begin with

// Ways that begin so much worse than the best that was found are not gone, nor on with where they are followed to there.
constexpr double kHopeless = 20, kBehind = 1.3;
// Of what the layer takes of the machine whatever the schedule; of a dataflow of many ways, which is there for its speed.
constexpr double kNearLeast = 1.02, kNearLeastOfMany = 1.01;

class Chooser {
 public:
  Chooser(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine)
      : job_(job), dataflow_(dataflow), machine_(machine), judge_(job, dataflow, machine) {
    while (dataflow.parameters[count_] != nullptr) ++count_;
    given_.assign(job.block.parameter, job.block.parameter + count_);
    nq_ = index_of(dataflow, "nq");
    for (std::size_t i = 0; i < count_; ++i) {
      deep_ = deep_ || parameter(i).extent == firmware::Extent::kDepth;
      of_many_ = of_many_ || parameter(i).named != nullptr;
    }
  }

  // `far`: on from where it begins.
  Choice run(bool far) {
    Choice choice;
    if (std::count(given_.begin(), given_.end(), 0U) == 0) {
      choice.words = given_;
      if (!far) choice.cycles = judge_.merit(given_);
      choice.fits = judge_.fits(given_);
    } else if (far) {
      search();
      choice.words = judge_.best();
      if (!choice.words.empty() && judge_.looks_closer(choice.words)) {
        follow(choice.words);
        choice.words = judge_.best();
      }
      choice.fits = !choice.words.empty();
    } else {
      ways();
      choice.fits = judge_.any();
      if (choice.fits) std::tie(choice.cycles, choice.words) = judge_.first();
    }
    choice.l1_bytes = judge_.nearest().l1_bytes;
    choice.refusal = choice.fits ? judge_.nearest().result : judge_.word_on_nearest();
    return choice;
  }

 private:
  struct Start {
    double merit = kNever;
    Words words;
    bool operator<(const Start& other) const { return merit < other.merit; }
  };

  // Where it is begun with one name, or one set of them.
  struct Starts {
    Start modest, large, deep, wide;  // wide: with all heads, too; only followed
    double best() const { return std::min({modest.merit, large.merit, deep.merit}); }
  };

  // The structures that have the same names for values (Parameter::named), and the likeliest of them that fits.
  struct Ways {
    Words fixed;
    Starts starts;
    bool operator<(const Ways& other) const { return starts.best() < other.starts.best(); }
  };
  void search() {
    std::vector<Ways> all = ways();
    const LayerDemand layer = layer_demand(job_, machine_);
    const double near = (of_many_ ? kNearLeastOfMany : kNearLeast) * judge_.merit(Estimate{layer.cycles(), layer.bus});
    // Where one is nearly as fast as any schedule can be there is nothing left to win with others.
    const auto enough = [&] { return judge_.least() < near && judge_.surely(near); };
    for (std::size_t i = 0; i < all.size() && (i == 0 || !enough()); ++i) {
      each_structure(0, all[i].fixed, [&](const Words& fixed) { return begin(all[i].starts, fixed), false; });
      if (i == 0) go(all[0], enough);
    }
    if (!all.empty()) std::stable_sort(all.begin() + 1, all.end());
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (enough() || all[i].starts.best() > kHopeless * judge_.least()) break;
      go(all[i], enough);
    }
    if (all.size() < 2 || !judge_.any() || enough()) return;
    // What was found with each of the names.
    const Words best = judge_.first().second;
    for (const Ways& w : all) {
      for (const Start& other : restructured(best, w.fixed, 1)) follow(other.words);
    }
  }

  // One way to where it leads, then from there with other structures.
  template <typename Enough>
  void go(const Ways& way, const Enough& enough) {
    const Start found = descend(way.starts);
    if (found.words.empty() || enough() || found.merit > kBehind * judge_.least()) return;
    for (const Start& other : restructured(found.words, way.fixed, kFollowed)) follow(other.words);
  }

  // The likeliest of a schedule's values with other structures of the same names.
  std::vector<Start> restructured(const Words& from, const Words& names, std::size_t most) {
    std::vector<Start> others;
    each_structure(0, names, [&](const Words& fixed) {
      Words words = guess(fixed);
      for (std::size_t i = 0; i < count_; ++i) {
        if (fixed[i] == 0 && from[i] != hal::kWord) words[i] = from[i];
      }
      if (words == from || !shrink(words, fixed)) return false;
      const Start other{judge_.merit(words), words};
      const auto same = [&](const Start& s) { return s.merit == other.merit; };  // structures that do not differ here
      const bool known = std::any_of(others.begin(), others.end(), same);
      if (!known && other.merit < kPromising * judge_.least()) others.push_back(other);
      return false;
    });
    std::stable_sort(others.begin(), others.end());
    if (others.size() > most) others.resize(most);
    return others;
  }

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
    const Words large = with_largest(first, {Extent::kKeys, Extent::kQueries, Extent::kDepth});
    const Words wide = with_largest(large, {Extent::kHeads});
    start(starts.modest, first, fixed);
    start(starts.large, large, fixed);
    if (whole != first) start(starts.deep, whole, fixed);
    if (wide != large) start(starts.wide, wide, fixed);
  }

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
    const hal::JobResult& word = judge_.need(words).result;
    if (word.status == hal::Status::kBadTiling && fixed[word.detail[0]] != 0) return;  // no such structure
    if (!shrink(words, fixed)) return;
    const double cycles = judge_.merit(words);
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

  // Smaller values, one at a time, whichever helps most.
  bool shrink(Words& words, const Words& fixed) {
    while (!judge_.fits(words)) {
      Words next;
      for (std::size_t i = 0; i < count_; ++i) {
        if (fixed[i] != 0) continue;
        const std::vector<std::uint32_t> all = values(i, words);
        auto at = std::lower_bound(all.begin(), all.end(), words[i]);
        const bool refused =
            judge_.need(words).result.status == hal::Status::kBadTiling && judge_.need(words).result.detail[0] == i;
        for (auto v = all.begin(); refused && v != all.end(); ++v) {  // which values it takes, nobody says
          Words other = words;
          other[i] = *v;
          if (next.empty() ? Judge::nearer(judge_.need(other), judge_.need(words))
                           : Judge::nearer(judge_.need(other), judge_.need(next)))
            next = other;
        }
        if (refused || at == all.begin()) continue;
        Words smaller = words;
        smaller[i] = *--at;
        if (next.empty() ? Judge::nearer(judge_.need(smaller), judge_.need(words))
                         : Judge::nearer(judge_.need(smaller), judge_.need(next)))
          next = smaller;
      }
      if (next.empty()) return false;
      words = next;
    }
    return true;
  }

  // Of which memory's room that parameter's values are, and one of them may have more for less of another.
  enum class Room : std::uint8_t { kNone, kL0, kL1 };
  Room room(std::size_t i, const Words& words) const {
    using firmware::Extent;
    const firmware::Parameter& p = parameter(i);
    if (!open(i) || words[i] == hal::kWord) return Room::kNone;
    if (p.extent == Extent::kCount) return p.grain != firmware::Grain::kOne || p.in_command ? Room::kL0 : Room::kNone;
    const bool l1 = p.extent == Extent::kQueries || p.extent == Extent::kKeys ||
                    p.extent == (deep_ ? Extent::kDepth : Extent::kBlocks);
    return l1 ? Room::kL1 : Room::kNone;
  }

  Start descend(const Starts& starts) {
    Start best;
    for (const Start* s : {&starts.modest, &starts.large, &starts.deep}) {
      if (s->words.empty()) continue;
      best = std::min(best, descend(s->words));
      if (best.merit > kBehind * judge_.least()) break;
    }
    if (!starts.wide.words.empty()) best = std::min(best, follow(starts.wide.words));
    return best;
  }

  // Rows of a row block decide most, and not smoothly: all of their values are tried, and the best few followed. The
  // best that was found.
  Start descend(const Words& words) {
    std::vector<std::pair<double, Words>> from{{judge_.merit(words), words}};
    if (nq_ >= 0 && open(static_cast<std::size_t>(nq_)) && words[static_cast<std::size_t>(nq_)] != hal::kWord) {
      for (const std::uint32_t value : values(static_cast<std::size_t>(nq_), words)) {
        Words other = words;
        if (with_value(other, static_cast<std::size_t>(nq_), value)) from.emplace_back(judge_.merit(other), other);
      }
    }
    std::stable_sort(from.begin(), from.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint32_t> rows;
    Start best;
    for (const auto& [cycles, start] : from) {
      if (rows.size() == kFollowed || cycles > kPromising * from[0].first) break;
      if (!rows.empty() && best.merit > kBehind * judge_.least()) break;
      if (std::find(rows.begin(), rows.end(), nq(start)) != rows.end()) continue;
      rows.push_back(nq(start));
      best = std::min(best, follow(start));
    }
    return best;
  }

  // What does not fit makes others give way.
  bool with_value(Words& words, std::size_t i, std::uint32_t value) {
    Words fixed = given_;
    words[i] = fixed[i] = value;
    for (std::size_t k = 0; k < count_; ++k) {
      if (words[k] == hal::kWord || parameter(k).named != nullptr) fixed[k] = words[k];
    }
    return shrink(words, fixed);
  }

  // Parameter by parameter, of each the neighbours, as long as they are better. Where that ends.
  Start follow(Words words) {
    double here = judge_.merit(words);
    bool better = true;
    const auto take = [&](const Words& other) {
      const double there = judge_.merit(other);
      if (there >= here * kBetter) return false;
      here = there;
      words = other;
      return better = true;
    };
    const auto try_value = [&](std::size_t i, std::uint32_t value) {
      Words other = words;
      return with_value(other, i, value) && take(other);
    };
    // More of one extent for less of another.
    const auto trade = [&](std::size_t i, std::size_t j) {
      const std::vector<std::uint32_t> all = values(i, words);
      const auto next = std::upper_bound(all.begin(), all.end(), words[i]);
      if (next == all.end()) return false;
      Words other = words, fixed = words;
      other[i] = fixed[i] = *next;
      fixed[j] = 0;
      return !judge_.fits(other) && shrink(other, fixed) && take(other);
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
        for (const int step : {1, -1}) {
          auto at = std::lower_bound(all.begin(), all.end(), words[i]) - all.begin() + step;
          while (at >= 0 && at < static_cast<std::ptrdiff_t>(all.size()) &&
                 try_value(i, all[static_cast<std::size_t>(at)])) {
            at += step;
          }
        }
        // Further off, as ragged tiles make hills.
        for (const bool up : {true, false}) {
          const auto far = [&] { return std::lower_bound(all.begin(), all.end(), up ? 2 * words[i] : words[i] / 2); };
          for (auto at = far(); at != all.end() && *at != words[i] && try_value(i, *at);) at = far();
        }
      }
      for (std::size_t i = 0; !better && i < count_; ++i) {
        for (std::size_t j = 0; j < count_; ++j) {
          while (i != j && room(i, words) != Room::kNone && room(i, words) == room(j, words) && trade(i, j)) {
          }
        }
      }
    }
    return {here, words};
  }

  const Job& job_;
  const firmware::Dataflow& dataflow_;
  const MachineConfig& machine_;
  Judge judge_;
  std::size_t count_ = 0;
  int nq_ = -1;
  bool deep_ = false;     // a product's three extents share L1
  bool of_many_ = false;  // ways with names: where each begins is no more than a beginning, words included
  Words given_;
};

}  // namespace

Choice choose(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine) {
  return Chooser(job, dataflow, machine).run(true);
}

Choice look(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine) {
  return Chooser(job, dataflow, machine).run(false);
}

}  // namespace attnvp::mapping
