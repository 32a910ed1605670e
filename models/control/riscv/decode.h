// Decoder for RV32IMC_Zicsr_Zifencei. Compressed instructions are expanded first.
#pragma once

#include <cstdint>

namespace attnvp::riscv {

enum class Op : std::uint8_t {
  kUndecoded,  // not decoded, or overwritten since
  kPageEnd,    // after the last instruction of a page
  kIllegal,
  kLui,  // also auipc, whose address is known at decoding
  kJal,
  kJalr,
  kBeq,
  kBne,
  kBlt,
  kBge,
  kBltu,
  kBgeu,
  kLb,
  kLh,
  kLw,
  kLbu,
  kLhu,
  kSb,
  kSh,
  kSw,
  kAddi,
  kSlti,
  kSltiu,
  kXori,
  kOri,
  kAndi,
  kSlli,
  kSrli,
  kSrai,
  kAdd,
  kSub,
  kSll,
  kSlt,
  kSltu,
  kXor,
  kSrl,
  kSra,
  kOr,
  kAnd,
  kMul,
  kMulh,
  kMulhsu,
  kMulhu,
  kDiv,
  kDivu,
  kRem,
  kRemu,
  kFence,
  kFenceI,
  kEcall,
  kEbreak,
  kMret,
  kWfi,
  kCsrrw,
  kCsrrs,
  kCsrrc,
  kCsrrwi,
  kCsrrsi,
  kCsrrci,
};

// Destination of writes to register x0, which are never read.
constexpr std::uint8_t kNowhere = 32;

struct Decoded {
  Op op = Op::kUndecoded;
  std::uint8_t rd = kNowhere, rs1 = 0, rs2 = 0;  // rs1 also holds the immediate of a CSR instruction
  std::int32_t imm = 0;                          // also the register number of a CSR instruction
  std::uint32_t bits = 0;                        // as in memory
  std::uint16_t cycles = 0;                      // without cycles that depend on execution
  std::uint8_t length = 2;                       // bytes
};

// Costs of an in-order pipeline, in cycles of its clock. Bus accesses stall until their response.
struct HartTiming {
  std::uint32_t base = 1;          // every instruction
  std::uint32_t load_use = 1;      // extra, if the next instruction uses the loaded value
  std::uint32_t taken_branch = 2;  // extra: branches taken, jumps, traps
  std::uint32_t multiply = 1;      // extra
  std::uint32_t divide = 16;       // extra
  std::uint32_t misaligned = 1;    // extra: memory accesses across a word boundary
};

inline bool is_compressed(std::uint32_t bits) { return (bits & 3) != 3; }
// Equivalent 32-bit instruction; 0, which is illegal, if there is none.
std::uint32_t expand(std::uint16_t bits);
// `bits`: instruction of 2 or 4 bytes at address `pc`; `next`: bits of the following instruction.
Decoded decode(std::uint32_t bits, std::uint32_t pc, std::uint32_t next, const HartTiming& timing);

}  // namespace attnvp::riscv
