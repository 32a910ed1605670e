// The banks' arbitration against a reference that goes byte by byte and cycle by cycle and knows no repetition.
#include "models/memory/banked_scratchpad/bank_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace attnvp {
namespace {

struct Request {
  std::uint64_t at = 0;
  std::uint32_t port = 0;
  std::uint64_t pace = 0;
  Stream stream;
};

// Which bank, by definition: blocks of `interleave` bytes go round the banks.
std::uint32_t bank_by_hand(const BankMap& map, std::uint64_t offset) {
  const std::uint64_t round = offset / (map.interleave_bytes * map.banks);
  const std::uint64_t bank = offset % (map.interleave_bytes * map.banks) / map.interleave_bytes;
  return static_cast<std::uint32_t>(map.swizzle == Swizzle::kXor ? bank ^ (round % map.banks) : bank);
}

// Every beat as the set of words it needs.
using Beat = std::vector<std::uint64_t>;
std::vector<Beat> beats_by_hand(const BankMap& map, std::uint64_t port_bytes, const Region& r) {
  std::vector<std::uint64_t> bytes;  // of a pass
  const std::uint64_t together = std::clamp<std::uint64_t>(r.together, 1, r.rows);
  for (std::uint64_t panel = 0; panel < r.rows; panel += together) {
    const std::uint64_t end = std::min(panel + together, r.rows);
    const std::uint64_t piece = together == 1 ? r.row_bytes : map.word_bytes;
    for (std::uint64_t from = 0; from < r.row_bytes; from += piece) {
      for (std::uint64_t row = panel; row < end; ++row) {
        for (std::uint64_t i = from; i < std::min(from + piece, r.row_bytes); ++i) {
          bytes.push_back(r.address + row * r.row_stride + i);
        }
      }
    }
  }
  std::vector<Beat> beats;
  std::uint64_t left = r.traffic_bytes;
  while (left > 0) {
    for (std::size_t i = 0; i < bytes.size() && left > 0; i += port_bytes) {
      const std::size_t end = std::min<std::size_t>(i + port_bytes, bytes.size());
      Beat beat;
      for (std::size_t b = i; b < end; ++b) {
        const std::uint64_t word = bytes[b] / map.word_bytes;
        if (std::find(beat.begin(), beat.end(), word) == beat.end()) beat.push_back(word);
      }
      left -= std::min<std::uint64_t>(left, end - i);
      beats.push_back(std::move(beat));
    }
  }
  return beats;
}

struct ByHand {
  std::vector<std::uint64_t> done, held;  // of each request
  std::vector<std::uint64_t> words;       // of each bank
};

ByHand simulate_by_hand(const BankMap& map, std::uint32_t ports, std::uint64_t port_bytes,
                        const std::vector<Request>& requests) {
  struct Flow {
    std::vector<Beat> beats;
    std::size_t next = 0;
    int slot = -1;
  };
  struct Port {
    int last = -1, current = -1;
    std::uint64_t since = 0;
    Beat wants;
  };
  std::vector<Flow> flows;
  for (const Request& r : requests) {
    Flow flow;
    for (int i = 0; i < r.stream.regions; ++i) {
      for (Beat& b : beats_by_hand(map, port_bytes, r.stream.region[static_cast<std::size_t>(i)]))
        flow.beats.push_back(b);
    }
    flows.push_back(flow);
  }
  ByHand result;
  const auto n = static_cast<int>(requests.size());
  for (const Request& r : requests) result.done.push_back(r.at + std::max<std::uint64_t>(r.pace, 1));
  result.held.assign(requests.size(), 0);
  result.words.assign(map.banks, 0);
  std::vector<Port> all(ports);
  std::size_t left = 0;
  for (const Flow& f : flows) left += f.beats.size();
  for (std::uint64_t cycle = 0; left > 0; ++cycle) {
    for (std::size_t i = 0; i < requests.size(); ++i) {  // each takes the first free slot
      if (requests[i].at != cycle) continue;
      std::vector<bool> used(requests.size());
      for (std::size_t k = 0; k < i; ++k) {
        if (flows[k].next < flows[k].beats.size() || result.done[k] > cycle)
          used[static_cast<std::size_t>(flows[k].slot)] = true;
      }
      flows[i].slot = static_cast<int>(std::find(used.begin(), used.end(), false) - used.begin());
    }
    for (std::uint32_t p = 0; p < ports; ++p) {
      Port& port = all[p];
      for (int k = 1; k <= n && port.current < 0; ++k) {
        const int slot = (port.last + k + n) % n;
        int i = 0;
        while (i < n &&
               (flows[static_cast<std::size_t>(i)].slot != slot || requests[static_cast<std::size_t>(i)].at > cycle ||
                flows[static_cast<std::size_t>(i)].next == flows[static_cast<std::size_t>(i)].beats.size())) {
          ++i;
        }
        if (i == n || requests[static_cast<std::size_t>(i)].port != p) continue;
        const Request& r = requests[static_cast<std::size_t>(i)];
        const Flow& f = flows[static_cast<std::size_t>(i)];
        const std::uint64_t sixteenths = 16 * r.pace / f.beats.size();  // between two beats
        if (r.at + f.next * sixteenths / 16 > cycle) continue;
        port.current = i;
        port.last = slot;
        port.since = cycle;
        port.wants = f.beats[f.next];
      }
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t p = 0; p < ports; ++p) {
      if (all[p].current >= 0) order.push_back(p);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all[a].since < all[b].since; });
    std::vector<bool> taken(map.banks);
    for (const std::uint32_t p : order) {
      Port& port = all[p];
      Beat rest;
      for (const std::uint64_t word : port.wants) {
        const std::uint32_t bank = bank_by_hand(map, word * map.word_bytes);
        if (taken[bank]) {
          rest.push_back(word);
        } else {
          taken[bank] = true;
          ++result.words[bank];
        }
      }
      port.wants = rest;
      const auto current = static_cast<std::size_t>(port.current);
      if (rest.empty()) {
        ++flows[current].next;
        --left;
        if (flows[current].next == flows[current].beats.size()) {
          result.done[current] = std::max(result.done[current], cycle + 1);
        }
        port.current = -1;
      } else {
        for (std::size_t i = 0; i < requests.size(); ++i) {
          const bool there = requests[i].at <= cycle && flows[i].next < flows[i].beats.size();
          if (requests[i].port == p && there) ++result.held[i];
        }
      }
    }
  }
  return result;
}

