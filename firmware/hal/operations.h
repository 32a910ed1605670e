// Operations of engines and DMA channels: the table of their names, units, operands, flags and tails. A new operation
// needs an opcode, a row of kOperations and, if it has a tail, a struct in firmware/hal/descriptor.h.
// docs/reference/commands.md is generated from this table.
#pragma once

#include <cstdint>

namespace attnvp::hal {

enum class Opcode : std::uint8_t {
  kNop = 0,
  kMatmul = 1,
  kSoftmax = 2,
  kCopy = 3,
  kOnlineMax = 4,
  kOnlineSoftmax = 5,
  kScaleAdd = 6,
  kDivide = 7,
  kRescale = 8,
  kScoreTile = 9,
  kAttendTile = 10,
  kNorm = 11,
  kAdd = 12,
  kActivate = 13,
  kRotate = 14,
  kBias = 15,
  kDequantise = 16,
  kConvert = 17,
};

enum class Unit : std::uint8_t { kMac, kVec, kDma, kAny };
constexpr const char* name_of(Unit unit) {
  constexpr const char* kNames[] = {"MAC", "VEC", "DMA", "any"};
  return kNames[static_cast<std::uint8_t>(unit)];
}

enum Flags : std::uint16_t {
  kTransposeB = 1,
  kAccumulate = 2,
  kBlocked = 4,
  kKept = 8,        // MAC only
  kDeferrable = 8,  // DMA only
  kFirst = 16,
  kTwoScales = 32,
  kInOrder = 64,
  kUnscaled = 128,
  kScaled = 256,
  kMasked = 512,
  kNormalised = 1024,
  kCapped = 2048,
  kSloped = 4096,  // MAC only
  kSink = 4096,    // VEC only
  kBucketed = 8192,
  kBlockScaled = 16384,
  kForwarded = 32768,
};

// Meaning of a flag, per unit.
struct FlagInfo {
  Flags flag;
  const char* name;
  Unit unit;  // kAny: the same in all units
  const char* about;
};
inline constexpr FlagInfo kFlags[] = {
    {kTransposeB, "transpose_b", Unit::kMac, "B is n x k instead of k x n; scores in the array always have it so"},
    {kAccumulate, "accumulate", Unit::kMac, "sums start from the partials"},
    {kBlocked, "blocked", Unit::kAny,
     "with `masked`: keys that the tail's part of a map of blocks hides are hidden, too"},
    {kKept, "kept", Unit::kMac, "partials wait in L0, which holds all of them, and pass no port; L1 is their home"},
    {kDeferrable, "deferrable", Unit::kDma, "no command waits for it; others go first (arbitration `age`)"},
    {kFirst, "first", Unit::kVec,
     "no tile is before this one: M is its maximum, the scale 0; R becomes T, and is not read"},
    {kTwoScales, "two_scales", Unit::kVec, "what is added is scaled, too; the second scale lies behind the first"},
    {kInOrder, "in_order", Unit::kAny, "begins when the results of the command before it in the queue are in L1"},
    {kUnscaled, "unscaled", Unit::kVec, "there are no scales: R becomes R + T"},
    {kScaled, "scaled", Unit::kMac, "sums are multiplied with the tail's scale, then rounded"},
    {kMasked, "masked", Unit::kAny,
     "keys that the tail's mask hides from a row are not read and their P is 0; of scores in the array: they are -inf"},
    {kNormalised, "normalised", Unit::kMac, "over the sums of A's rows, which are the partials' last column"},
    {kCapped, "capped", Unit::kMac, "a scaled sum x becomes cap * tanh(x / cap)"},
    {kSloped, "sloped", Unit::kMac, "scores: plus ALiBi's bias, the row's slope times the distance of query and key"},
    {kSink, "sink", Unit::kVec,
     "the sum of a row has one term more, e^(x - its maximum), for the learned number x of the row's query head"},
    {kBucketed, "bucketed", Unit::kMac, "scores: plus T5's bias of the relative position"},
    {kBlockScaled, "block_scaled", Unit::kMac,
     "of INT8, with `scaled`: by the scales of blocks of rows and keys, too; partials are FP32"},
    {kForwarded, "forwarded", Unit::kAny, "the result, or what is taken, bypasses L1, where only its address is"},
};

enum class OperandRole : std::uint8_t { kRead, kWritten, kAccumulated };

// Rows or columns of an operand as a function of descriptor fields. A product is m x n results over a depth of k.
enum class OperandExtent : std::uint8_t {
  kOwn,   // the operand's own columns
  kRows,  // Descriptor::rows, which is m
  kOne,
  kTwo,
  kScales,         // two with kTwoScales, otherwise one
  kLength,         // columns of operand 0
  kWidth,          // n
  kWidthAndSum,    // n + 1
  kSums,           // n; with kNormalised n + 1
  kResult,         // as kSums if the result is partial sums, otherwise n
  kFactorRows,     // of B: k; transposed: n
  kFactorColumns,  // of B: n; transposed: k
  kGroups          // groups of elements of a row that share a scale
};

// Allowed element types of an operand (element_types.h).
enum class ElementRule : std::uint8_t {
  kAny,
  kFp16,
  kFp32,
  kTensor,   // allowed for Q, K, V and P
  kAsFirst,  // type of operand 0
  kRounded,  // allowed for O
  kSums,     // sums of products of operand 0's type: INT32 for INT8, otherwise FP32
  kResult,   // allowed for O, FP32, or kSums
  kWeight,   // allowed for weights that VEC engines convert
  kScale,    // FP16 or E8M0
};

// Condition on which a descriptor has an operand.
enum class When : std::uint8_t {
  kAlways,
  kGiven,         // its type is not kNone
  kAccumulating,  // kAccumulate
  kAdded,         // given, without kAccumulate
  kNotFirst,      // no kFirst
  kScaling,       // no kUnscaled
  kScalingSum,    // no kUnscaled, and kTwoScales if kFirst
  kCentred,       // NormTail::centred
  kSunk,          // kSink
};

struct OperandInfo {
  const char* name = nullptr;
  std::uint8_t index = 0;  // position in the descriptor
  OperandRole role = OperandRole::kRead;
  OperandExtent rows = OperandExtent::kRows, columns = OperandExtent::kOwn;
  ElementRule elements = ElementRule::kAny;
  When when = When::kAlways;
  bool is_replaceable = false;  // the result may overwrite it: same address and stride
  bool is_running = false;      // maxima and sums that the VEC engine passes from command to command

