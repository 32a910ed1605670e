// RV32IMC_Zicsr_Zifencei: an instruction's bits to what the interpreter executes. Compressed instructions are expanded
// first, so that there is one decoder.
#pragma once

#include <cstdint>

namespace attnvp::riscv {

enum class Op : std::uint8_t {
  kUndecoded,  // nobody has been here yet, or its bytes have been written
  kPageEnd,    // behind the last instruction of a page
  kIllegal,
  kLui,  // auipc too: the address is known when it is decoded
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

// Register 0 as a destination: a place that nobody reads.
constexpr std::uint8_t kNowhere = 32;

struct Decoded {
  Op op = Op::kUndecoded;
  std::uint8_t rd = kNowhere, rs1 = 0, rs2 = 0;  // a CSR instruction's immediate is in rs1
  std::int32_t imm = 0;                          // a CSR instruction's register
  std::uint32_t bits = 0;                        // as they are in memory
  std::uint16_t cycles = 0;                      // without what depends on how it goes
  std::uint8_t length = 2;                       // bytes
};

// Costs of an in-order pipeline, in cycles of its clock. Bus accesses stall until they are answered.
struct Timing {
  std::uint32_t base = 1;          // every instruction
  std::uint32_t load_use = 1;      // more, where the next instruction takes what a load brings
  std::uint32_t taken_branch = 2;  // more: branches taken, jumps, traps
  std::uint32_t multiply = 1;      // more
  std::uint32_t divide = 16;       // more
  std::uint32_t misaligned = 1;    // more: accesses of memory across a word's edge
};

inline bool is_compressed(std::uint32_t bits) { return (bits & 3) != 3; }
// The instruction of 32 bits that means the same; 0, which is illegal, for none.
std::uint32_t expand(std::uint16_t bits);
// `bits` at address `pc`, of 2 or 4 bytes; `next` are those of the instruction behind it.
Decoded decode(std::uint32_t bits, std::uint32_t pc, std::uint32_t next, const Timing& timing);

}  // namespace attnvp::riscv