// As the scratchpad asks: when a flow may have ended, never before.
struct Outcome {
  std::vector<std::uint64_t> done, held;
};
Outcome simulate(BankShare& share, const std::vector<Request>& requests) {
  Outcome outcome{std::vector<std::uint64_t>(requests.size()), std::vector<std::uint64_t>(requests.size())};
  std::map<std::size_t, std::size_t> active;  // slot: request
  std::size_t next = 0;
  std::uint64_t now = 0;
  while (next < requests.size() || !active.empty()) {
    std::uint64_t first = UINT64_MAX;
    std::size_t slot = 0;
    for (const auto& [s, r] : active) {
      const std::uint64_t end = share.finish(s, now);
      if (end < first) {
        first = end;
        slot = s;
      }
    }
    if (next < requests.size() && requests[next].at < first) {
      const Request& r = requests[next];
      now = r.at;
      active[share.open(now, r.port, r.stream.traffic(), r.pace, r.stream)] = next;
      ++next;
    } else if (first <= now) {
      const std::size_t r = active.at(slot);
      active.erase(slot);
      share.close(now, slot);
      outcome.done[r] = first;
      outcome.held[r] = share.bank_cycles(slot);
    } else {
      now = first;
    }
  }
  return outcome;
}

class Cases {
 public:
  explicit Cases(unsigned seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint64_t one_of(std::initializer_list<std::uint64_t> values) { return values.begin()[below(values.size())]; }

  BankMap map() {
    BankMap m;
    m.swizzle = below(3) == 0 ? Swizzle::kXor : Swizzle::kNone;
    m.banks = static_cast<std::uint32_t>(m.swizzle == Swizzle::kXor ? one_of({2, 8, 16, 32})
                                                                    : one_of({1, 3, 8, 12, 16, 32, 64}));
    m.word_bytes = one_of({4, 16, 32});
    m.interleave_bytes = m.word_bytes * one_of({1, 1, 2, 4});
    return m;
  }
  Region region() {
    Region r;
    r.rows = 1 + below(30);
    r.row_bytes = 2 * (1 + below(one_of({8, 64, 200})));
    const std::uint64_t gaps[] = {0, 2 * below(64), 512 - r.row_bytes % 512, 528 - r.row_bytes % 528};
    r.row_stride = r.row_bytes + gaps[below(4)];
    r.address = 2 * below(2000);
    const std::uint64_t all = r.rows * r.row_bytes;
    r.traffic_bytes = below(3) == 0 ? all * (1 + below(3)) : 2 * below(all);
    r.together = static_cast<std::uint32_t>(one_of({1, 1, 4, 16}));
    return r;
  }
  Request request(std::uint32_t ports, std::uint64_t port_bytes) {
    Request r;
    r.port = static_cast<std::uint32_t>(below(ports));
    r.at = below(3) == 0 ? 0 : below(300);
    for (std::uint64_t i = 0, n = 1 + below(2); i < n; ++i) r.stream.add(region());
    r.pace = below(2) == 0 ? 0 : r.stream.traffic() * (1 + below(40)) / (8 * port_bytes) + below(3);
    return r;
  }

 private:
  std::mt19937 random_;
};

void compare(std::size_t streams, unsigned seed) {
  Cases cases(seed);
  for (int i = 0; i < 10000; ++i) {
    const BankMap map = cases.map();
    const std::uint64_t port_bytes = cases.one_of({16, 32, 64, 128});
    const auto ports = static_cast<std::uint32_t>(1 + cases.below(4));
    std::vector<Request> requests;
    for (std::size_t r = 0; r < streams; ++r) requests.push_back(cases.request(ports, port_bytes));
    std::stable_sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) { return a.at < b.at; });
    BankShare share(map, ports, port_bytes, 0);
    const Outcome ours = simulate(share, requests);
    const ByHand theirs = simulate_by_hand(map, ports, port_bytes, requests);
    ASSERT_EQ(ours.done, theirs.done) << "case " << i;
    ASSERT_EQ(share.busiest_bank_words(), *std::max_element(theirs.words.begin(), theirs.words.end())) << "case " << i;
    for (std::size_t r = 0; r < streams; ++r) ASSERT_GE(ours.held[r], theirs.held[r]) << "case " << i;
  }
}