  constexpr OperandInfo only(When condition) const {
    OperandInfo o = *this;
    o.when = condition;
    return o;
  }
  constexpr OperandInfo replaceable() const {
    OperandInfo o = *this;
    o.is_replaceable = true;
    return o;
  }
  constexpr OperandInfo running() const {
    OperandInfo o = replaceable();
    o.is_running = true;
    return o;
  }
};

// Operations of one family share their implementation in an engine.
enum class Family : std::uint8_t {
  kFence,     // only waits and signals
  kProduct,   // matrix product in L1
  kResident,  // uses a tile of FP16 scores in the PEs' registers (mac.resident_tiles > 0)
  kSoftmax,   // whole rows
  kCopy,      // 3D strided copy between DRAM, L2 and L1s
  kOnePass,   // a step of one-pass softmax (models/arith/online.h)
  kLayer,     // layer operation between products (models/arith/layer.h), or on weights before one
};

// Variants of an operation that waveforms, timelines and messages distinguish.
enum class Variants : std::uint8_t {
  kOne,
  kByTranspose,  // kTransposeB: first, otherwise second
  kByDirection,  // copy: towards a core first, otherwise second
};

constexpr int kMostOperandInfos = 5;
struct OperationInfo {
  Opcode opcode;
  const char* name;
  Unit unit;
  Family family;
  Variants variants;
  const char* traced[2];                    // names of the variants
  const char* made[2];                      // name of its result in stall reports; nullptr: depends on the command
  std::uint16_t flags;                      // allowed flags
  OperandInfo operands[kMostOperandInfos];  // in the order of their traffic
  const char* tail;                         // description of its tail; nullptr: none
  const char* about;
};

namespace rows {

using E = OperandExtent;
using T = ElementRule;
using V = Variants;
constexpr std::uint16_t kOfScores = kSloped | kBucketed | kCapped;

constexpr OperandInfo in(const char* name, std::uint8_t index, E rows, E columns, T elements) {
  return {name, index, OperandRole::kRead, rows, columns, elements};
}
constexpr OperandInfo out(const char* name, std::uint8_t index, E rows, E columns, T elements) {
  return {name, index, OperandRole::kWritten, rows, columns, elements};
}
constexpr OperandInfo inout(const char* name, std::uint8_t index, E rows, E columns, T elements) {
  return {name, index, OperandRole::kAccumulated, rows, columns, elements};
}
// Operands of layer operations.
inline constexpr OperandInfo kX = in("X", 0, E::kRows, E::kOwn, T::kFp16).replaceable();
inline constexpr OperandInfo kY = out("Y", 1, E::kRows, E::kLength, T::kFp16).replaceable();
inline constexpr OperandInfo kZ = in("Z", 2, E::kRows, E::kLength, T::kFp16).replaceable();

inline constexpr OperationInfo kAll[] = {
    {Opcode::kNop, "nop", Unit::kAny, Family::kFence, V::kOne, {"nop"}, {}, 0, {}, nullptr, "waits and signals"},
    {Opcode::kMatmul,
     "matmul",
     Unit::kMac,
     Family::kProduct,
     V::kByTranspose,
     {"matmul_abt", "matmul_ab"},
     {"C", "O"},
     kTransposeB | kAccumulate | kKept | kInOrder | kScaled | kOfScores | kBlockScaled | kForwarded | kNormalised,
     {in("A", 0, E::kRows, E::kOwn, T::kTensor), in("B", 1, E::kFactorRows, E::kFactorColumns, T::kAsFirst),
      out("C", 2, E::kRows, E::kResult, T::kResult),
      in("partials", 3, E::kRows, E::kSums, T::kSums).only(When::kAccumulating).replaceable(),
      in("addends", 3, E::kRows, E::kWidth, T::kFp16).only(When::kAdded)},
     "m0, n0, k0: the L0 sub-tile; absent: last rows of B that are not there and count as zeros",
     "C = A.B, transposed A.B^T; addends are added to scores before those are rounded"},
    {Opcode::kSoftmax,
     "softmax",
     Unit::kVec,
     Family::kSoftmax,
     V::kOne,
     {"softmax"},
     {"P"},
     kMasked | kBlocked | kInOrder | kForwarded | kSink,
     {in("S", 0, E::kRows, E::kOwn, T::kFp16).replaceable(), out("P", 1, E::kRows, E::kLength, T::kTensor)},
     nullptr,
     "every row of P is the softmax of that row of S; of one byte an element: relative to the row's maximum"},
    {Opcode::kCopy,
     "copy",
     Unit::kDma,
     Family::kCopy,
     V::kByDirection,
     {"load", "store"},
     {nullptr, "scores"},
     kDeferrable | kForwarded,
     {in("source", 0, E::kRows, E::kOwn, T::kAny), out("destination", 1, E::kRows, E::kLength, T::kAsFirst)},
     "planes, plane_stride of source and destination: planes of `rows` rows each; more than one take 136 bytes",
     "3D strided copy between DRAM, L2 and L1s"},
    {Opcode::kOnlineMax,
     "online_max",
     Unit::kVec,
     Family::kOnePass,
     V::kOne,
     {"online_max"},
     {"running max"},
     kFirst | kTwoScales | kUnscaled | kInOrder,
     {in("m", 0, E::kRows, E::kOne, T::kFp16).replaceable(),
      in("M before", 1, E::kRows, E::kOne, T::kFp16).only(When::kNotFirst).running(),
      out("M", 3, E::kRows, E::kOne, T::kFp16).running(),
      out("scales", 2, E::kRows, E::kScales, T::kFp32).only(When::kScaling).replaceable()},
     nullptr,
     "M = max(M before, m), scale = e^(M before - M), of the other e^(m - M)"},
    {Opcode::kOnlineSoftmax,
     "online_softmax",
     Unit::kVec,
     Family::kOnePass,
     V::kOne,
     {"online_softmax"},
     {"P"},
     kFirst | kMasked | kBlocked | kInOrder,
     {in("S", 0, E::kRows, E::kOwn, T::kFp16).replaceable(),
      out("P", 1, E::kRows, E::kLength, T::kTensor).replaceable(), inout("M", 2, E::kRows, E::kOne, T::kFp16).running(),
      out("denominator and scale", 3, E::kRows, E::kTwo, T::kFp32).replaceable()},
     nullptr,
     "M = max(M, row maximum of S), P = e^(S - M); denominator and scale of the tile"},
    {Opcode::kScaleAdd,
     "scale_add",
     Unit::kVec,
     Family::kOnePass,
     V::kOne,
     {"scale_add"},
     {"sums"},
     kFirst | kTwoScales | kUnscaled | kInOrder | kForwarded,
     {inout("R", 0, E::kRows, E::kOwn, T::kFp32).running(), in("T", 1, E::kRows, E::kLength, T::kFp32).replaceable(),
      in("scales", 2, E::kRows, E::kScales, T::kFp32).only(When::kScalingSum).replaceable()},
     nullptr,
     "R = R * scale + T, with two scales T * the other"},
    {Opcode::kDivide,
     "divide",
     Unit::kVec,
     Family::kOnePass,
     V::kOne,
     {"divide"},
     {"O"},
     kInOrder | kSink,
     {in("R", 0, E::kRows, E::kOwn, T::kFp32).running(), out("O", 1, E::kRows, E::kLength, T::kRounded).replaceable(),
      in("denominator", 2, E::kRows, E::kOne, T::kFp32).running(),
      in("M", 3, E::kRows, E::kOne, T::kFp16).only(When::kSunk).running()},
     nullptr,
     "O = R / denominator; with a sink, M is the row's maximum"},
    {Opcode::kRescale,
     "rescale",
     Unit::kVec,
     Family::kOnePass,
     V::kOne,
     {"rescale"},
     {"sums"},
     kInOrder | kForwarded,
     {inout("R", 0, E::kRows, E::kOwn, T::kFp32).running(), in("M before", 1, E::kRows, E::kOne, T::kFp16).running(),
      in("M", 2, E::kRows, E::kOne, T::kFp16).running()},
     nullptr,
     "R = R * e^(M before - M)"},
    {Opcode::kScoreTile,
     "score_tile",
     Unit::kMac,
     Family::kResident,
     V::kOne,
     {"score_tile"},
     {"row maxima"},
     kTransposeB | kInOrder | kScaled | kMasked | kBlocked | kOfScores | kBlockScaled,
     {in("A", 0, E::kRows, E::kOwn, T::kTensor), in("B", 1, E::kFactorRows, E::kFactorColumns, T::kAsFirst),
      out("row maxima", 2, E::kRows, E::kOne, T::kFp16),
      in("addends", 3, E::kRows, E::kWidth, T::kFp16).only(When::kAdded)},
     "keys: columns of S; slot: the first of the PEs' resident tiles that S takes",
     "S = A.B^T stays in the PEs, FP16; its row maxima leave"},
    {Opcode::kAttendTile,
     "attend_tile",
     Unit::kMac,
     Family::kResident,
     V::kOne,
     {"attend_tile"},
     {"sums"},
     kInOrder | kScaled | kBlockScaled | kForwarded,
     {in("M", 0, E::kRows, E::kOne, T::kFp16), in("V", 1, E::kFactorRows, E::kOwn, T::kTensor),
      out("numerators and denominator", 2, E::kRows, E::kWidthAndSum, T::kFp32)},
     "keys: columns of S; slot: the first of the PEs' resident tiles that S has",
     "P = e^(S - M); numerators P.V and, behind them, the row sums of P leave"},
    {Opcode::kNorm,
     "norm",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"norm"},
     {"rows"},
     kInOrder,
     {kX, kY, in("gamma", 2, E::kOne, E::kLength, T::kFp16),
      in("beta", 3, E::kOne, E::kLength, T::kFp16).only(When::kCentred)},
     "epsilon: FP32, its bits; centred: 1: less the mean, and plus beta",
     "Y = (X - mean of its row) / its deviation * gamma + beta, or X / root mean square * gamma"},
    {Opcode::kAdd,
     "add",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"add"},
     {"rows"},
     kInOrder,
     {kX, kY, kZ},
     nullptr,
     "Y = X + Z"},
    {Opcode::kActivate,
     "activate",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"activate"},
     {"rows"},
     kInOrder,
     {kX, kY, kZ.only(When::kGiven)},
     "function: 0 relu, 1 silu, 2 gelu, 3 gelu by tanh",
     "Y = f(X), or f(X) * Z"},
    {Opcode::kRotate,
     "rotate",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"rotate"},
     {"rows"},
     kInOrder,
     {kX, kY, in("cosines and sines", 2, E::kRows, E::kOwn, T::kFp16)},
     nullptr,
     "Y = X, the two halves of each head turned by angles (rotary embedding)"},
    {Opcode::kBias,
     "bias",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"bias"},
     {"rows"},
     kInOrder,
     {kX, kY, in("b", 2, E::kOne, E::kLength, T::kFp16)},
     nullptr,
     "Y = X + b, the same b for every row"},
    {Opcode::kDequantise,
     "dequantise",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"dequantise"},
     {"weights"},
     kInOrder,
     {in("X", 0, E::kRows, E::kOwn, T::kWeight), out("Y", 1, E::kRows, E::kLength, T::kRounded),
      in("scales", 2, E::kGroups, E::kRows, T::kScale)},
     "group: elements of a row that share a scale, 0: all; first: position of a row's first element in its group",
     "Y = X times the scale of its row's group; a row of scales has those of one group of all rows"},
    {Opcode::kConvert,
     "convert",
     Unit::kVec,
     Family::kLayer,
     V::kOne,
     {"convert"},
     {"rows"},
     kInOrder,
     {in("X", 0, E::kRows, E::kOwn, T::kFp16), out("Y", 1, E::kRows, E::kLength, T::kTensor)},
     "factor: FP32, its bits; 1, or for INT8 1 / its scale",
     "Y = X times the factor, rounded to Y's type"},
};

}  // namespace rows

