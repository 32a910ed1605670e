// Command descriptor, version 2: the contract between firmware (writer) and the engines and DMA channels (readers).
// Addresses are platform addresses, lengths and strides are in bytes, extents in elements.
//
//   0x00  header        version, opcode, length, flags; head and row block; the operands' element types
//   0x10  waits         4 event references
//   0x20  signals       4 event references, and the cluster of the last one
//   0x34  rows          of the operation
//   0x38  operands      4 x 16 bytes: address, row stride, columns
//   0x78  tail          fields of the opcode (union Tail): 8 bytes within the first 128, 136 in all
//   0x100
//
// Fields are little-endian and aligned to their size, so a processor can build a descriptor in the queue's window with
// plain stores. `length` is 128 to 256 bytes, in steps of 8. Most operations take 128; copies of several planes and
// scaled or masked operations take more. Bytes beyond `length` are not read and count as zero.
//
// Compatibility: tails grow at their end, further operands go into the tail, and zero in a new field means the former
// behaviour. A change that an older engine would misread needs a new version, opcode, element type or length. Engines
// refuse versions, opcodes, types and lengths that they do not support.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/hal/block_mask.h"
#include "firmware/hal/element_types.h"
#include "firmware/hal/mask.h"
#include "firmware/hal/operations.h"

namespace attnvp::hal {

constexpr std::uint8_t kDescriptorVersion = 2;
constexpr std::uint16_t kDescriptorBytes = 128;     // the minimum
constexpr std::uint16_t kMaxDescriptorBytes = 256;  // size of the queue's window
constexpr std::uint16_t kDescriptorStep = 8;

enum class Activation : std::uint8_t {
  kRelu = 0,
  kSilu = 1,      // x / (1 + e^-x)
  kGelu = 2,      // x / 2 * (1 + erf(x / sqrt 2))
  kGeluTanh = 3,  // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
};

// References `tokens` tokens on each of the `span` consecutive events from `first`; tokens = 0: no reference. Packed
// into 32 bits: first 12 bits, span 8, tokens 12.
struct EventRef {
  std::uint32_t bits;