TEST(BankShare, PairsOfStreamsAreAsByHand) { compare(2, 1); }
TEST(BankShare, TriplesOfStreamsAreAsByHand) { compare(3, 2); }

// 16 banks of 32 bytes: rows 512 bytes apart begin in the same bank, rows 544 bytes apart in the next one.
std::uint64_t cycles_of_columns(std::uint64_t stride, const BankMap& map) {
  BankShare share(map, 1, 64, 0);
  Stream stream;
  stream.add({0, 64, 64, stride, 64 * 64, false, 16});  // a word of 16 rows in turn: 2 a beat, 64 beats
  const std::size_t slot = share.open(0, 0, stream.traffic(), 0, stream);
  std::uint64_t now = 0;
  while (share.finish(slot, now) > now) now = share.finish(slot, now);
  return now;
}

TEST(BankShare, RowsAMultipleOfAllBanksApartConflict) {
  const BankMap none{16, 32, 32, Swizzle::kNone}, swizzled{16, 32, 32, Swizzle::kXor};
  EXPECT_EQ(cycles_of_columns(512, none), 128U);  // both words of a beat in one bank
  EXPECT_EQ(cycles_of_columns(544, none), 64U);
  EXPECT_EQ(cycles_of_columns(512, swizzled), 64U);
  // Words of 16 bytes, 32 banks: 512 and 528 are the same bank and the next one; 4 rows a beat.
  const BankMap narrow{32, 16, 16, Swizzle::kNone};
  EXPECT_EQ(cycles_of_columns(512, narrow), 256U);
  EXPECT_EQ(cycles_of_columns(528, narrow), 64U);
}

