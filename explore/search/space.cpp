#include "explore/search/space.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "mapping/candidates.h"
#include "mapping/programs.h"

namespace attnvp::explore {

namespace {

using Values = std::vector<std::uint32_t>;
using firmware::Extent;
using firmware::Parameter;

// How many values of a parameter a search looks at.
std::size_t most_values(const Parameter& p) {
  if (p.named != nullptr) return p.most;
  switch (p.extent) {
    case Extent::kQueries:
      return p.none != nullptr ? 4 : 9;
    case Extent::kKeys:
      return 5;
    default:
      return 3;
  }
}

// Smaller first: what decides most about a schedule.
int rank(const Parameter& p) {
  if (p.in_command) return 3;
  if (p.named != nullptr) return 0;
  return p.extent == Extent::kQueries ? 0 : p.none != nullptr ? 1 : 2;
}

// Evenly spread, the first and the last among them.
Values thinned(const Values& all, std::size_t most) {
  if (all.size() <= most) return all;
  Values some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

// Without those below half a grain: what is worth trying only where nothing else fits.
Values values_of(const Parameter& p, const mapping::Job& job) {
  Values all = mapping::candidates(p, job, job.block.machine.mac_rows);
  const bool none = !all.empty() && all.back() == hal::kWord;
  if (none) all.pop_back();
  if (p.extent == Extent::kCount) {
    all.clear();
    for (std::size_t i = 0; i < most_values(p) && p.tries[i] != 0; ++i) {
      if (p.tries[i] != hal::kWord) all.push_back(p.tries[i]);
    }
    const std::uint32_t grain = p.grain == firmware::Grain::kArrayRows      ? job.block.machine.mac_rows
                                : p.grain == firmware::Grain::kArrayColumns ? job.block.machine.mac_columns
                                                                            : 1;
    for (std::uint32_t& v : all) v = std::min(v * grain, p.most);
    std::sort(all.begin(), all.end());
  } else if (p.grain != firmware::Grain::kOne) {
    const std::uint32_t grain =
        p.grain == firmware::Grain::kArrayRows ? job.block.machine.mac_rows : job.block.machine.mac_columns;
    Values whole;
    std::copy_if(all.begin(), all.end(), std::back_inserter(whole), [&](std::uint32_t v) { return v >= grain / 2; });
    if (!whole.empty()) all = whole;
  }
  all = thinned(all, most_values(p));
  if (none) all.push_back(hal::kWord);
  return all;
}

}  // namespace

Space::Space(const Problem& p) {
  job::Schedule open = p.schedule;
  open.tiling = {};
  const mapping::Job job = job::make_job(p.machine, p.network, open);
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(p.schedule.dataflow);
  for (int order = 0; order <= 3; ++order) {
    for (const Parameter* const* q = dataflow.parameters; *q != nullptr; ++q) {
      if (rank(**q) == order) dimensions_.push_back({(*q)->name, values_of(**q, job), (*q)->in_command});
    }
  }
  count();
}

Space::Space(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) { count(); }

void Space::count() {
  size_ = 1;
  below_.assign(dimensions_.size() + 1, 1);
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    const std::size_t n = dimensions_[d].values.size();
    if (n == 0 || n > 255) throw std::invalid_argument("a dimension has 1 to 255 values");
    size_ *= n;
    below_[d] = size_;
  }
}

Point Space::point(std::uint64_t number) const {
  Point point(dimensions_.size());
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    point[d] = static_cast<std::uint8_t>(number % dimensions_[d].values.size());
    number /= dimensions_[d].values.size();
  }
  return point;
}

std::uint64_t Space::number(const Point& point) const {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) number = number * dimensions_[d].values.size() + point[d];
  return number;
}

job::Tiling Space::tiling(const Point& point) const {
  job::Tiling t;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) t.set(dimensions_[d].name, dimensions_[d].values[point[d]]);
  return t;
}

std::uint64_t Space::same_commands(std::uint64_t n) const {
  Point p = point(n);
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (dimensions_[d].in_command) p[d] = 0;
  }
  return number(p);
}

Point Space::nearest(const job::Tiling& tiling) const {
  Point point(dimensions_.size());
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const double wanted = std::log(static_cast<double>(std::max(tiling[dimensions_[d].name], 1U)));
    const auto distance = [&](std::uint32_t value) { return std::abs(std::log(static_cast<double>(value)) - wanted); };
    const Values& v = dimensions_[d].values;
    const auto best = std::min_element(v.begin(), v.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
    point[d] = static_cast<std::uint8_t>(best - v.begin());
  }
  return point;
}

}  // namespace attnvp::explore
