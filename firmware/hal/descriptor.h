// What firmware writes into an engine's queue. This file is the one contract between firmware/ and models/.
// All addresses are in the platform's address map, all lengths and strides in bytes unless said otherwise.
#pragma once

#include <cstdint>

namespace attnvp::hal {

enum class Opcode : std::uint8_t {
  kNop = 0,      // any engine: only waits and signals
  kMatmul = 1,   // MAC: C = A.B or A.B^T
  kSoftmax = 2,  // VEC: every row of the destination = softmax of that row of the source
  kCopy = 3,     // DMA: 3D strided copy between DRAM and L1

  // One-pass softmax (models/arith/online.h has the arithmetic). A row's running maximum is FP16; its sums are a row of
  // FP32 numbers: numerators, then the denominator. A tile has sums too, and behind them the scale that the running
  // sums must take before the tile's are added.
  kOnlineMax = 4,      // VEC: M = max(M before, m), scale = e^(M before - M)[, of the other = e^(m - M)]
  kOnlineSoftmax = 5,  // VEC: M = max(M, row maximum of S), P = e^(S - M); {denominator, scale} of the tile
  kScaleAdd = 6,       // VEC: R = R * scale + T[ * the other scale]
  kDivide = 7,         // VEC: O = R / denominator
  kRescale = 8,        // VEC: R = R * e^(M before - M)

  // On PEs that can (mac.resident_tiles > 0): a tile of scores stays in their registers, FP16.
  kScoreTile = 9,    // MAC: S = A.B^T stays in the PEs; row maxima leave
  kAttendTile = 10,  // MAC: P = e^(S - M); numerators P.V and, behind them, the row sums of P leave
};

enum Flags : std::uint8_t {
  kTransposeB = 1,  // matmul: operand 1 is n x k instead of k x n
  kAccumulate = 2,  // matmul: start from the FP32 partials that operand 3 holds
  kPartialOut = 4,  // matmul: leave FP32 partials in operand 2 instead of the FP16 result
  kDeferrable = 8,  // copy: nobody waits for it; lets others go first (DMA arbitration `age`)
  kFirst = 16,      // online: there is nothing before this tile: M = its maximum, scale = 0; R = T, R is not read
  kTwoScales = 32,  // kOnlineMax, kScaleAdd: also what is added is scaled; the second scale lies behind the first
  kInOrder = 64,    // MAC and VEC: begins when the descriptor before it in the queue has left its results in L1
  kUnscaled = 128,  // kOnlineMax: no scales; kScaleAdd: R = R + T
};

// `tokens` on each of the `span` consecutive events from `first`; tokens = 0 means none. Packed into 32 bits:
// first 12, span 8, tokens 12.
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

struct Operand {
  std::uint64_t address;
  std::uint32_t row_stride;
  std::uint32_t plane_stride;  // DMA only
};

constexpr int kWaits = 4;
constexpr int kSignals = 4;
constexpr int kOperands = 4;

struct Descriptor {
  Opcode opcode;
  std::uint8_t flags;
  std::uint16_t head;  // for people: which head and row block this belongs to
  std::uint32_t row_block;
  // matmul: m, n, k elements. VEC: rows, columns, 1. copy: bytes a row, rows, planes.
  std::uint32_t dims[3];
  std::uint16_t tile[3];      // matmul: the L0 sub-tile m0, n0, k0
  std::uint16_t slot;         // kScoreTile, kAttendTile: the first of the PEs' resident tiles that S takes
  EventRef wait[kWaits];      // taken before the engine touches an operand
  EventRef signal[kSignals];  // given when the last result byte is in memory
  std::uint32_t remote;       // 0, or 1 + the cluster whose events the last signal names
  // matmul: A, B, C, partials (may be C itself). softmax and copy: source, destination.
  // kOnlineMax: m (FP16, one a row), M before, scales out (FP32), M (FP16, may be M before).
  // kOnlineSoftmax: S, P (may be S), M (in and out), {denominator, scale} out (FP32).
  // kScaleAdd: R (FP32, in and out), T (FP32), scales (FP32). kDivide: R (FP32), O (FP16), denominator (FP32).
  // kRescale: R (FP32, in and out), M before, M. kScoreTile: A, B, row maxima out (FP16).
  // kAttendTile: M (FP16), V, {numerators, denominator} out (FP32); dims rows, columns of V, keys.
  Operand operand[kOperands];
};
static_assert(sizeof(Descriptor) == 128, "descriptors are 128 bytes on every processor");

}  // namespace attnvp::hal
