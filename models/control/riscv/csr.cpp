#include "models/control/riscv/csr.h"

#include <fmt/format.h>

#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

namespace {

constexpr std::uint32_t kPmpConfig = 0x3A0, kPmpAddress = 0x3B0;
// Unlocked entries do not restrict machine mode, and lock bits cannot be set: PMP registers are storage only.
constexpr std::uint32_t kPmpBits = 0x1F1F1F1F;

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
std::uint64_t with_low(std::uint64_t value, std::uint32_t part) { return (value & ~std::uint64_t{0xFFFFFFFF}) | part; }
std::uint64_t with_high(std::uint64_t value, std::uint32_t part) { return low(value) | std::uint64_t{part} << 32; }

bool between(std::uint32_t number, std::uint32_t first, std::uint32_t last) {
  return number >= first && number <= last;
}
// Unimplemented counters, which read as zero.
bool absent_counter(std::uint32_t number) {
  return between(number, 0xB03, 0xB1F) || between(number, 0xB83, 0xB9F) || between(number, 0xC03, 0xC1F) ||
         between(number, 0xC83, 0xC9F) || between(number, 0x323, 0x33F);
}

}  // namespace

bool Csrs::read(std::uint32_t number, const Now& now, std::uint32_t& value) const {
  value = 0;
  switch (number) {
    case CsrNumber::kMstatus:
      value = mstatus_;
      return true;
    case CsrNumber::kMisa:
      value = kMisaValue;
      return true;
    case CsrNumber::kMie:
      value = mie_;
      return true;
    case CsrNumber::kMtvec:
      value = mtvec_;
      return true;
    case CsrNumber::kMcountinhibit:
      value = (cycle_.inhibited ? 1 : 0) | (retired_.inhibited ? 4 : 0);
      return true;
    case CsrNumber::kMscratch:
      value = mscratch_;
      return true;
    case CsrNumber::kMepc:
      value = mepc_;
      return true;
    case CsrNumber::kMcause:
      value = mcause_;
      return true;
    case CsrNumber::kMtval:
      value = mtval_;
      return true;
    case CsrNumber::kMip:
      value = mip;
      return true;
    case CsrNumber::kMcycle:
    case CsrNumber::kCycle:
      value = low(cycle_.at(now.cycle));
      return true;
    case CsrNumber::kMcycleh:
    case CsrNumber::kCycleh:
      value = high(cycle_.at(now.cycle));
      return true;
    case CsrNumber::kMinstret:
    case CsrNumber::kInstret:
      value = low(retired_.at(now.retired));
      return true;
    case CsrNumber::kMinstreth:
    case CsrNumber::kInstreth:
      value = high(retired_.at(now.retired));
      return true;
    case CsrNumber::kTime:
      value = low(now.time);
      return true;
    case CsrNumber::kTimeh:
      value = high(now.time);
      return true;
    case CsrNumber::kMhartid:
      value = hart_;
      return true;
    case CsrNumber::kMstatush:
    case CsrNumber::kTselect:  // no triggers
    case CsrNumber::kTdata1:
    case CsrNumber::kTdata1 + 1:
    case CsrNumber::kTdata1 + 2:
    case CsrNumber::kMvendorid:
    case CsrNumber::kMarchid:
    case CsrNumber::kMimpid:
    case CsrNumber::kMconfigptr:
      return true;
    default:
      break;
  }
  if (between(number, kPmpConfig, kPmpConfig + kPmpEntries / 4 - 1)) {
    value = pmp_config_[number - kPmpConfig];
    return true;
  }
  if (between(number, kPmpAddress, kPmpAddress + kPmpEntries - 1)) {
    value = pmp_address_[number - kPmpAddress];
    return true;
  }
  return absent_counter(number);
}

bool Csrs::write(std::uint32_t number, std::uint32_t value, const Now& end) {
  switch (number) {
    case CsrNumber::kMstatus:
      mstatus_ = (value & (kMie | kMpie)) | kMpp;
      return true;
    case CsrNumber::kMie:
      mie_ = value & kAllInterrupts;
      return true;
    case CsrNumber::kMtvec:
      mtvec_ = value & ~2U;
      return true;
    case CsrNumber::kMcountinhibit:
      cycle_.inhibit((value & 1) != 0, end.cycle);
      retired_.inhibit((value & 4) != 0, end.retired);
      return true;
    case CsrNumber::kMscratch:
      mscratch_ = value;
      return true;
    case CsrNumber::kMepc:
      mepc_ = value & ~1U;
      return true;
    case CsrNumber::kMcause:
      mcause_ = value;
      return true;
    case CsrNumber::kMtval:
      mtval_ = value;
      return true;
    case CsrNumber::kMcycle:
      cycle_.set(with_low(cycle_.at(end.cycle), value), end.cycle);
      return true;
    case CsrNumber::kMcycleh:
      cycle_.set(with_high(cycle_.at(end.cycle), value), end.cycle);
      return true;
    case CsrNumber::kMinstret:
      retired_.set(with_low(retired_.at(end.retired), value), end.retired);
      return true;
    case CsrNumber::kMinstreth:  // without the increment, also of the low half
      retired_.set(with_high(retired_.inhibited ? retired_.held : retired_.at(end.retired - 1), value), end.retired);
      return true;
    case CsrNumber::kMisa:  // fixed; writes are legal
    case CsrNumber::kMip:   // read-only lines
    case CsrNumber::kMstatush:
    case CsrNumber::kTselect:
    case CsrNumber::kTdata1:
    case CsrNumber::kTdata1 + 1:
    case CsrNumber::kTdata1 + 2:
      return true;
    default:
      break;
  }
  if (number >> 10 == 3) return false;  // read-only
  if (between(number, kPmpConfig, kPmpConfig + kPmpEntries / 4 - 1)) {
    pmp_config_[number - kPmpConfig] = value & kPmpBits;
    return true;
  }
  if (between(number, kPmpAddress, kPmpAddress + kPmpEntries - 1)) {
    pmp_address_[number - kPmpAddress] = value;
    return true;
  }
  return absent_counter(number);
}

