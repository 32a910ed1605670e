// The job block: what the host leaves in the mailbox for firmware, and what firmware answers.
// Fixed-size fields only, the same bytes on the host and on a RISC-V.
#pragma once

#include <cstdint>

#include "firmware/hal/registers.h"

namespace attnvp::hal {

constexpr std::uint32_t kJobMagic = 0x4A565441;  // "ATVJ"
constexpr int kNameBytes = 32;
constexpr int kMaxOptions = 4;

enum class Status : std::uint32_t {
  kIdle = 0,
  kDone = 1,
  kBadJob = 2,  // magic or shape make no sense
  kUnknownDataflow = 3,
  kL1TooSmall = 4,      // detail: bytes needed at least, bytes there are
  kL0TooSmall = 5,      // detail: likewise
  kTooFewEvents = 6,    // detail: likewise
  kTooFewChannels = 7,  // detail: DMA channels needed, channels there are
  kEngineFault = 8,     // detail: the access that was answered with an error; the engine's own registers say more
  kTooManyEvents = 10,  // a command waits for, or signals, more events than a descriptor can name
  kBadTiling = 9,       // detail: 0 to 4: bb, hh, nq, nkv, np; kNpUnused; its value
  kDramTooSmall = 11,   // for partial results; detail: bytes needed, bytes there are
};

// One schedule's tile sizes. 0 asks firmware to choose.
struct Tiling {
  std::uint32_t bb;   // B_b: batches whose K and V are in L1 together
  std::uint32_t hh;   // H_h: heads whose K and V are in L1 together
  std::uint32_t nq;   // N_Q: query rows of one row block on one core
  std::uint32_t nkv;  // N_KV: rows of one sub-block of K or V
  std::uint32_t m0;   // L0 sub-tile of a matmul: rows of A,
  std::uint32_t n0;   //   columns of B,
  std::uint32_t k0;   //   and the depth that is loaded at a time
  // How K and V live in L1: 0 streams sub-blocks once per round, n >= 1 holds n groups' whole K (or V).
  std::uint32_t kv_buffers;   // kKvStream, or the number of groups
  std::uint32_t row_buffers;  // buffers for row blocks of Q, and twice as many for O, per core
  std::uint32_t np;  // N_P: query rows of one softmax, where scores go in tiles (score_tiles.h); 0: they do not
};
constexpr std::uint32_t kNpUnused = 5;  // for kBadTiling: N_P given to a dataflow that takes none
constexpr std::uint32_t kKvAuto = 0;
constexpr std::uint32_t kKvStream = 0xFFFF'FFFF;

// What firmware must know of the machine; a ROM table on a real device.
struct MachineInfo {
  std::uint32_t clusters, cores;
  std::uint32_t mac_rows, mac_columns;
  std::uint16_t dma_channels, dma_queue_depth;
  std::uint32_t events;
  std::uint16_t resident_tiles;  // that the PEs of a MAC array hold for row operations; 0: they only multiply
  std::uint16_t burst_log2;      // bytes of the longest DMA burst
  // Rates for choosing tile sizes, never for timing: 1/1024 of an element of softmax, of a byte over DRAM, of a
  // burst (however short) loaded from DRAM per cycle; of the latter two all clusters together.
  std::uint32_t softmax_rate_1024, dram_rate_1024, burst_rate_1024;
  std::uint64_t l1_bytes, l0_bytes;
};

// Which score matrices a dataflow keeps in DRAM.
enum Scores : std::uint8_t { kScoresOnChip, kScoresP, kScoresCAndP };

struct Layer {
  std::uint32_t batch, heads, seq_q, seq_kv, emb;
  std::uint32_t
      ragged;  // 1: batches have keys of their own number, at kContextsAddress; K and V lie one behind the other
  std::uint64_t q, k, v, o;  // DRAM addresses of [batch, heads, seq, emb] in FP16, row-major, no padding
  std::uint64_t c, p;        // DRAM space for [batch, heads, seq_q, seq_kv] in FP16; 0 where the dataflow needs none
};

struct JobBlock {
  std::uint32_t magic;
  std::uint32_t bytes;  // sizeof(JobBlock)
  char dataflow[kNameBytes];
  std::uint32_t option[kMaxOptions];  // index of the chosen value, in the dataflow's own order
  MachineInfo machine;
  Layer layer;
  Tiling tiling;
};
static_assert(sizeof(JobBlock) % 8 == 0, "the block is read in words of 8 bytes");

struct JobResult {  // one per cluster, right behind the job block, kResultStride apart
  Status status;
  std::uint32_t reserved;
  std::uint64_t detail[2];
  Tiling tiling;                             // as used
  std::uint64_t k_overwrites, v_overwrites;  // how often K, V gave way to P
  std::uint64_t reload_bytes;                // what was loaded again for that
};

constexpr std::uint64_t kJobAddress = kMailboxBase;
constexpr std::uint64_t kResultStride = 128;
static_assert(sizeof(JobResult) <= kResultStride, "results may not overlap");
constexpr std::uint64_t kResultAddress = kJobAddress + 0x1000;
constexpr std::uint64_t result_address(std::uint32_t cluster) { return kResultAddress + cluster * kResultStride; }
static_assert(kResultAddress + 1024 * kResultStride <= kJobAddress + 0x3'0000, "results of 1024 clusters fit");
// How tiles of contexts were dealt to workers; all 0 where a dataflow does not.
struct Partition {                   // cluster 0 writes it
  std::uint32_t tiles, workers;      // in all
  std::uint32_t most, most_workers;  // tiles of the workers that have most, and how many have so many
  std::uint32_t splits;              // of a context, where all are split alike; otherwise 0
};

// Behind the results, for dataflows that deal tiles of contexts to workers.
struct Scratch {  // DRAM behind the tensors, for partial results
  std::uint64_t address, bytes;
};
constexpr std::uint64_t kScratchAddress = kJobAddress + 0x3'0000;
constexpr std::uint64_t kPartitionAddress = kJobAddress + 0x3'1000;
constexpr std::uint64_t kContextsAddress = kJobAddress + 0x4'0000;  // 32 bits a batch
constexpr std::uint64_t kWorkersAddress = kJobAddress + 0x8'0000;   // 32 bits a core: tiles it computed
constexpr std::uint64_t worker_tiles_address(std::uint32_t cluster, std::uint32_t core) {
  return kWorkersAddress + (std::uint64_t{cluster} * 64 + core) * 4;
}
constexpr std::uint64_t kTensorsAddress = kDramBase;  // first byte the host may place tensors at

}  // namespace attnvp::hal
