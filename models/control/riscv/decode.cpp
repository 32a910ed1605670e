#include "models/control/riscv/decode.h"

#include <cstring>

#include "models/control/riscv/memory.h"

namespace attnvp::riscv {

namespace {

constexpr std::uint32_t field(std::uint32_t bits, int high, int low) {
  return (bits >> low) & ((2U << (high - low)) - 1);
}
constexpr std::int32_t extended(std::uint32_t value, int width) {
  return static_cast<std::int32_t>(value << (32 - width)) >> (32 - width);
}

enum MajorOpcode : std::uint32_t {
  kLoad = 0x03,
  kMiscMem = 0x0F,
  kOpImm = 0x13,
  kAuipc = 0x17,
  kStore = 0x23,
  kOp = 0x33,
  kLuiOpcode = 0x37,
  kBranch = 0x63,
  kJalrOpcode = 0x67,
  kJalOpcode = 0x6F,
  kSystem = 0x73,
};

std::uint32_t i_type(std::uint32_t opcode, std::uint32_t f3, std::uint32_t rd, std::uint32_t rs1, std::int32_t imm) {
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
std::uint32_t r_type(std::uint32_t f7, std::uint32_t f3, std::uint32_t rd, std::uint32_t rs1, std::uint32_t rs2) {
  return kOp | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}
std::uint32_t s_type(std::uint32_t f3, std::uint32_t rs1, std::uint32_t rs2, std::uint32_t imm) {
  return kStore | field(imm, 4, 0) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | field(imm, 11, 5) << 25;
}
std::uint32_t b_type(std::uint32_t f3, std::uint32_t rs1, std::uint32_t rs2, std::int32_t offset) {
  const auto o = static_cast<std::uint32_t>(offset);
  return kBranch | field(o, 11, 11) << 7 | field(o, 4, 1) << 8 | f3 << 12 | rs1 << 15 | rs2 << 20 |
         field(o, 10, 5) << 25 | field(o, 12, 12) << 31;
}
std::uint32_t j_type(std::uint32_t rd, std::int32_t offset) {
  const auto o = static_cast<std::uint32_t>(offset);
  return kJalOpcode | rd << 7 | field(o, 19, 12) << 12 | field(o, 11, 11) << 20 | field(o, 10, 1) << 21 |
         field(o, 20, 20) << 31;
}

std::uint32_t expand_quadrant0(std::uint32_t c) {
  const std::uint32_t rd = 8 + field(c, 4, 2), rs1 = 8 + field(c, 9, 7);
  const std::uint32_t word = field(c, 12, 10) << 3 | field(c, 6, 6) << 2 | field(c, 5, 5) << 6;
  switch (field(c, 15, 13)) {
    case 0: {  // c.addi4spn
      const std::uint32_t imm =
          field(c, 12, 11) << 4 | field(c, 10, 7) << 6 | field(c, 6, 6) << 2 | field(c, 5, 5) << 3;
      return imm == 0 ? 0 : i_type(kOpImm, 0, rd, 2, static_cast<std::int32_t>(imm));
    }
    case 2:  // c.lw
      return i_type(kLoad, 2, rd, rs1, static_cast<std::int32_t>(word));
    case 6:  // c.sw
      return s_type(2, rs1, rd, word);
    default:
      return 0;
  }
}

std::int32_t jump_offset(std::uint32_t c) {
  return extended(field(c, 12, 12) << 11 | field(c, 11, 11) << 4 | field(c, 10, 9) << 8 | field(c, 8, 8) << 10 |
                      field(c, 7, 7) << 6 | field(c, 6, 6) << 7 | field(c, 5, 3) << 1 | field(c, 2, 2) << 5,
                  12);
}

std::int32_t branch_offset(std::uint32_t c) {
  return extended(
      field(c, 12, 12) << 8 | field(c, 11, 10) << 3 | field(c, 6, 5) << 6 | field(c, 4, 3) << 1 | field(c, 2, 2) << 5,
      9);
}

std::uint32_t expand_arithmetic(std::uint32_t c) {
  const std::uint32_t rd = 8 + field(c, 9, 7), rs2 = 8 + field(c, 4, 2);
  const bool wide = field(c, 12, 12) != 0;  // shifts by 32 or more, and RV64 operations
  const auto shift = static_cast<std::int32_t>(field(c, 6, 2));
  switch (field(c, 11, 10)) {
    case 0:
      return wide ? 0 : i_type(kOpImm, 5, rd, rd, shift);
    case 1:
      return wide ? 0 : i_type(kOpImm, 5, rd, rd, shift | 0x400);
    case 2:
      return i_type(kOpImm, 7, rd, rd, extended(field(c, 12, 12) << 5 | field(c, 6, 2), 6));
    default:
      break;
  }
  if (wide) return 0;
  constexpr std::uint32_t kFunct3[] = {0, 4, 6, 7};  // sub, xor, or, and
  const std::uint32_t which = field(c, 6, 5);
  return r_type(which == 0 ? 0x20 : 0, kFunct3[which], rd, rd, rs2);
}

std::uint32_t expand_quadrant1(std::uint32_t c) {
  const std::uint32_t rd = field(c, 11, 7);
  const std::int32_t imm = extended(field(c, 12, 12) << 5 | field(c, 6, 2), 6);
  switch (field(c, 15, 13)) {
    case 0:
      return i_type(kOpImm, 0, rd, rd, imm);
    case 1:
      return j_type(1, jump_offset(c));
    case 2:
      return i_type(kOpImm, 0, rd, 0, imm);
    case 3:
      if (imm == 0) return 0;
      if (rd == 2) {  // c.addi16sp
        const std::uint32_t bits = field(c, 12, 12) << 9 | field(c, 6, 6) << 4 | field(c, 5, 5) << 6 |
                                   field(c, 4, 3) << 7 | field(c, 2, 2) << 5;
        return i_type(kOpImm, 0, 2, 2, extended(bits, 10));
      }
      return kLuiOpcode | rd << 7 | static_cast<std::uint32_t>(imm) << 12;
    case 4:
      return expand_arithmetic(c);
    case 5:
      return j_type(0, jump_offset(c));
    case 6:
      return b_type(0, 8 + field(c, 9, 7), 0, branch_offset(c));
    default:
      return b_type(1, 8 + field(c, 9, 7), 0, branch_offset(c));
  }
}

std::uint32_t expand_quadrant2(std::uint32_t c) {
  const std::uint32_t rd = field(c, 11, 7), rs2 = field(c, 6, 2);
  const bool high = field(c, 12, 12) != 0;
  switch (field(c, 15, 13)) {
    case 0:
      return high ? 0 : i_type(kOpImm, 1, rd, rd, static_cast<std::int32_t>(rs2));
    case 2: {  // c.lwsp
      const std::uint32_t offset = field(c, 12, 12) << 5 | field(c, 6, 4) << 2 | field(c, 3, 2) << 6;
      return rd == 0 ? 0 : i_type(kLoad, 2, rd, 2, static_cast<std::int32_t>(offset));
    }
    case 4:
      if (rs2 != 0) return r_type(0, 0, rd, high ? rd : 0, rs2);
      if (rd != 0) return i_type(kJalrOpcode, 0, high ? 1 : 0, rd, 0);
      return high ? i_type(kSystem, 0, 0, 0, 1) : 0;
    case 6:
      return s_type(2, 2, rs2, field(c, 12, 9) << 2 | field(c, 8, 7) << 6);
    default:
      return 0;
  }
}

Op after(Op first, std::uint32_t n) { return static_cast<Op>(static_cast<std::uint32_t>(first) + n); }

Op operation(std::uint32_t f7, std::uint32_t f3) {
  if (f7 == 1) return after(Op::kMul, f3);
  constexpr Op kPlain[] = {Op::kAdd, Op::kSll, Op::kSlt, Op::kSltu, Op::kXor, Op::kSrl, Op::kOr, Op::kAnd};
  if (f7 == 0) return kPlain[f3];
  if (f7 == 0x20 && f3 == 0) return Op::kSub;
  if (f7 == 0x20 && f3 == 5) return Op::kSra;
  return Op::kIllegal;
}

Op system(std::uint32_t w) {
  switch (w) {
    case 0x00000073:
      return Op::kEcall;
    case 0x00100073:
      return Op::kEbreak;
    case 0x30200073:
      return Op::kMret;
    case 0x10500073:
      return Op::kWfi;
    default:
      break;
  }
  const std::uint32_t f3 = field(w, 14, 12);
  if (f3 == 0 || f3 == 4) return Op::kIllegal;
  return f3 < 4 ? after(Op::kCsrrw, f3 - 1) : after(Op::kCsrrwi, f3 - 5);
}

// Operation of a 32-bit instruction; operands are stored in `d`.
Op decode_word(std::uint32_t w, std::uint32_t pc, Decoded& d) {
  const std::uint32_t f3 = field(w, 14, 12), f7 = field(w, 31, 25);
  const auto rd = static_cast<std::uint8_t>(field(w, 11, 7));
  const auto to = rd == 0 ? kNowhere : rd;
  d.rs1 = static_cast<std::uint8_t>(field(w, 19, 15));
  d.rs2 = static_cast<std::uint8_t>(field(w, 24, 20));
  d.imm = static_cast<std::int32_t>(w) >> 20;
  switch (field(w, 6, 0)) {
    case kLuiOpcode:
      d.rd = to;
      d.imm = static_cast<std::int32_t>(w & 0xFFFFF000U);
      return Op::kLui;
    case kAuipc:
      d.rd = to;
      d.imm = static_cast<std::int32_t>((w & 0xFFFFF000U) + pc);
      return Op::kLui;
    case kJalOpcode:
      d.rd = to;
      d.imm = extended(field(w, 31, 31) << 20 | field(w, 19, 12) << 12 | field(w, 20, 20) << 11 | field(w, 30, 21) << 1,
                       21);
      return Op::kJal;
    case kJalrOpcode:
      d.rd = to;
      return f3 == 0 ? Op::kJalr : Op::kIllegal;
    case kBranch: {
      d.imm =
          extended(field(w, 31, 31) << 12 | field(w, 7, 7) << 11 | field(w, 30, 25) << 5 | field(w, 11, 8) << 1, 13);
      constexpr Op kKinds[] = {Op::kBeq, Op::kBne, Op::kIllegal, Op::kIllegal,
                               Op::kBlt, Op::kBge, Op::kBltu,    Op::kBgeu};
      return kKinds[f3];
    }
    case kLoad: {
      d.rd = to;
      constexpr Op kKinds[] = {Op::kLb, Op::kLh, Op::kLw, Op::kIllegal, Op::kLbu, Op::kLhu, Op::kIllegal, Op::kIllegal};
      return kKinds[f3];
    }
    case kStore:
      d.imm = extended(f7 << 5 | rd, 12);
      return f3 < 3 ? after(Op::kSb, f3) : Op::kIllegal;
    case kOpImm: {
      d.rd = to;
      if (f3 == 1) return f7 == 0 ? Op::kSlli : Op::kIllegal;
      if (f3 == 5) {
        d.imm &= 31;
        return f7 == 0 ? Op::kSrli : f7 == 0x20 ? Op::kSrai : Op::kIllegal;
      }
      constexpr Op kKinds[] = {Op::kAddi, Op::kIllegal, Op::kSlti, Op::kSltiu,
                               Op::kXori, Op::kIllegal, Op::kOri,  Op::kAndi};
      return kKinds[f3];
    }
    case kOp:
      d.rd = to;
      return operation(f7, f3);
    case kMiscMem:
      return f3 == 0 ? Op::kFence : f3 == 1 ? Op::kFenceI : Op::kIllegal;
    case kSystem:
      d.rd = to;
      d.imm = static_cast<std::int32_t>(w >> 20);
      return system(w);
    default:
      return Op::kIllegal;
  }
}

bool in_range(Op op, Op first, Op last) { return op >= first && op <= last; }
bool is_load(Op op) { return in_range(op, Op::kLb, Op::kLhu); }

// True if the instruction reads that register.
bool takes(const Decoded& d, std::uint8_t reg) {
  const bool two =
      in_range(d.op, Op::kBeq, Op::kBgeu) || in_range(d.op, Op::kSb, Op::kSw) || in_range(d.op, Op::kAdd, Op::kRemu);
  const bool one = two || d.op == Op::kJalr || is_load(d.op) || in_range(d.op, Op::kAddi, Op::kSrai) ||
                   in_range(d.op, Op::kCsrrw, Op::kCsrrc);
  return (one && d.rs1 == reg) || (two && d.rs2 == reg);
}

Decoded decode_untimed(std::uint32_t bits, std::uint32_t pc) {
  Decoded d;
  const bool compressed = is_compressed(bits);
  d.bits = compressed ? bits & 0xFFFF : bits;
  d.length = compressed ? 2 : 4;
  d.op = decode_word(compressed ? expand(static_cast<std::uint16_t>(bits)) : bits, pc, d);
  return d;
}

}  // namespace

std::uint32_t expand(std::uint16_t bits) {
  switch (bits & 3) {
    case 0:
      return expand_quadrant0(bits);
    case 1:
      return expand_quadrant1(bits);
    default:
      return expand_quadrant2(bits);
  }
}

Decoded decode(std::uint32_t bits, std::uint32_t pc, std::uint32_t next, const HartTiming& timing) {
  Decoded d = decode_untimed(bits, pc);
  std::uint32_t cycles = timing.base;
  if (in_range(d.op, Op::kMul, Op::kMulhu)) cycles += timing.multiply;
  if (in_range(d.op, Op::kDiv, Op::kRemu)) cycles += timing.divide;
  if (is_load(d.op) && d.rd != kNowhere && takes(decode_untimed(next, pc + d.length), d.rd)) cycles += timing.load_use;
  d.cycles = static_cast<std::uint16_t>(cycles);
  return d;
}

bool RiscvMemory::peek(std::uint32_t address, void* data, std::uint32_t bytes) {
  if (!holds(address, bytes)) return false;
  std::memcpy(data, storage_.data() + (address - base_), bytes);
  return true;
}

bool RiscvMemory::poke(std::uint32_t address, const void* data, std::uint32_t bytes) {
  if (!holds(address, bytes)) return false;
  if (bytes == 0) return true;
  const std::uint32_t offset = address - base_;
  std::memcpy(storage_.data() + offset, data, bytes);
  forget(offset < kReach ? 0 : offset - kReach, offset + bytes);
  return true;
}

void RiscvMemory::clear() {
  storage_.clear();
  for (std::unique_ptr<CodePage>& page : code_) page.reset();
}

CodePage& RiscvMemory::add_page(std::uint32_t offset) {
  std::unique_ptr<CodePage>& page = code_[offset >> kPageBits];
  page = std::make_unique<CodePage>();
  page->base = base_ + (offset >> kPageBits << kPageBits);
  page->slot[kPageSlots].op = page->slot[kPageSlots + 1].op = Op::kPageEnd;
  return *page;
}

void RiscvMemory::forget(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t at = first & ~1U; at < last; at += 2) {
    CodePage* page = code_[at >> kPageBits].get();
    if (page == nullptr) {
      at |= (1U << kPageBits) - 2;  // the next page
      continue;
    }
    page->slot[at % (1U << kPageBits) / 2].op = Op::kUndecoded;
  }
}

}  // namespace attnvp::riscv