std::uint32_t Csrs::trap(std::uint32_t cause, bool interrupt, std::uint32_t pc, std::uint32_t value) {
  mepc_ = pc;
  mcause_ = cause | (interrupt ? 1U << 31 : 0);
  mtval_ = value;
  mstatus_ = (mstatus_ & ~(kMie | kMpie)) | ((mstatus_ & kMie) != 0 ? kMpie + 0U : 0U);
  const bool vectored = (mtvec_ & 1) != 0;
  return (mtvec_ & ~3U) + (vectored && interrupt ? 4 * cause : 0);
}

std::uint32_t Csrs::leave_trap() {
  mstatus_ = (mstatus_ & ~kMie) | ((mstatus_ & kMpie) != 0 ? kMie + 0U : 0U) | kMpie;
  return mepc_;
}

std::uint32_t Csrs::interrupt() const {
  const std::uint32_t due = mip & mie_;
  if (due == 0 || (mstatus_ & kMie) == 0) return 0;
  for (const std::uint32_t cause : {kExternalInterrupt, kSoftwareInterrupt, kTimerInterrupt}) {
    if ((due >> cause & 1) != 0) return cause;
  }
  return 0;
}

// Rare operations of a hart: reset, traps, CSRs, fences, lines of the instruction log.

void Hart::reset(std::uint32_t pc) {
  for (std::uint32_t& x : x_) x = 0;
  pc_ = pc;
  const std::uint32_t lines = csrs_.mip;
  std::uint32_t number = 0;
  csrs_.read(CsrNumber::kMhartid, {}, number);
  csrs_ = Csrs(number);
  csrs_.mip = lines;
  cycle_ = retired_ = stalled_ = slept_ = traps_ = 0;
  classes_ = {};
  asked_ = false;
}

void Hart::trap(std::uint32_t cause, std::uint32_t value, bool interrupt) {
  ++traps_;
  cycle_ += timing_.taken_branch;
  pc_ = csrs_.trap(cause, interrupt, pc_, value);
  if (observer_ != nullptr) observer_->trapped(*this, cause, interrupt);
}

void Hart::take_interrupt() {
  const std::uint32_t cause = csrs_.interrupt();
  if (cause != 0) trap(cause, 0, true);
}

bool Hart::csr(const Decoded& d) {
  const bool immediate = d.op >= Op::kCsrrwi;
  const std::uint32_t operand = immediate ? d.rs1 : x_[d.rs1];
  const bool writes = d.op == Op::kCsrrw || d.op == Op::kCsrrwi || d.rs1 != 0;
  const auto number = static_cast<std::uint32_t>(d.imm);
  Now at = now();
  std::uint32_t old = 0;
  if (!csrs_.read(number, at, old)) return false;
  std::uint32_t value = operand;
  if (d.op == Op::kCsrrs || d.op == Op::kCsrrsi) value = old | operand;
  if (d.op == Op::kCsrrc || d.op == Op::kCsrrci) value = old & ~operand;
  at.cycle += d.cycles;
  at.retired += 1;
  if (writes && !csrs_.write(number, value, at)) return false;
  x_[d.rd] = old;
  return true;
}

void Hart::fence(const Decoded& d) {
  std::uint32_t address = 0;
  const std::uint64_t asked = cycle_;
  const bool ok = bus_.fence(cycle_, address);
  stalled_ += cycle_ - asked;
  if (!ok) return trap(TrapCause::kStoreFault, address);
  cycle_ += d.cycles;
  ++retired_;
  ++classes_.system;
  pc_ += d.length;
}

std::string log_line(std::uint32_t hart_number, const Hart& hart, const Executed& e) {
  const Decoded& d = *e.instruction;
  std::string line = d.length == 2 ? fmt::format("core {:3}: 3 {:#010x} ({:#06x})", hart_number, e.pc, d.bits)
                                   : fmt::format("core {:3}: 3 {:#010x} ({:#010x})", hart_number, e.pc, d.bits);
  if (d.rd != kNowhere) line += fmt::format(" {:<3} {:#010x}", fmt::format("x{}", d.rd), hart.reg(d.rd));
  if (e.bytes > 0) {
    line += fmt::format(" mem {:#010x}", e.address);
    const std::uint32_t value = e.bytes == 4 ? e.value : e.value & ((1U << (8 * e.bytes)) - 1);
    if (e.store) line += fmt::format(" 0x{:0{}x}", value, 2 * e.bytes);
  }
  return line + "\n";
}

}  // namespace attnvp::riscv
