#include "explore/sweep/points.h"

#include <numeric>
#include <unordered_set>
#include <utility>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kTriesPerSample = 100;

// Points that were tried. Small axes come to the same ones again and again: at most so many times in a row, which is
// far more than the last new one takes by chance.
class Tried {
 public:
  bool is_new(const SweepPoint& point) {
    std::string text;
    for (const std::string& part : point) text += part + '\n';
    const bool added = seen_.insert(std::move(text)).second;
    repeats_ = added ? 0 : repeats_ + 1;
    return added;
  }
  bool exhausted() const { return repeats_ > 1000 + 20 * seen_.size(); }

 private:
  std::unordered_set<std::string> seen_;
  std::uint64_t repeats_ = 0;
};

void append(SweepPoint& point, std::vector<std::string> texts) {
  for (std::string& text : texts) point.push_back(std::move(text));
}

void grid(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  std::vector<std::size_t> at(sweep.axes.size(), 0);
  for (;;) {
    SweepPoint point;
    for (std::size_t a = 0; a < at.size(); ++a) append(point, sweep.axes[a].values[at[a]]);
    accept(point);
    std::size_t a = at.size();
    while (a > 0 && ++at[a - 1] == sweep.axes[a - 1].values.size()) at[--a] = 0;
    if (a == 0) return;
  }
}

void random(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  explore::Random generator(sweep.seed);
  Tried tried;
  std::uint64_t accepted = 0;
  for (std::uint64_t tries = 0; accepted < sweep.samples && tries < kTriesPerSample * sweep.samples; ++tries) {
    if (tried.exhausted()) return;
    SweepPoint point;
    for (const Axis& axis : sweep.axes) append(point, axis.at(generator.unit()));
    if (tried.is_new(point) && accept(point)) ++accepted;
  }
}

void latin_hypercube(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  explore::Random generator(sweep.seed);
  std::vector<std::vector<std::uint64_t>> strata(sweep.axes.size());
  for (auto& order : strata) {
    order.resize(sweep.samples);
    std::iota(order.begin(), order.end(), 0);
    for (std::uint64_t i = sweep.samples; i > 1; --i) std::swap(order[i - 1], order[generator.below(i)]);
  }
  Tried tried;
  for (std::uint64_t s = 0; s < sweep.samples; ++s) {
    SweepPoint point;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
      const double share = (static_cast<double>(strata[a][s]) + generator.unit()) / static_cast<double>(sweep.samples);
      append(point, sweep.axes[a].at(share));
    }
    if (tried.is_new(point)) accept(point);
  }
}

}  // namespace

double grid_size(const std::vector<Axis>& axes) {
  double size = 1;
  for (const Axis& axis : axes) size *= static_cast<double>(axis.values.size());
  return size;
}

void for_each_point(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  switch (sweep.kind) {
    case SweepKind::kGrid:
      return grid(sweep, accept);
    case SweepKind::kRandom:
      return random(sweep, accept);
    case SweepKind::kLatinHypercube:
      return latin_hypercube(sweep, accept);
  }
}

}  // namespace attnvp::explore
