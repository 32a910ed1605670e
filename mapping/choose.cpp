#include "mapping/choose.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "mapping/bound.h"
#include "mapping/judge.h"
#include "mapping/steps.h"

namespace attnvp::mapping {

namespace {

constexpr std::size_t kFollowed = 3;  // sizes of row blocks that the others are fitted to,
constexpr double kPromising = 1.5;    //   unless that is so much worse to begin with

// Ways that begin so much worse than the best that was found are not gone, nor on with where they have been followed.
// 100 random jobs of five dataflows: 1.3 lost nothing, 1.03 up to 26%.
constexpr double kBehind = 1.3;
constexpr double kNearLeast = 1.02;  // of what the layer takes of the machine whatever the schedule

// What no step does from where a way led is gone on from where it is not so much worse.
constexpr double kNearby = 1.3;

}  // namespace

class Chooser::Search {
 public:
  Search(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance, const Words& from)
      : job_(job),
        judge_(job_, dataflow, replays, glance),
        steps_(job_, dataflow, judge_),
        from_(from),
        given_(std::count(steps_.given().begin(), steps_.given().end(), 0U) == 0) {
    const LayerDemand layer = layer_demand(job_, replays.costs().machine());
    near_ = kNearLeast * judge_.merit(Estimate{layer.cycles(), layer.bus});
    if (!from_.empty()) {
      if (steps_.shrink(from_, steps_.given())) judge_.merit(from_);
    } else if (!given_) {
      begin();
    }
  }

  bool advance() {
    const int part = part_++;
    if (given_) return false;
    if (!from_.empty()) return part == 0 && go_on();
    switch (part) {
      case 0:  // from a modest start one way
        each_structure(0, steps_.given(), [&](const Words& words) { return begin(starts_, words), false; });
        if (judge_.rough()) better_start();
        modest_ = ways(starts_.modest.words);
        follow_next(modest_);
        return true;
      case 1:  // and others
        follow_all(modest_);
        return true;
      case 2:
        found_ = descend();
        return true;
      case 3:
        words_ = judge_.best();
        wider();
        better(words_);
        return true;
      case 4:
        closer();
        return true;
      default:
        return false;
    }
  }

  Choice likeliest() {
    Choice choice;
    choice.words = given_ ? steps_.given() : !words_.empty() || !judge_.any() ? words_ : judge_.first().second;
    choice.fits = !choice.words.empty() && judge_.fits(choice.words);
    if (!choice.fits) return choice;
    const Estimate& e = judge_.estimated(choice.words, !words_.empty());
    choice.cycles = e.cycles;
    choice.commands = e.all_commands;
    return choice;
  }

  Estimate best() {
    if (given_) return judge_.fits(steps_.given()) ? judge_.estimated(steps_.given(), false) : Estimate{kNever};
    if (!words_.empty()) return judge_.estimated(words_, true);
    return judge_.any() ? judge_.estimated(judge_.first().second, false) : Estimate{kNever};
  }

  void begin_from(const Words& from) { other_start_ = from; }

  bool does_as(Search& other) {
    const std::vector<Words> some = other.judge_.differing();
    const auto same = [&](const Words& words) {
      if (!judge_.fits(words)) return false;
      const Estimate &own = judge_.estimated(words, false), &others = other.judge_.estimated(words, false);
      return own.digest == others.digest && own.cycles == others.cycles && own.commands == others.commands;
    };
    return !some.empty() && std::all_of(some.begin(), some.end(), same);
  }

  Choice choice() {
    Choice choice;
    if (given_) {
      choice.words = steps_.given();
    } else if (part_ == 0) {
      if (judge_.any()) choice.words = judge_.first().second;
    } else {
      choice.words = words_.empty() ? judge_.best() : words_;
      if (!choice.words.empty()) choice.words = steps_.roomy(choice.words);
    }
    choice.fits = !choice.words.empty() && judge_.fits(choice.words);
    if (choice.fits && !(given_ && part_ > 0)) {
      const Estimate& e = judge_.estimated(choice.words, part_ > 0);
      choice.cycles = e.cycles;
      choice.commands = e.all_commands;
    }
    choice.l1_bytes = judge_.nearest().l1_bytes;
    choice.refusal = choice.fits ? judge_.nearest().result : judge_.word_on_nearest();
    return choice;
  }

 private:
  // Where it is begun.
  struct Starts {
    Start modest, large, deep, wide;  // wide: with all heads, too; only followed
    double best() const { return std::min({modest.merit, large.merit, deep.merit}); }
  };

  bool go_on() {
    if (!judge_.any()) return false;
    found_ = steps_.follow(from_);
    words_ = judge_.best();
    return true;
  }

  // Where looks are few: steps from an array's width of keys take many, and from where others have got to few.
  void better_start() {
    if (!other_start_.empty() && steps_.shrink(other_start_, steps_.given())) {
      starts_.modest = std::min(starts_.modest, {judge_.merit(other_start_), other_start_});
    }
    if (!starts_.modest.words.empty()) starts_.modest = steps_.with_more_keys(starts_.modest);
  }

