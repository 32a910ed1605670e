#include "firmware/runtime/deal.h"

#if ATTNVP_HETEROGENEOUS_CORES

namespace attnvp::firmware {

void Deal::use(uint32_t count) {
  count_ = count;
  most_weight_ = all_weights_ = 0;
  for (uint32_t k = 0; k < count; ++k) {
    all_weights_ += weight(k);
    if (weight(k) > most_weight_) most_weight_ = weight(k);
  }
}

// The integer parts of the shares do not depend on the order; fewer units than cores remain.
void Deal::first(uint64_t units, uint64_t* of_core) const {
  uint64_t left = units;
  for (uint32_t k = 0; k < count_; ++k) {
    of_core[k] = units * weight(k) / all_weights_;
    left -= of_core[k];
  }
  for (; left > 0; --left) {
    uint32_t next = 0;
    for (uint32_t k = 1; k < count_; ++k) {
      if ((of_core[k] + 1) * weight(next) < (of_core[next] + 1) * weight(k)) next = k;
    }
    ++of_core[next];
  }
}

void Deal::split(uint64_t from, uint32_t units, uint32_t capacity, uint32_t* begin) const {
  uint64_t before[hal::kMostCores], behind[hal::kMostCores];
  first(from, before);
  first(from + units, behind);
  uint32_t left = units;
  for (uint32_t k = 0; k < count_; ++k) {
    const auto wanted = static_cast<uint32_t>(behind[k] - before[k]);
    begin[k] = wanted < capacity ? wanted : capacity;
    left -= begin[k];
  }
  while (left > 0) {  // units without space go to the core that would finish first
    uint32_t next = count_;
    for (uint32_t k = 0; k < count_; ++k) {
      if (begin[k] == capacity) continue;
      if (next == count_ || (begin[k] + 1) * weight(next) < (begin[next] + 1) * weight(k)) next = k;
    }
    if (next == count_) break;
    ++begin[next];
    --left;
  }
  uint32_t at = 0;
  for (uint32_t k = 0; k < count_; ++k) {
    const uint32_t own = begin[k];
    begin[k] = at;
    at += own;
  }
  begin[count_] = at;
}

uint32_t Deal::full_window(uint32_t capacity) const {
  const auto units = static_cast<uint32_t>((uint64_t{capacity} * all_weights_ + most_weight_ / 2) / most_weight_);
  return units > 0 ? units : 1;
}

uint64_t ClusterDeal::weights_before(uint32_t cluster) const {
  uint64_t sum = 0;
  for (uint32_t c = 0; c < cluster; ++c) sum += weight_[c];
  return sum;
}

// The integer parts of the shares do not depend on the order; fewer units than clusters remain.
uint32_t ClusterDeal::begin_of_units(uint32_t cluster, uint32_t units) const {
  const uint64_t all = weights_before(clusters_);
  if (all == 0) return 0;  // not read
  uint32_t own[hal::kMostClusters], left = units;
  for (uint32_t c = 0; c < clusters_; ++c) {
    own[c] = static_cast<uint32_t>(uint64_t{units} * weight_[c] / all);
    left -= own[c];
  }
  for (; left > 0; --left) {
    uint32_t next = 0;
    for (uint32_t c = 1; c < clusters_; ++c) {
      if ((own[c] + 1ULL) * weight_[next] < (own[next] + 1ULL) * weight_[c]) next = c;
    }
    ++own[next];
  }
  uint32_t begin = 0;
  for (uint32_t c = 0; c < cluster; ++c) begin += own[c];
  return begin;
}

uint32_t ClusterDeal::begin_of_parts(uint32_t cluster) const {
  const uint64_t all = weights_before(clusters_);
  return all == 0 ? 0 : static_cast<uint32_t>(weights_before(cluster) * kParts / all);
}

}  // namespace attnvp::firmware

#endif
