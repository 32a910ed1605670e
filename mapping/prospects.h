// Schedules that may be looked at more closely, the likeliest first. Where a closer look at one finds that it promised
// too much, that is expected of those that are nearly it, too: first looks err in what schedules have in common.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "mapping/candidates.h"

namespace attnvp::mapping {

struct Prospect {
  double merit;  // by the first look
  Words words;
  double expected = merit;   // of a closer one
  std::size_t distance = 0;  // words that differ from those of the one by which that is expected; 0: there is none
};

class Prospects {
 public:
  // With their merits, each once.
  explicit Prospects(const std::vector<std::pair<double, Words>>& found);
  // The likeliest of those that are left, valid until the next call; nullptr: there are none.
  const Prospect* next();
  // What a closer look at the last one found. Of those that are left it is expected where none that was looked at is
  // nearer; the less, the more words they differ in.
  void learn(double merit);

 private:
  using Each = std::vector<Prospect>::iterator;
  static void sort(Each begin, Each end);

  std::vector<Prospect> all_;
  std::size_t next_ = 0;
};

}  // namespace attnvp::mapping