// A long pair of streams, for which rounds are taken at once.
TEST(BankShare, LongStreamsAreAsByHand) {
  const BankMap map{16, 32, 32, Swizzle::kNone};
  Cases cases(3);
  for (int i = 0; i < 40; ++i) {
    std::vector<Request> requests(2 + cases.below(2));
    for (Request& r : requests) {
      r.port = static_cast<std::uint32_t>(cases.below(3));
      Region region{2 * cases.below(512), 64, 128 * (1 + cases.below(4)), 0, 0, false, 16};
      region.row_stride = region.row_bytes + cases.one_of({0, 16, 128});
      region.traffic_bytes = region.rows * region.row_bytes * (1 + cases.below(6));
      r.stream.add(region);
      r.pace = cases.below(2) == 0 ? 0 : region.traffic_bytes / 40;
    }
    BankShare share(map, 3, 64, 0);
    ASSERT_EQ(simulate(share, requests).done, simulate_by_hand(map, 3, 64, requests).done) << "case " << i;
  }
}

// A memory that has seen much the same before: streams of a few regions, with other lengths, paces and distances.
TEST(BankShare, WhatIsRememberedIsAsByHand) {
  Cases cases(4);
  for (int m = 0; m < 12; ++m) {
    const BankMap map = cases.map();
    const std::uint64_t port_bytes = cases.one_of({16, 32, 64});
    std::vector<Region> regions;
    for (int i = 0; i < 4; ++i) regions.push_back(cases.region());
    const std::uint64_t pace = cases.one_of({0, 17, 20, 32});  // sixteenths
    BankShare share(map, 3, port_bytes, 0);
    std::uint64_t start = 0;
    for (int i = 0; i < 150; ++i) {
      std::vector<Request> requests(3);
      for (std::uint32_t r = 0; r < 3; ++r) {
        requests[r].port = cases.below(3) == 0 ? 0 : r;
        requests[r].at = r * 20 + cases.below(2);
        for (std::uint64_t k = 0, n = 1 + cases.below(2); k < n; ++k) {
          Region region = regions[cases.below(regions.size())];
          region.traffic_bytes = port_bytes * cases.one_of({5, 60, 70, 130, 200});
          requests[r].stream.add(region);
        }
        requests[r].pace = requests[r].stream.traffic() * pace / (16 * port_bytes);
      }
      std::vector<Request> later = requests;
      for (Request& r : later) r.at += start;
      share.reset();
      const Outcome ours = simulate(share, later);
      const ByHand theirs = simulate_by_hand(map, 3, port_bytes, requests);
      for (std::size_t r = 0; r < 3; ++r) {
        ASSERT_EQ(ours.done[r] - start, theirs.done[r]) << "map " << m << ", case " << i << ", stream " << r;
        ASSERT_GE(ours.held[r], theirs.held[r]) << "map " << m << ", case " << i << ", stream " << r;
      }
      ASSERT_EQ(share.busiest_bank_words(), *std::max_element(theirs.words.begin(), theirs.words.end()));
      start = *std::max_element(ours.done.begin(), ours.done.end()) + cases.below(3);
    }
  }
}

}  // namespace
}  // namespace attnvp
