// Job block: the mailbox structures through which the host passes a job to firmware and firmware returns its result.
// The host writes them before the job starts, except JobResult and the counts at kWorkersAddress, which firmware
// writes. Fields have fixed sizes, the same on the host and on RISC-V.
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
  kBadJob = 2,  // magic or shape is invalid
  kUnknownDataflow = 3,
  kL1TooSmall = 4,      // detail: bytes needed at least, bytes available
  kL0TooSmall = 5,      // detail: as kL1TooSmall
  kTooFewEvents = 6,    // detail: events needed, events available
  kTooFewChannels = 7,  // detail: DMA channels needed, channels available
  kEngineFault = 8,     // detail: address of the failed access; the engine's registers hold the cause
  kTooManyEvents = 10,  // a command waits for or signals more events than a descriptor can name
  kBadTiling = 9,       // detail: index of the dataflow's parameter, its value, which the program does not support
  kDramTooSmall = 11,   // no space for partial results; detail: bytes needed, bytes available
  kL2TooSmall = 12,     // a cluster's share; detail: bytes needed, bytes available
};

// A schedule's parameters are words in the order in which its dataflow declares them (runtime/dataflow.h). The host
// chooses all of them; firmware accepts or refuses them. 0 is not a valid value.
constexpr std::uint32_t kWord = 0xFFFF'FFFF;  // symbolic value of a parameter: streamed instead of resident, or untiled

// Bits of JobBlock::flags.
constexpr std::uint32_t kDryRun = 1;  // allocate all buffers and events of the schedule without issuing commands
constexpr std::uint32_t kRuled = 2;   // the layer's Rules are at kRulesAddress
constexpr std::uint32_t kPlain = 4;   // no softmax: P = C
// Further structures of the layer.
constexpr std::uint32_t kMapped = 16;        // the mask's map of blocks is at kMapAddress
constexpr std::uint32_t kPadded = 32;        // each batch has its own number of valid keys, at kContextsAddress
constexpr std::uint32_t kSlopedJob = 64;     // ALiBi: slopes of the query heads are at kBiasAddress
constexpr std::uint32_t kBucketedJob = 128;  // T5: biases of the heads' buckets are at kBiasAddress
constexpr std::uint32_t kSunkJob = 32768;    // learned sinks of the query heads are at kBiasAddress
constexpr std::uint32_t kAddedJob = 512;     // biases are a tensor: Addends is at kBiasAddress
constexpr std::uint32_t kAppends = 256;  // K and V of new tokens are copied into the cache; Append is at kAppendAddress
constexpr std::uint32_t kListed = 2048;  // the job was recorded beforehand as a command list (list.h)
constexpr std::uint32_t kStaged = 1024;  // streamed K and V are staged in L2; Stage is at kStageAddress
constexpr std::uint32_t kHeterogeneous = 4096;      // cores differ in speed; Cores is at kCoresAddress
constexpr std::uint32_t kUnequalClusters = 262144;  // clusters differ in speed; Clusters is at kClustersAddress
constexpr std::uint32_t kFused =
    8192;  // a matrix product with operations on its rows: FusedProduct is at kFusedAddress
constexpr std::uint32_t kSecond = 131072;    // another product follows; SecondProduct is at kSecondAddress
constexpr std::uint32_t kQuantised = 16384;  // B of a product has fewer bits than A; Weights is at kWeightsAddress
constexpr std::uint32_t kStoresCache =
    65536;  // a product stores its last columns into a KV cache: CachedColumns is at kCachedColumnsAddress
constexpr std::uint32_t kTyped = 8;  // Types is at kTypesAddress; otherwise all tensors are FP16 and have `emb` columns

// Machine parameters; a ROM table on a real device. For heterogeneous cores mac_rows, mac_columns and softmax_rate
// describe the fastest core; resident_tiles and l0_bytes are the minimum of all cores. Sizes of L1 and DMA are the
// minimum of all clusters.
struct MachineInfo {
  std::uint32_t clusters, cores;
  std::uint32_t mac_rows, mac_columns;
  std::uint16_t dma_channels, dma_queue_depth;
  std::uint32_t events;
  std::uint16_t resident_tiles;  // tiles that the PEs of a MAC array hold for row operations; 0: PEs only multiply
  std::uint16_t softmax_rate;    // elements per 16 cycles of a VEC engine, at least 1
  std::uint8_t dram_sharers;     // clusters that together saturate dram_rate, in sixteenths, at least 16
  std::uint8_t cluster_groups;   // that a grid's thread blocks go to in turn; cluster k is in group k modulo these
  std::uint16_t dram_rate;  // DRAM bytes per 16 cycles, all clusters together; 0: unknown, or clusters share reads of
                            // the same bytes
  std::uint64_t l1_bytes, l0_bytes;
};