  // Until there is a structure that fits.
  void begin() {
    each_structure(0, steps_.given(), [&](const Words& words) {
      begin(starts_, words);
      return starts_.best() < kNever;
    });
  }

  // By more of the streams.
  void closer() {
    if (words_.empty() || !judge_.looks_closer(words_)) return;
    steps_.follow(words_);
    best_of(&Steps::each_count, judge_.first().second);
    better(words_);
  }

  // What no step does, from where that led near the best (Steps::each_...).
  void wider() {
    if (found_.words.empty() || behind(found_)) return;
    for (const Start* s : {&starts_.modest, &starts_.large, &starts_.deep}) {
      if (!s->words.empty() && !enough()) found_ = std::min(found_, best_of(&Steps::each_split, s->words));
    }
    for (const auto each : {&Steps::each_count, &Steps::each_split, &Steps::each_shape}) {
      if (!enough()) found_ = std::min(found_, best_of(each, found_.words));
    }
  }

  bool behind(const Start& start) const { return start.merit > kBehind * judge_.least(); }

  // The best few of those, and on from there, where they are not far behind.
  using Each = void (Steps::*)(const Words&, const Steps::Visit&);
  Start best_of(Each each, const Words& words) {
    std::vector<Start> found;
    const double most = kNearby * judge_.merit(words);
    (steps_.*each)(words, [&](const Words& w) {
      const double merit = judge_.merit(w, most);
      if (merit < most) found.push_back({merit, w});
    });
    Ways from = ways(std::move(found));
    return follow_all(from);
  }

  // What has been found since, if that is clearly better.
  void better(Words& words) {
    const Words other = judge_.best();
    if (!words.empty() && judge_.beats(other, words)) words = other;
  }

  // Where one is nearly as fast as any schedule can be there is nothing left to win with others.
  bool enough() { return judge_.least() < near_ && judge_.surely(near_); }