  constexpr std::uint32_t first() const { return bits & 0xFFF; }
  constexpr std::uint32_t span() const { return (bits >> 12) & 0xFF; }
  constexpr std::uint32_t tokens() const { return bits >> 20; }
};
constexpr std::uint32_t kMaxTokens = 0xFFF;  // in one reference
constexpr EventRef event_ref(std::uint32_t first, std::uint32_t span, std::uint32_t tokens) {
  return {(first & 0xFFF) | (span & 0xFF) << 12 | tokens << 20};
}

// Matrix operand: rows of `columns` elements, `row_stride` bytes apart. The operation defines the number of rows.
struct Operand {
  std::uint64_t address;
  std::uint32_t row_stride;
  std::uint32_t columns;
};

struct MatmulTail {
  std::uint16_t m0, n0, k0;  // the L0 sub-tile
  std::uint16_t absent;      // last rows of B that are missing: not read, they count as zeros; fewer than all
};
struct TileTail {      // kScoreTile, kAttendTile
  std::uint32_t keys;  // columns of S
  std::uint16_t slot;  // first resident tile of the PEs that holds S
};
constexpr std::uint32_t kMapBits = 640;    // bits of the block map in a descriptor
constexpr std::uint32_t kMostSlopes = 16;  // query heads covered by a command's rows
constexpr std::uint32_t kBuckets = 32;     // buckets of relative positions (relative_bucket)
constexpr std::uint32_t kMostScaled = 10;  // scale blocks along a command's rows, and along its keys
// Block scales of INT8 as FP32 bit patterns: of the result's rows (not for P.V) and of the keys. Row r belongs to block
// (row + r) / block; row[0] is the scale of the first row's block.
struct BlockScales {
  std::uint32_t block;
  std::uint32_t row[kMostScaled], key[kMostScaled];
};
struct RuleTail {          // with kScaled, kMasked, kCapped, kSink or a flag of `More`
  std::uint8_t own[8];     // the opcode's own fields
  std::uint32_t scale;     // FP32 bit pattern
  std::uint32_t row, key;  // position in the layer: query of row 0, key of column 0
  Mask mask;
  std::uint32_t cap;  // FP32 bit pattern
  union More {
    std::uint32_t map[kMapBits / 32];  // kBlocked (window_of)
    std::uint32_t slope[kMostSlopes];  // kSloped: one per query head, from the first row's head on; FP32 bit patterns
    std::uint32_t sink[kMostSlopes];   // kSink: as kSloped; numbers of FP16
    std::uint16_t bucket[kBuckets];    // kBucketed: FP16
    BlockScales scales;                // kBlockScaled
  } more;
};
struct NormTail {
  std::uint32_t epsilon;  // added to the variance or mean square under the root; FP32 bit pattern
  std::uint32_t centred;  // 1: subtract the mean and add beta
};
struct ActivateTail {
  Activation function;
};
struct ConvertTail {
  std::uint32_t factor;  // FP32 bit pattern
};
struct DequantiseTail {
  std::uint32_t group;  // elements of a row that share a scale; 0: all
  std::uint32_t first;  // position of a row's first element in its group, below `group`
};
struct CopyTail {
  std::uint32_t planes;           // planes of `rows` rows each, at least 1
  std::uint32_t plane_stride[2];  // source, destination; more than one plane requires a descriptor of 136 bytes
};

constexpr int kWaits = 4;
constexpr int kSignals = 4;
constexpr int kOperands = 4;

struct Descriptor {
  std::uint8_t version = kDescriptorVersion;
  Opcode opcode = Opcode::kNop;
  std::uint16_t length = kDescriptorBytes;
  std::uint16_t flags;
  std::uint16_t head;  // trace label: head and row block of the command
  std::uint32_t row_block;
  ElementType type[kOperands];
  EventRef wait[kWaits];      // tokens taken before the engine accesses an operand
  EventRef signal[kSignals];  // tokens added after the last result byte is in memory
  std::uint32_t remote;       // 0, or 1 + the cluster that owns the events of the last signal
  std::uint32_t rows;         // of the result; for a copy: of a plane
  // kOperations (operations.h) defines their meaning.
  Operand operand[kOperands];
  union Tail {
    std::uint8_t bytes[136];
    MatmulTail matmul;
    TileTail tile;
    CopyTail copy;
    NormTail norm;
    ActivateTail activate;
    DequantiseTail dequantise;
    ConvertTail convert;
    RuleTail rule;
  } tail;