// L1 size, in bytes, that never limits a schedule.
constexpr std::uint64_t kEndlessL1 = std::uint64_t{1} << 39;

// Which score matrices a dataflow keeps in DRAM.
enum Scores : std::uint8_t { kScoresOnChip, kScoresP, kScoresCAndP };

struct Layer {
  std::uint32_t batch, heads, seq_q, seq_kv, emb;
  // 0: batches are alike. 1: each batch has its own number of keys. 2: each batch has its own numbers of new tokens
  // (Rules::group rows of a head each) and of keys. The numbers are at kContextsAddress, and the batches of Q, K, V
  // and O are contiguous.
  std::uint32_t ragged;
  std::uint64_t q, k, v, o;  // DRAM addresses of [batch, heads, seq, emb], FP16 or as Types says, row-major, dense
  std::uint64_t c, p;  // DRAM addresses of [batch, heads, seq_q, seq_kv] in FP16, 0 if unused; rows of P have the same
                       // stride if its elements are shorter
};

struct JobBlock {
  std::uint32_t magic;
  std::uint32_t bytes;  // sizeof(JobBlock)
  char dataflow[kNameBytes];
  std::uint32_t option[kMaxOptions];  // index of the chosen value, in the dataflow's order
  std::uint32_t flags;
  MachineInfo machine;
  Layer layer;
  std::uint32_t parameter[kMaxParameters];
};
static_assert(sizeof(JobBlock) % 8 == 0, "the block is read in words of 8 bytes");

