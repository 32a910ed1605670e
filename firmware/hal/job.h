// The job block: what the host leaves in the mailbox for firmware, and what firmware answers.
// Fixed-size fields only, the same bytes on the host and on a RISC-V.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/mask.h"
#include "firmware/hal/registers.h"

namespace attnvp::hal {

constexpr std::uint32_t kJobMagic = 0x4A565441;  // "ATVJ"
constexpr int kNameBytes = 32;
constexpr int kMaxOptions = 3;
constexpr int kMaxParameters = 12;
constexpr int kMaxStatistics = 8;

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
  kBadTiling = 9,       // detail: which of the dataflow's parameters, its value: the program cannot do with it
  kDramTooSmall = 11,   // for partial results; detail: bytes needed, bytes there are
  kL2TooSmall = 12,     // a cluster's part of it; detail: likewise
};

// A schedule's parameters are words in the order in which its dataflow declares them (runtime/dataflow.h). The host
// chooses all of them; firmware takes or refuses them. 0 is no value.
constexpr std::uint32_t kWord =
    0xFFFF'FFFF;  // of parameters with a word for it: not resident but streamed, not in tiles

// Bits of the job's flags.
constexpr std::uint32_t kDryRun = 1;  // make every buffer and event of the schedule, but compute nothing
constexpr std::uint32_t kRuled = 2;   // the layer's Rules are at kRulesAddress
constexpr std::uint32_t kPlain = 4;   // no softmax: P is C
// Further words of the layer, where these say so.
constexpr std::uint32_t kMapped = 16;        // the mask's map of blocks is at kMapAddress
constexpr std::uint32_t kPadded = 32;        // of each batch's keys so many count as are said at kContextsAddress
constexpr std::uint32_t kSlopedJob = 64;     // ALiBi: slopes of the query heads are at kBiasAddress
constexpr std::uint32_t kBucketedJob = 128;  // T5: biases of the heads' buckets are at kBiasAddress
constexpr std::uint32_t kAddedJob = 512;     // biases as a tensor: Addends are at kBiasAddress
constexpr std::uint32_t kAppends = 256;  // new tokens' K and V are where Append says, and are to be put into the cache
constexpr std::uint32_t kListed = 2048;  // made beforehand: what there is to do is a command list (list.h)
constexpr std::uint32_t kStaged = 1024;  // K and V that are streamed are to be staged where Stage says
constexpr std::uint32_t kHeterogeneous = 4096;  // cores are not equally fast: Cores is at kCoresAddress
constexpr std::uint32_t kTyped = 8;  // the layer's Types are at kTypesAddress; otherwise all is FP16, and of one width

// What firmware must know of the machine; a ROM table on a real device. Of heterogeneous cores: mac_rows, mac_columns
// and softmax_rate are those of the fastest, resident_tiles and l0_bytes the least of any.
struct MachineInfo {
  std::uint32_t clusters, cores;
  std::uint32_t mac_rows, mac_columns;
  std::uint16_t dma_channels, dma_queue_depth;
  std::uint32_t events;
  std::uint16_t resident_tiles;  // that the PEs of a MAC array hold for row operations; 0: they only multiply
  std::uint16_t softmax_rate;    // elements that a VEC engine does in 16 cycles, at least 1
  std::uint8_t dram_sharers;     // clusters that can use up that rate together, in sixteenths, at least 16
  std::uint16_t dram_rate;  // bytes of DRAM in 16 cycles, all clusters together; 0: not known, or bytes that several
                            // clusters read are read once
  std::uint64_t l1_bytes, l0_bytes;
};

// Bytes of an L1 without an end: of a schedule that can do with more or with less the least is asked.
constexpr std::uint64_t kEndlessL1 = std::uint64_t{1} << 39;

// Which score matrices a dataflow keeps in DRAM.
enum Scores : std::uint8_t { kScoresOnChip, kScoresP, kScoresCAndP };

struct Layer {
  std::uint32_t batch, heads, seq_q, seq_kv, emb;
  std::uint32_t
      ragged;  // of their own numbers, at kContextsAddress, batches have: 1: keys; 2: new tokens (Rules::group rows of
               // a head each) and keys. Q, K, V and O of batches lie one behind the other
  std::uint64_t q, k, v, o;  // DRAM addresses of [batch, heads, seq, emb] in FP16 or Types', row-major, no padding
  std::uint64_t c, p;        // DRAM space for [batch, heads, seq_q, seq_kv] in FP16; 0 where the dataflow needs none.
                             // Elements of P may be shorter, its rows are as long
};

struct JobBlock {
  std::uint32_t magic;
  std::uint32_t bytes;  // sizeof(JobBlock)
  char dataflow[kNameBytes];
  std::uint32_t option[kMaxOptions];  // index of the chosen value, in the dataflow's own order
  std::uint32_t flags;
  MachineInfo machine;
  Layer layer;
  std::uint32_t parameter[kMaxParameters];
};
static_assert(sizeof(JobBlock) % 8 == 0, "the block is read in words of 8 bytes");

struct JobResult {  // one per cluster, right behind the job block, kResultStride apart
  Status status;
  std::uint32_t reserved;
  std::uint64_t detail[2];
  std::uint64_t statistic[kMaxStatistics];  // in the order in which the dataflow declares them
};

