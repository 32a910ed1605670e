#include "mapping/prospects.h"

#include <algorithm>

namespace attnvp::mapping {

namespace {

std::size_t differing_words(const Words& a, const Words& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

}  // namespace

Prospects::Prospects(const std::vector<std::pair<double, Words>>& found) {
  for (const auto& [merit, words] : found) all_.push_back({merit, words});
  sort(all_.begin(), all_.end());
}

void Prospects::sort(Each begin, Each end) {
  std::stable_sort(begin, end, [](const Prospect& a, const Prospect& b) { return a.expected < b.expected; });
}

const Prospect* Prospects::next() { return next_ < all_.size() ? &all_[next_++] : nullptr; }

void Prospects::learn(double merit) {
  const Prospect& seen = all_[next_ - 1];
  const Each left = all_.begin() + static_cast<std::ptrdiff_t>(next_);
  for (Each p = left; p != all_.end(); ++p) {
    const std::size_t distance = differing_words(p->words, seen.words);
    if (p->distance > 0 && distance >= p->distance) continue;
    p->distance = distance;
    p->expected = p->merit * (1 + (merit / seen.merit - 1) / static_cast<double>(distance));
  }
  sort(left, all_.end());
}

}  // namespace attnvp::mapping