  // The likeliest of a schedule's values with other structures.
  std::vector<Start> restructured(const Words& from) {
    std::vector<Start> others;
    each_structure(0, steps_.given(), [&](const Words& fixed) {
      Words words = guess(fixed);
      for (std::size_t i = 0; i < steps_.count(); ++i) {
        if (fixed[i] == 0 && from[i] != hal::kWord) words[i] = from[i];
      }
      if (words == from || !steps_.shrink(words, fixed)) return false;
      const Start other{judge_.merit(words, kPromising * judge_.least()), words};
      const auto same = [&](const Start& s) { return s.merit == other.merit; };  // structures that do not differ here
      const bool known = std::any_of(others.begin(), others.end(), same);
      if (!known && other.merit < kPromising * judge_.least()) others.push_back(other);
      return false;
    });
    std::stable_sort(others.begin(), others.end());
    if (others.size() > kFollowed) others.resize(kFollowed);
    return others;
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

  // Every combination of the values of parameters that have a word for one, until there is one that is enough.
  template <typename Enough>
  bool each_structure(std::size_t i, Words words, const Enough& enough) {
    if (i == steps_.count()) return enough(words);
    if (words[i] != 0 || steps_.parameter(i).none == nullptr) return each_structure(i + 1, words, enough);
    if (steps_.parameter(i).extent == firmware::Extent::kCount) {
      for (const std::uint32_t value : steps_.parameter(i).tries) {  // the likeliest first, as equals keep their order
        if (value == 0) break;
        if (!worth_trying(steps_.parameter(i), value, job_)) continue;
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
      const std::uint32_t value = first_guess(steps_.parameter(i), job_, steps_.nq_index() < 0 ? 1 : steps_.nq(words));
      words[i] = value == hal::kWord ? largest(steps_.parameter(i), job_) : value;
      if (steps_.parameter(i).none != nullptr) words[i] = std::min(words[i], std::max(steps_.nq(words), 1U));
    };
    if (steps_.nq_index() >= 0) fill(static_cast<std::size_t>(steps_.nq_index()));
    for (std::size_t i = 0; i < steps_.count(); ++i) fill(i);
    for (std::size_t i = 0; i < steps_.count(); ++i) {  // tiles that are few enough for all of a head's to stay
      if (words[i] == hal::kWord || !keeps_heads(steps_.parameter(i), words[i])) continue;
      for (std::size_t k = 0; k < steps_.count(); ++k) {
        const std::uint32_t keys = largest(steps_.parameter(k), job_), most = words[i];
        if (steps_.parameter(k).extent == firmware::Extent::kKeys && steps_.open(k))
          words[k] = std::max(words[k], (keys + most - 1) / most);
      }
    }
    return words;
  }

  void start(Start& best, Words words, const Words& fixed) {
    const hal::JobResult& word = judge_.need(words).result;
    if (word.status == hal::Status::kBadTiling && fixed[word.detail[0]] != 0) return;  // no such structure
    if (!steps_.shrink(words, fixed)) return;
    const double cycles = judge_.merit(words);
    if (best.words.empty() || cycles < best.merit) best = {cycles, words};
  }

  // The whole of those extents in place of what is open.
  Words with_largest(Words words, std::initializer_list<firmware::Extent> extents) const {
    for (std::size_t i = 0; i < steps_.count(); ++i) {
      const bool one = std::find(extents.begin(), extents.end(), steps_.parameter(i).extent) != extents.end();
      if (steps_.open(i) && one && words[i] != hal::kWord) words[i] = largest(steps_.parameter(i), job_);
    }
    return words;
  }

  // From the other starts, and from there with other structures. Where that led.
  Start descend() {
    Start best = modest_.best;
    for (const Start* s : {&starts_.large, &starts_.deep}) {
      if (!best.words.empty() && behind(best)) break;
      if (!s->words.empty()) best = std::min(best, descend(s->words));
    }
    if (!starts_.wide.words.empty()) best = std::min(best, steps_.follow(starts_.wide.words));
    if (best.words.empty() || enough() || behind(best)) return best;
    for (const Start& other : restructured(best.words)) best = std::min(best, steps_.follow(other.words));
    return best;
  }

  // Starts that are followed, the best first, of each size of row blocks one.
  struct Ways {
    std::vector<Start> starts;  // in order
    std::size_t next = 0;
    std::vector<std::uint32_t> rows;  // of those that were
    Start best;                       // where they led
  };

  // Rows of a row block decide most, and not smoothly: all of their values are tried, and the best few followed.
  Ways ways(const Words& words) {
    if (words.empty()) return {};
    std::vector<Start> from{{judge_.merit(words), words}};
    double least = from[0].merit;
    if (steps_.nq_index() >= 0) {
      const auto nq = static_cast<std::size_t>(steps_.nq_index());
      for (const std::uint32_t value : steps_.open_values(nq, words)) {
        Words other = words;
        if (!steps_.with_value(other, nq, value)) continue;
        from.push_back({judge_.merit(other, kPromising * least), other});
        least = std::min(least, from.back().merit);
      }
    }
    return ways(std::move(from));
  }

  static Ways ways(std::vector<Start> starts) {
    std::stable_sort(starts.begin(), starts.end());
    return {std::move(starts), 0, {}, {}};
  }

  // False: there is none left that is worth it.
  bool follow_next(Ways& ways) {
    for (; ways.next < ways.starts.size(); ++ways.next) {
      const Start& start = ways.starts[ways.next];
      if (ways.rows.size() == kFollowed || start.merit > kPromising * ways.starts[0].merit) return false;
      if (!ways.rows.empty() && behind(ways.best)) return false;
      const std::uint32_t rows = steps_.nq(start.words);
      if (std::find(ways.rows.begin(), ways.rows.end(), rows) != ways.rows.end()) continue;
      ways.rows.push_back(rows);
      ways.best = std::min(ways.best, steps_.follow(start.words));
      return true;
    }
    return false;
  }

  // Where they led.
  Start follow_all(Ways& ways) {
    while (follow_next(ways)) {
    }
    return ways.best;
  }

  Start descend(const Words& words) {
    Ways from = ways(words);
    return follow_all(from);
  }

  Job job_;
  Judge judge_;
  Steps steps_;
  Words from_;         // where it is gone on from; empty: from where a choice begins,
  Words other_start_;  //   or from here, which may be empty
  bool given_;         // all of it is
  int part_ = 0;
  Starts starts_;
  Ways modest_;
  Start found_;      // where the ways led
  Words words_;      // chosen by closer looks
  double near_ = 0;  // the merit of what is fast enough
};

Chooser::Chooser(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance)
    : Chooser(job, dataflow, replays, glance, {}) {}
Chooser::Chooser(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance, const Words& from)
    : search_(std::make_unique<Search>(job, dataflow, replays, glance, from)) {}
Chooser::~Chooser() = default;
void Chooser::begin_from(const Words& from) { search_->begin_from(from); }
bool Chooser::advance() { return search_->advance(); }
Estimate Chooser::best() { return search_->best(); }
bool Chooser::does_as(Chooser& other) { return search_->does_as(*other.search_); }
Choice Chooser::choice() { return search_->choice(); }
Choice Chooser::likeliest() { return search_->likeliest(); }

Choice choose(const Job& job, const firmware::Dataflow& dataflow, Replays& replays) {
  Chooser chooser(job, dataflow, replays);
  while (chooser.advance()) {
  }
  return chooser.choice();
}

Choice look(const Job& job, const firmware::Dataflow& dataflow, Replays& replays) {
  return Chooser(job, dataflow, replays).choice();
}

}  // namespace attnvp::mapping
