// What a tiling makes the machine do at least: how the layer is cut, and how many bytes each memory then moves. Every
// number is what the dataflow must do whatever the order and the overlap, or less; none comes from a simulation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "explore/search/space.h"

namespace attnvp::explore {

// What a bound must know of a dataflow.
struct DataflowFacts {
  explicit DataflowFacts(const Problem& problem);
  bool known = false;        // one of the five; of others only the roofline is used
  bool fused = true;         // C, P and O of a block before the layer's end
  bool serial = false;       // MAC and VEC of a core never overlap
  bool lock_step = false;    // transfers and computation never overlap
  bool split_cores = false;  // C on one half of the cores, O on the other
  std::uint32_t ahead = 0;   // C of this many row blocks per core before the first O; 0: says nothing
  std::uint32_t scores = 0;  // how often C or P cross the DRAM bus
};

// Bytes moved and operations done.
struct Traffic {
  std::uint64_t l1_read = 0, l1_write = 0, l0_read = 0, l0_write = 0;  // bytes
  std::uint64_t macs = 0, lane_ops = 0;
  Traffic& operator+=(const Traffic& other);
  Traffic& operator*=(std::uint64_t times);
};

struct BlockKind {                                         // row blocks of one size
  std::uint64_t rows = 0, passes = 0;                      // passes of the MAC array down the rows
  std::uint64_t per_head = 0;                              // how many of them
  std::uint64_t c_cycles = 0, o_cycles = 0, p_cycles = 0;  // on one engine, at least
  std::vector<std::uint64_t> c_until;                      // cycles of C up to and with sub-block j of K
};

struct Counts {
  Counts(const Problem& problem, const DataflowFacts& facts, const hal::Tiling& tiling);

  std::uint64_t heads = 0;          // of all batches
  std::uint64_t lanes = 0;          // items in flight, all clusters
  std::uint64_t blocks = 0;         // row blocks per head
  std::uint64_t sub_blocks = 0;     // of K, per head
  std::uint64_t groups = 0;         // of heads whose K and V are in L1 together
  std::uint64_t first_members = 0;  // heads of the group that comes first; 1 where that may be a partial one
  std::uint32_t nkv = 0;            // rows of a sub-block, as firmware takes it
  bool streamed = false;            // K and V
  std::vector<BlockKind> kinds;
  std::uint64_t q_rows = 0;           // of the shortest block
  std::uint64_t first_strip = 0;      // rows of Q that come at once for a lane's first block; 0: all
  std::uint64_t last_strip_rows = 0;  // least rows of O that leave in one store
  std::uint64_t fill_cycles = 0;      // least time in which a matmul's first L0 sub-tile is loaded

  // Cycles on one engine for all heads.
  std::uint64_t c_cycles = 0, o_cycles = 0, p_cycles = 0;
  std::uint64_t least_c = 0, least_o = 0;  // C of the cheapest block; O of the cheapest strip of one array pass
  std::uint64_t q_bytes = 0, kv_bytes = 0,
                score_bytes = 0;   // DRAM: Q (and as much of O), K and V with reloads, C and P
  std::uint64_t k_bytes = 0;       // K alone (as much as V)
  std::uint64_t mac_l1_bytes = 0;  // of all MAC engines
  Traffic traffic;                 // all heads, DMA included

  // How work is dealt in a single cluster: items (row blocks of a group's heads) in turn to the lanes.
  std::uint64_t members(std::uint64_t group) const;
  std::uint64_t rounds(std::uint64_t group) const;
  // What a lane computes in a round of a group; nullptr: nothing.
  const BlockKind* block_of(std::uint64_t group, std::uint64_t round, std::uint64_t lane) const;
  std::uint64_t sub_block_rows(std::uint64_t j) const;
  // Of a lane's first block of `rows` rows, those that come before K.
  std::uint64_t first_rows(std::uint64_t rows) const { return first_strip > 0 ? std::min(first_strip, rows) : rows; }

  std::uint64_t dram_bytes() const { return 2 * q_bytes + kv_bytes + score_bytes; }

 private:
  std::uint32_t bb_ = 1, hh_ = 1;
  config::Network network_;

  void cut(const Problem& p, const DataflowFacts& facts, const hal::Tiling& t);
  void add_block(const Problem& p, const hal::Tiling& t, BlockKind kind, std::uint64_t strip);
  void find_fill(const Problem& p, const hal::Tiling& t);
  void count_dram(const Problem& p, const DataflowFacts& facts, const hal::Tiling& t);
};

}  // namespace attnvp::explore
