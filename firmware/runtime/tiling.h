// Parameters of the schedules as typed structs. Each is the sequence of the job's parameter words in the order of the
// lists below.
#pragma once

#include "firmware/runtime/dataflow.h"

namespace attnvp::firmware {

using std::uint32_t;

// Part of a matmul's operands that is in L0 at a time: rows of A, columns of B, depth.
struct L0Tile {
  uint32_t m0, n0, k0;
};

// Row blocks (work.h): groups of bb x hh heads, row blocks of nq rows, sub-blocks of nkv keys.
struct RowTiling {
  uint32_t bb, hh, nq, nkv;
  L0Tile l0;
  uint32_t kv_buffers;   // groups whose whole K (or V) is in L1; hal::kWord: streamed
  uint32_t row_buffers;  // buffers of Q per core
  enum : uint32_t { kNq = 2, kNkv = 3 };
};

// Row blocks whose scores may be stored in DRAM in tiles of nq x nkv.
struct ScoreTiling : RowTiling {
  uint32_t np;               // query rows per softmax command; hal::kWord: whole row blocks, scores stay in L1
  uint32_t tile_buffers;     // buffers for tiles of scores per core
  uint32_t softmax_buffers;  // buffers of np rows for softmax
  enum : uint32_t { kNp = 9 };
  bool in_tiles() const { return np != hal::kWord; }
};

// Slabs of nq rows, tiles of nkv keys (online_attention.h).
struct OnlineTiling {
  uint32_t bb, hh, nq, nkv;
  L0Tile l0;
  uint32_t kv_buffers;   // tiles of K, and of V, in L1; hal::kWord: three more than the steps between a step's halves
  uint32_t row_buffers;  // slabs of a core in a row block
  uint32_t steps;        // steps of a core between a step's first and second half
  uint32_t spare;        // additional slabs of a core in L1, being loaded or stored; hal::kWord: none
  enum : uint32_t { kNq = 2, kSteps = 9 };  // for refused parameters
  uint32_t slots() const { return row_buffers + (spare == hal::kWord ? 0 : spare); }
};

// Tiles of nkv keys of one head's context (decode.h).
struct DecodeTiling {
  uint32_t bb, hh, nq, nkv;
  L0Tile l0;
  uint32_t kv_buffers;   // tiles of K, and of V, per worker; hal::kWord: three
  uint32_t row_buffers;  // always one
  enum : uint32_t { kNq = 2 };
};

// Union of the above, selected by `walk` (dataflows/weave.cpp). Unused parameters are hal::kWord or one.
struct WeaveTiling : OnlineTiling {
  uint32_t walk;
  enum : uint32_t { kBb = 0, kHh = 1, kRowBuffers = 8, kSpare = 10, kWalk = 11 };
};

namespace parameter {
extern const Parameter kBb, kHh, kNq, kNkv, kM0, kN0, kK0, kKv, kRb, kOneBatch, kOneHead, kOneBuffer;
}  // namespace parameter

extern const Parameter* const kRowParameters[];
extern const Parameter* const kScoreParameters[];
extern const Parameter* const kOnlineParameters[];
extern const Parameter* const kDecodeParameters[];

}  // namespace attnvp::firmware