  // Bytes of one row of operand i.
  constexpr std::uint64_t row_bytes(int i) const { return bytes_of(type[i], operand[i].columns); }
};
static_assert(sizeof(Descriptor) == kMaxDescriptorBytes, "a descriptor is as long as the queue's window");
static_assert(sizeof(Operand) == 16 && sizeof(EventRef) == 4, "the same bytes on every processor");
static_assert(offsetof(Descriptor, version) == 0x00 && offsetof(Descriptor, opcode) == 0x01, "header");
static_assert(offsetof(Descriptor, length) == 0x02 && offsetof(Descriptor, flags) == 0x04, "header");
static_assert(offsetof(Descriptor, head) == 0x06 && offsetof(Descriptor, row_block) == 0x08, "header");
static_assert(offsetof(Descriptor, type) == 0x0C, "header");
static_assert(offsetof(Descriptor, wait) == 0x10 && offsetof(Descriptor, signal) == 0x20, "events");
static_assert(offsetof(Descriptor, remote) == 0x30 && offsetof(Descriptor, rows) == 0x34, "events");
static_assert(offsetof(Descriptor, operand) == 0x38 && offsetof(Descriptor, tail) == 0x78, "operands and tail");
static_assert(offsetof(Operand, address) == 0 && offsetof(Operand, row_stride) == 8, "operand");
static_assert(offsetof(Operand, columns) == 12, "operand");
static_assert(offsetof(MatmulTail, absent) == 6 && offsetof(TileTail, slot) == 4, "tails within the first 128 bytes");
static_assert(offsetof(RuleTail, scale) == 8 && offsetof(RuleTail, mask) == 20 && sizeof(RuleTail) == 132, "rules");
static_assert(offsetof(CopyTail, plane_stride) == 4 && sizeof(CopyTail) == 12, "tail of a copy");
static_assert(sizeof(NormTail) == 8 && sizeof(ActivateTail) == 1 && sizeof(DequantiseTail) == 8,
              "tails within the first 128 bytes");

// Descriptor length in bytes that the flags require.
constexpr std::uint16_t length_with(std::uint16_t flags) {
  constexpr std::uint16_t kMore = kBlocked | kSloped | kSink | kBucketed | kBlockScaled;
  const std::size_t end = (flags & kMore) != 0     ? sizeof(RuleTail)
                          : (flags & kCapped) != 0 ? offsetof(RuleTail, more)
                          : (flags & kMasked) != 0 ? offsetof(RuleTail, cap)
                          : (flags & kScaled) != 0 ? offsetof(RuleTail, row)
                                                   : 0;
  const std::size_t bytes = offsetof(Descriptor, tail) + end;
  if (bytes <= kDescriptorBytes) return kDescriptorBytes;
  return static_cast<std::uint16_t>((bytes + kDescriptorStep - 1) / kDescriptorStep * kDescriptorStep);
}

// Extents of a matrix product: m x n results over a depth of k (kMatmul, kScoreTile, kAttendTile).
struct Product {
  std::uint32_t m, n, k;
};
constexpr Product product_of(const Descriptor& d) {
  if (d.opcode == Opcode::kScoreTile) return {d.rows, d.tail.tile.keys, d.operand[0].columns};
  if (d.opcode == Opcode::kAttendTile) return {d.rows, d.operand[1].columns, d.tail.tile.keys};
  const bool wider = (d.flags & kNormalised) != 0;  // partial sums have one column more
  return {d.rows, d.operand[wider ? 1 : 2].columns, d.operand[0].columns};
}
constexpr bool is_product(const Descriptor& d) {
  const Family family = family_of(d.opcode);
  return family == Family::kProduct || family == Family::kResident;
}
// B is n x k, and the products are scores.
constexpr bool is_transposed(const Descriptor& d) {
  return d.opcode == Opcode::kScoreTile || (d.opcode == Opcode::kMatmul && (d.flags & kTransposeB) != 0);
}

// True if operand 3 holds FP16 addends, one per score. They are added after scale and soft-cap and before rounding.
// Addends of absent keys are not read.
constexpr bool has_addends(const Descriptor& d) {
  if (d.opcode != Opcode::kScoreTile && d.opcode != Opcode::kMatmul) return false;
  return d.type[3] != ElementType::kNone && (d.flags & kAccumulate) == 0;
}

// Element type of the product's partial sums. INT8 with block scales of keys accumulates in FP32.
constexpr ElementType sum_type(const Descriptor& d) {
  const bool in_blocks = (d.flags & kBlockScaled) != 0 && (d.flags & kTransposeB) == 0;
  return in_blocks ? ElementType::kFp32 : info_of(d.type[0]).sums;
}
// True if the result is partial sums from which another command continues. With block scales they include A's row sums
// (kNormalised).
constexpr bool is_partial(const Descriptor& d) {
  if (d.type[2] != sum_type(d)) return false;
  return (d.flags & kBlockScaled) != 0 ? (d.flags & kNormalised) != 0 : (d.flags & kScaled) == 0;
}

constexpr bool has(const Descriptor& d, const OperandInfo& o) {
  switch (o.when) {
    case When::kAlways:
      return o.name != nullptr;
    case When::kGiven:
      return d.type[o.index] != ElementType::kNone;
    case When::kAccumulating:
      return (d.flags & kAccumulate) != 0;
    case When::kAdded:
      return has_addends(d);
    case When::kNotFirst:
      return (d.flags & kFirst) == 0;
    case When::kScaling:
      return (d.flags & kUnscaled) == 0;
    case When::kScalingSum:
      return (d.flags & kUnscaled) == 0 && ((d.flags & kFirst) == 0 || (d.flags & kTwoScales) != 0);
    case When::kCentred:
      return d.tail.norm.centred != 0;
    case When::kSunk:
      return (d.flags & kSink) != 0;
  }
  return false;
}
// Table row of operand i; nullptr if the operation has no such operand.
constexpr const OperandInfo* operand_info(const Descriptor& d, int i) {
  const OperationInfo* const operation = find(d.opcode);
  const OperandInfo* other = nullptr;
  for (int k = 0; operation != nullptr && k < kMostOperandInfos; ++k) {
    const OperandInfo& o = operation->operands[k];
    if (o.name == nullptr || o.index != i) continue;
    if (has(d, o)) return &o;
    other = &o;
  }
  return other;
}
// Groups of elements of a row that have a scale each (kDequantise).
constexpr std::uint32_t groups_of(const Descriptor& d) {
  const DequantiseTail& tail = d.tail.dequantise;
  return tail.group == 0 ? 1 : (tail.first + d.operand[0].columns + tail.group - 1) / tail.group;
}
constexpr std::uint32_t value_of(OperandExtent extent, const Descriptor& d, int i) {
  const Product p = is_product(d) ? product_of(d) : Product{d.rows, d.operand[0].columns, 0};
  switch (extent) {
    case OperandExtent::kOwn:
      return d.operand[i].columns;
    case OperandExtent::kRows:
      return d.rows;
    case OperandExtent::kOne:
      return 1;
    case OperandExtent::kTwo:
      return 2;
    case OperandExtent::kScales:
      return (d.flags & kTwoScales) != 0 ? 2 : 1;
    case OperandExtent::kLength:
      return d.operand[0].columns;
    case OperandExtent::kWidth:
      return p.n;
    case OperandExtent::kWidthAndSum:
      return p.n + 1;
    case OperandExtent::kSums:
      return p.n + ((d.flags & kNormalised) != 0 ? 1 : 0);
    case OperandExtent::kResult:
      return p.n + ((d.flags & kNormalised) != 0 && is_partial(d) ? 1 : 0);
    case OperandExtent::kFactorRows:
      return is_transposed(d) ? p.n : p.k;
    case OperandExtent::kFactorColumns:
      return is_transposed(d) ? p.k : p.n;
    case OperandExtent::kGroups:
      return groups_of(d);
  }
  return 0;
}
constexpr bool takes(const Descriptor& d, ElementRule elements, ElementType type) {
  switch (elements) {
    case ElementRule::kAny:
      return true;
    case ElementRule::kFp16:
      return type == ElementType::kFp16;
    case ElementRule::kFp32:
      return type == ElementType::kFp32;
    case ElementRule::kTensor:
      return info_of(type).is_tensor;
    case ElementRule::kAsFirst:
      return type == d.type[0];
    case ElementRule::kRounded:
      return info_of(type).is_rounded_to;
    case ElementRule::kSums:
      return type == sum_type(d);
    case ElementRule::kResult:
      return info_of(type).is_rounded_to || type == ElementType::kFp32 || type == sum_type(d);
    case ElementRule::kWeight:
      return info_of(type).is_weight;
    case ElementRule::kScale:
      return type == ElementType::kFp16 || type == ElementType::kE8M0;
  }
  return false;
}
// Rows of operand i.
constexpr std::uint32_t rows_of(const Descriptor& d, int i) {
  const OperandInfo* const o = operand_info(d, i);
  return o == nullptr ? d.rows : value_of(o->rows, d, i);
}

// T5 bucket of a relative position: 32 buckets for distances up to 128. With `both`, half of them are for keys after
// the query.
constexpr std::uint32_t relative_bucket(std::uint32_t query, std::uint32_t key, bool both) {
  // Lower bounds of the buckets beyond the exact distances. They grow by 16^(1/8) (kNear) and 8^(1/16) (kFar) per
  // bucket.
  constexpr std::uint8_t kNear[] = {8, 12, 16, 23, 32, 46, 64, 91};
  constexpr std::uint8_t kFar[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  const bool ahead = key > query;
  const std::uint32_t distance = ahead ? key - query : query - key;
  const std::uint32_t half = kBuckets / 2, exact = both ? half / 2 : half;
  std::uint32_t bucket = distance;
  if (!both && ahead) bucket = 0;
  if (bucket >= exact) {
    const std::uint8_t* const from = both ? kNear : kFar;
    std::uint32_t i = 0;
    while (i + 1 < (both ? half - exact : kBuckets - exact) && distance >= from[i + 1]) ++i;
    bucket = exact + i;
  }
  return both && ahead ? half + bucket : bucket;
}

}  // namespace attnvp::hal