struct JobResult {  // one per cluster, kResultStride apart, from kResultAddress
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
// For dataflows that distribute tiles of contexts over workers.
struct ScratchSpace {  // DRAM space for partial results, behind the tensors
  std::uint64_t address, bytes;
};
constexpr std::uint64_t kScratchAddress = kJobAddress + 0x3'0000;
// Heterogeneous cores of a cluster (kHeterogeneous).
constexpr std::uint32_t kMostCores = 64;
struct Cores {
  std::uint16_t weight[kMostCores];                    // relative throughput on this layer, at least 1
  std::uint16_t rows[kMostCores];                      // rows of the core's MAC array
  std::uint32_t least_rows, most_rows, least_columns;  // over all arrays
  std::uint32_t reserved;
};
static_assert(sizeof(Cores) == 272, "the same bytes on every processor");
constexpr std::uint64_t kCoresAddress = kJobAddress + 0x2'1000;
static_assert(kResultAddress + 1024 * kResultStride <= kCoresAddress &&
                  kCoresAddress + sizeof(Cores) <= kScratchAddress,
              "Cores do not overlap");
// Clusters of different speed (kUnequalClusters, with kHeterogeneous). A cluster has the Cores of its kind, and the
// weights of all kinds have one scale. The Cores at kCoresAddress are those of the fastest cluster: they determine the
// windows of rows, which must be the same in all clusters.
constexpr std::uint32_t kMostClusters = 1024, kMostClusterKinds = 128;
struct Clusters {
  std::uint16_t weight[kMostClusters];  // relative throughput on this layer, at least 1
  std::uint8_t kind[kMostClusters];
};
static_assert(sizeof(Clusters) == 3072, "the same bytes on every processor");
constexpr std::uint64_t kClustersAddress = kCoresAddress + 0x200;
constexpr std::uint64_t cores_address(std::uint32_t kind) {
  return kClustersAddress + sizeof(Clusters) + kind * sizeof(Cores);
}
static_assert(kCoresAddress + sizeof(Cores) <= kClustersAddress && cores_address(kMostClusterKinds) <= kScratchAddress,
              "Clusters do not overlap");
// Mask and attention parameters of a layer (kRuled).
struct Rules {
  Mask mask;
  std::uint32_t scale;  // scale of the scores: FP32 bit pattern
  std::uint16_t group;  // query heads per head of K and V
  std::uint16_t page;   // tokens per page of the cache; 0: K and V are contiguous
};
static_assert(sizeof(Rules) == 32, "the same bytes on every processor");
constexpr std::uint64_t kRulesAddress = kJobAddress + 0x3'0100;
// Element types, scales and widths of a layer (kTyped).
struct Types {
  ElementType operand, out;   // Q, K, V and P; O
  std::uint8_t per_head;      // 1: HeadScales of every head (batch * heads + head) are at kScalesAddress
  std::uint8_t scale_block;   // INT8: log2 of the tokens that share a scale; 0: one scale per head
  std::uint32_t value_scale;  // scale of P.V without per_head: FP32 bit pattern
  std::uint32_t cap;          // soft-cap of the scores: FP32 bit pattern; 0: none
  std::uint32_t value_emb;    // columns of V and O; 0: the columns of K
};
static_assert(sizeof(Types) == 16, "the same bytes on every processor");
struct HeadScales {
  std::uint32_t score, value;  // scales of Q.K^T and of P.V: FP32 bit patterns
};
constexpr std::uint64_t kTypesAddress = kJobAddress + 0x3'0180;
constexpr std::uint64_t kScalesAddress = kJobAddress + 0x3'0200;
// With block scales, kScalesAddress holds FP32 numbers instead: for each head those of Q, then K, then V.
constexpr std::uint64_t kContextsAddress = kJobAddress + 0x4'0000;  // 32 bits per batch
constexpr std::uint32_t kMostScales = (kContextsAddress - kScalesAddress) / sizeof(HeadScales);
constexpr std::uint32_t kMostBlockScales = (kContextsAddress - kScalesAddress) / sizeof(std::uint32_t);
// K and V of new tokens (kAppends): [batch, heads, new tokens, emb], or batch after batch if ragged. Unless ragged,
// they become the keys from `first` on.
struct Append {
  std::uint64_t k, v;
  std::uint32_t first, tokens;
};
constexpr std::uint64_t kAppendAddress = kJobAddress + 0x3'01C0;
// L2 space for K and V that a cluster streams (kStaged): address of the first cluster's share, and bytes of each share.
struct Stage {
  std::uint64_t address, bytes;
};
constexpr std::uint64_t kStageAddress = kJobAddress + 0x3'01E0;
// Operation on rows of seq_kv numbers between Layer::q (source) and Layer::p (result). Layer::k holds gamma (and
// Layer::v beta) for kNorm, the other rows for kAdd, rows of `emb` cosines and sines for kRotate, and nothing for
// kCopy and kConvert, whose result has the type Types::out. A norm with residual reads a second tensor behind the
// source, and writes the sum of both behind the result.
struct RowStep {
  Opcode opcode;
  Activation function;    // kActivate only
  std::uint8_t gated;     // kActivate only: rows are twice as long, and the second half is multiplied
  std::uint8_t centred;   // kNorm only
  std::uint8_t residual;  // kNorm only
  std::uint8_t reserved[3];
  std::uint32_t number;  // FP32 bit pattern: epsilon of kNorm, factor of kConvert
};
constexpr std::uint64_t kRowStepAddress = kJobAddress + 0x3'01F0;
static_assert(sizeof(RowStep) == 12, "the same bytes on every processor");
static_assert(kAppendAddress + sizeof(Append) <= kStageAddress && kStageAddress + sizeof(Stage) <= kRowStepAddress &&
                  kRowStepAddress + sizeof(RowStep) <= kScalesAddress,
              "words of the layer do not overlap");
// Operations that a matrix product includes (kFused). Before it: a norm of A's rows. On its result, in this order:
// bias, rotary embedding of the leading columns, activation, sum with a residual tensor. All of them are FP16. The last
// product's result may then be converted to another type.
struct FusedProduct {
  std::uint64_t gamma, beta;             // vectors of the norm; gamma 0: no norm; beta 0: not centred
  std::uint64_t bias, residual, angles;  // DRAM addresses, 0: none; a row of `head` cosines and sines for each row
  std::uint32_t epsilon;                 // of the norm: FP32 bit pattern
  std::uint32_t head, rotated;           // elements of a rotated head; columns that are rotated
  std::uint8_t is_activated;
  std::uint8_t is_gated;  // the first half of the columns are gates f(x), which multiply the second half
  Activation function;
  ElementType out;  // that the result is converted to; kNone: it stays FP16
};
static_assert(sizeof(FusedProduct) == 56, "the same bytes on every processor");
constexpr std::uint64_t kFusedAddress = kJobAddress + 0x3'0140;
static_assert(kRulesAddress + sizeof(Rules) <= kFusedAddress && kFusedAddress + sizeof(FusedProduct) <= kTypesAddress,
              "words of the layer do not overlap");
// Second product of the same rows (kSecond). Its operand A is the result of the first one, which stays in L1: with all
// operations of FusedProduct but sum and conversion, which are those of the second product.
struct SecondProduct {
  std::uint64_t b, scales;  // DRAM addresses: of [columns, columns of the first result], and as those of Weights
  std::uint32_t columns;    // of the result; 0: no second product
  std::uint32_t reserved;
};
static_assert(sizeof(SecondProduct) == 24, "the same bytes on every processor");
constexpr std::uint64_t kSecondAddress = kJobAddress + 0x3'0120;
static_assert(kRulesAddress + sizeof(Rules) <= kSecondAddress &&
                  kSecondAddress + sizeof(SecondProduct) <= kFusedAddress,
              "words of the layer do not overlap");
// Last columns of a product that become rows of a KV cache (kStoresCache): those of K, then of V, each `heads` heads of
// `elements`. The product's rows are the last tokens of `sequences`, in equal numbers.
struct CachedColumns {
  std::uint64_t k, v;  // DRAM addresses of [sequences, heads, context, elements], of the result's type
  std::uint32_t sequences, heads, elements, context;
};
static_assert(sizeof(CachedColumns) == 32, "the same bytes on every processor");
constexpr std::uint64_t kCachedColumnsAddress = kJobAddress + 0x3'00C0;
static_assert(kScratchAddress + sizeof(ScratchSpace) <= kCachedColumnsAddress &&
                  kCachedColumnsAddress + sizeof(CachedColumns) <= kRulesAddress,
              "words of the layer do not overlap");
// Weights of a product in a type of fewer bits than A (kQuantised), rows of the depth; the VEC engines convert them.
struct Weights {
  std::uint64_t scales;  // DRAM address of [groups, columns]
  std::uint32_t group;   // elements of the depth that share a scale; 0: all
  ElementType type, scale;
  std::uint8_t reserved[2];
};
static_assert(sizeof(Weights) == 16, "the same bytes on every processor");
constexpr std::uint64_t kWeightsAddress = kJobAddress + 0x3'0190;
static_assert(kTypesAddress + sizeof(Types) <= kWeightsAddress && kWeightsAddress + sizeof(Weights) <= kAppendAddress,
              "words of the layer do not overlap");
constexpr std::uint64_t kMapAddress = kJobAddress + 0x5'0000;   // words of BlockMask
constexpr std::uint64_t kBiasAddress = kJobAddress + 0x6'0000;  // one FP32 per query head, or kBuckets of FP16
constexpr std::uint32_t kMostBiasBytes = 0x2'0000;
struct Addends {
  std::uint64_t address;  // DRAM address of FP16 [batch, heads, seq_q, seq_kv]
};
constexpr std::uint64_t kWorkersAddress = kJobAddress + 0x8'0000;  // tiles computed, 32 bits per core
constexpr std::uint64_t worker_tiles_address(std::uint32_t cluster, std::uint32_t core) {
  return kWorkersAddress + (std::uint64_t{cluster} * 64 + core) * 4;
}
// Page table of the cache, 32 bits per page: batch after batch, in the order of the tokens. A page is [heads of K (or
// V), tokens].
constexpr std::uint64_t kPagesAddress = kJobAddress + 0xC'0000;
constexpr std::uint32_t kMostPages = 0x1'0000;
constexpr std::uint64_t kTensorsAddress = kDramBase;  // first byte available for tensors

// Dispatch register: a mailbox word that models how a GPU hands out work. Firmware writes a Dispatch value, and the
// write stalls for as long as the machine takes to dispatch.

enum Dispatch : std::uint32_t {
  kBlock = 1,   // the next thread block of a worker
  kKernel = 2,  // one more kernel
};
constexpr std::uint64_t kDispatchAddress = kJobAddress + 0x3'01C0;
static_assert(kDispatchAddress >= kTypesAddress + sizeof(Types) && kDispatchAddress + 4 <= kScalesAddress,
              "a word of its own");

}  // namespace attnvp::hal