inline constexpr const auto& kOperations = rows::kAll;
inline constexpr std::uint32_t kOperationCount = sizeof kOperations / sizeof kOperations[0];

// nullptr if the opcode is invalid.
constexpr const OperationInfo* find(Opcode opcode) {
  const auto i = static_cast<std::uint32_t>(opcode);
  return i < kOperationCount ? &kOperations[i] : nullptr;
}
// Not by find(): GCC does not compare a table's address in a constant expression when it compiles with sanitizers.
constexpr Family family_of(Opcode opcode) {
  const auto i = static_cast<std::uint32_t>(opcode);
  return i < kOperationCount ? kOperations[i].family : Family::kFence;
}
// Element-wise and without parameters: Y is computed from X, or from X and Z.
constexpr bool is_elementwise(const OperationInfo& info) {
  if (info.family != Family::kLayer || info.tail != nullptr) return false;
  for (const OperandInfo& o : info.operands) {
    if (o.name == nullptr || o.index == 0) continue;
    if (o.rows != OperandExtent::kRows || o.columns != OperandExtent::kLength) return false;
  }
  return true;
}

constexpr bool operations_are_sound() {
  for (std::uint32_t i = 0; i < kOperationCount; ++i) {
    const OperationInfo& o = kOperations[i];
    if (static_cast<std::uint32_t>(o.opcode) != i) return false;
    std::uint32_t met = 0;
    for (const FlagInfo& f : kFlags) {
      if ((o.flags & f.flag) == 0 || (f.unit != Unit::kAny && f.unit != o.unit)) continue;
      if ((met & f.flag) != 0) return false;
      met |= f.flag;
    }
    if (met != o.flags) return false;  // every flag has exactly one meaning
  }
  return true;
}
static_assert(operations_are_sound(), "rows are at their opcodes, flags have one meaning in each");

}  // namespace attnvp::hal