constexpr std::uint64_t kJobAddress = kMailboxBase;
constexpr std::uint64_t kResultStride = 128;
static_assert(sizeof(JobResult) <= kResultStride, "results may not overlap");
constexpr std::uint64_t kResultAddress = kJobAddress + 0x1000;
constexpr std::uint64_t result_address(std::uint32_t cluster) { return kResultAddress + cluster * kResultStride; }
static_assert(kResultAddress + 1024 * kResultStride <= kJobAddress + 0x3'0000, "results of 1024 clusters fit");
// Behind the results, for dataflows that deal tiles of contexts to workers.
struct Scratch {  // DRAM behind the tensors, for partial results
  std::uint64_t address, bytes;
};
constexpr std::uint64_t kScratchAddress = kJobAddress + 0x3'0000;
// Cores of a cluster that are not equally fast.
constexpr std::uint32_t kMostCores = 64;
struct Cores {
  std::uint16_t weight[kMostCores];                    // work of the layer that a core does in some time, at least 1
  std::uint16_t rows[kMostCores];                      // of its MAC array
  std::uint32_t least_rows, most_rows, least_columns;  // of any array
  std::uint32_t reserved;
};
static_assert(sizeof(Cores) == 272, "the same bytes on every processor");
constexpr std::uint64_t kCoresAddress = kJobAddress + 0x2'1000;
static_assert(kResultAddress + 1024 * kResultStride <= kCoresAddress &&
                  kCoresAddress + sizeof(Cores) <= kScratchAddress,
              "Cores do not overlap");
// What is not every layer's.
struct Rules {
  Mask mask;
  std::uint32_t scale;  // of the scores: FP32, its bits
  std::uint16_t group;  // query heads of a head of K and V
  std::uint16_t page;   // tokens in a page of the cache; 0: K and V lie in one run
};
static_assert(sizeof(Rules) == 32, "the same bytes on every processor");
constexpr std::uint64_t kRulesAddress = kJobAddress + 0x3'0100;
// Of what is not all in FP16, nor as wide everywhere.
struct Types {
  ElementType operand, out;   // Q, K, V and P; O
  std::uint8_t per_head;      // 1: of every head (batch * heads + head) HeadScales at kScalesAddress
  std::uint8_t scale_block;   // INT8: log2 of the tokens that share a scale; 0: all of a head do
  std::uint32_t value_scale;  // of the products P.V: FP32, its bits; otherwise
  std::uint32_t cap;          // of the scores: FP32, its bits; 0: none
  std::uint32_t value_emb;    // columns of V and O; 0: as many as K has
};
static_assert(sizeof(Types) == 16, "the same bytes on every processor");
struct HeadScales {
  std::uint32_t score, value;  // of Q.K^T and of P.V: FP32, its bits
};
constexpr std::uint64_t kTypesAddress = kJobAddress + 0x3'0180;
constexpr std::uint64_t kScalesAddress = kJobAddress + 0x3'0200;
// With scales of blocks there are FP32 numbers in place of those: of each head Q's, then K's, then V's.
constexpr std::uint64_t kContextsAddress = kJobAddress + 0x4'0000;  // 32 bits a batch
constexpr std::uint32_t kMostScales = (kContextsAddress - kScalesAddress) / sizeof(HeadScales);
constexpr std::uint32_t kMostBlockScales = (kContextsAddress - kScalesAddress) / sizeof(std::uint32_t);
// Where new tokens' K and V come from: [batch, heads, new tokens, emb], or likewise batch after batch; where batches
// are alike, they become the keys from `first` on.
struct Append {
  std::uint64_t k, v;
  std::uint32_t first, tokens;
};
constexpr std::uint64_t kAppendAddress = kJobAddress + 0x3'01C0;
// L2 for K and V that a cluster streams: the first cluster's part, and how much each one has.
struct Stage {
  std::uint64_t address, bytes;
};
constexpr std::uint64_t kStageAddress = kJobAddress + 0x3'01E0;
// What a step of a layer does to rows of seq_kv numbers at Layer::q; the result goes to Layer::p. At Layer::k are, of
// kNorm, gamma (and at Layer::v beta), of kAdd the other rows, of kRotate rows of `emb` cosines and sines.
struct RowStep {
  Opcode opcode;
  Activation function;   // of kActivate
  std::uint8_t gated;    // likewise: rows are of twice as many numbers, the second half of which is multiplied
  std::uint8_t centred;  // of kNorm
  std::uint32_t epsilon;
};
constexpr std::uint64_t kRowStepAddress = kJobAddress + 0x3'01F0;
static_assert(sizeof(RowStep) == 8, "the same bytes on every processor");
static_assert(kAppendAddress + sizeof(Append) <= kStageAddress && kStageAddress + sizeof(Stage) <= kRowStepAddress &&
                  kRowStepAddress + sizeof(RowStep) <= kScalesAddress,
              "words of the layer do not overlap");
constexpr std::uint64_t kMapAddress = kJobAddress + 0x5'0000;   // BlockMask's words
constexpr std::uint64_t kBiasAddress = kJobAddress + 0x6'0000;  // FP32 a query head, or kBuckets of FP16
constexpr std::uint32_t kMostBiasBytes = 0x2'0000;
struct Addends {
  std::uint64_t address;  // in DRAM: FP16 [batch, heads, seq_q, seq_kv] of the Layer
};
constexpr std::uint64_t kWorkersAddress = kJobAddress + 0x8'0000;  // 32 bits a core: tiles it computed
constexpr std::uint64_t worker_tiles_address(std::uint32_t cluster, std::uint32_t core) {
  return kWorkersAddress + (std::uint64_t{cluster} * 64 + core) * 4;
}
// Which page has which tokens of a batch, 32 bits a page: batch after batch, so many as its keys need. In a page: heads
// of K (or V), tokens.
constexpr std::uint64_t kPagesAddress = kJobAddress + 0xC'0000;
constexpr std::uint32_t kMostPages = 0x1'0000;
constexpr std::uint64_t kTensorsAddress = kDramBase;  // first byte the host may place tensors at

}  // namespace attnvp::hal
