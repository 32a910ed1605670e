#include "models/control/riscv/bare_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/control/riscv/elf_file.h"

namespace attnvp::riscv {

namespace {
// Cycles between reads of tohost by the host, and for both of its words to be written.
constexpr std::uint64_t kPoll = 512, kSettle = 16;
constexpr std::size_t kMostConsole = 1U << 20;  // characters

bool print(std::string& console, char c) {
  if (c == '\n') {
    console += c;
  } else {
    append_printable(console, c);
  }
  return console.size() < kMostConsole;
}
}  // namespace

BareMachine::BareMachine(const ElfFile& program, const HartTiming& timing)
    : program_(program),
      tohost_(program.symbol("tohost")),
      fromhost_(program.symbol("fromhost")),
      hart_(0, timing, *this) {
  hart_.add(ram_);
  for (const ElfFile::LoadSegment& s : program.segments()) {
    if (!ram_.holds(s.address, s.bytes)) {
      throw ElfError(fmt::format("{}: its segment at {:#x} of {} bytes is outside of RAM, {:#x} to {:#x}",
                                 program.path(), s.address, s.bytes, kRamBase, kRamBase + kRamBytes - 1));
    }
    ram_.poke(s.address, s.data.data(), static_cast<std::uint32_t>(s.data.size()));
  }
  if (!ram_.holds(tohost_, 8)) throw ElfError(fmt::format("{}: it has no symbol tohost in RAM", program.path()));
  hart_.reset(program.entry());
}

bool BareMachine::read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) {
  std::uint32_t value = 0;
  if (address - kClintBase >= kClintBytes || bytes != 4) return false;
  if (!clint_.read(address - kClintBase, value, cycle)) return false;
  std::memcpy(data, &value, sizeof value);
  return true;
}

bool BareMachine::write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& /*cycle*/) {
  std::uint32_t value = 0;
  if (address - kClintBase >= kClintBytes || bytes != 4) return false;
  std::memcpy(&value, data, sizeof value);
  hart_.stop();  // interrupt lines have changed
  return clint_.write(address - kClintBase, value);
}

Stop BareMachine::run_to(std::uint64_t limit) {
  Stop stop = Stop::kLimit;
  while (stop == Stop::kLimit && hart_.cycle() < limit) {
    const std::uint64_t now = hart_.cycle(), deadline = clint_.deadline();
    hart_.csrs().mip = clint_.lines(now);
    stop = hart_.run(deadline > now ? std::min(limit, deadline) : limit);
    if (stop == Stop::kAsked) stop = Stop::kLimit;
    if (stop == Stop::kWait && hart_.csrs().hears(kTimerInterrupt) && deadline != UINT64_MAX) {
      hart_.sleep_until(std::min(limit, std::max(deadline, hart_.cycle())));
      stop = Stop::kLimit;
    }
  }
  return stop;
}

bool BareMachine::answer(ProgramResult& result) {
  std::uint64_t value = 0;
  ram_.peek(tohost_, &value, sizeof value);
  if (value == 0) return false;
  run_to(hart_.cycle() + kSettle);
  ram_.peek(tohost_, &value, sizeof value);
  const std::uint64_t device = value >> 56, command = value >> 48 & 0xFF, payload = value << 16 >> 16;
  if (device == 0 && command == 0 && (payload & 1) != 0) {
    result.ended = true;
    result.code = static_cast<std::uint32_t>(payload >> 1);
    return true;
  }
  constexpr std::uint64_t kWriteCall = 64;
  std::uint64_t block[8] = {};
  if (device == 1 && command == 1) {
    print(result.console, static_cast<char>(payload & 0xFF));
  } else if (device == 0 && ram_.peek(static_cast<std::uint32_t>(payload), block, sizeof block) &&
             block[0] == kWriteCall) {
    for (std::uint64_t i = 0; i < block[3]; ++i) {
      char c = 0;
      if (!ram_.peek(static_cast<std::uint32_t>(block[2] + i), &c, 1)) break;
      if (!print(result.console, c)) break;
    }
    block[0] = block[3];
    ram_.poke(static_cast<std::uint32_t>(payload), block, sizeof block[0]);
  }
  const std::uint64_t none = 0, done = (device << 56) | (command << 48) | 1;
  ram_.poke(tohost_, &none, sizeof none);
  if (ram_.holds(fromhost_, 8)) ram_.poke(fromhost_, &done, sizeof done);
  return false;
}

BareMachine::ProgramResult BareMachine::run(std::uint64_t most_cycles) {
  ProgramResult result;
  while (true) {
    const Stop stop = run_to(std::min(most_cycles, hart_.cycle() + kPoll));
    if (answer(result)) return result;
    const std::uint32_t pc = hart_.pc();
    const std::string place = program_.place_of(pc);
    const std::string where = fmt::format("hart 0 at pc {:#x}{}{}", pc, place.empty() ? "" : " in ", place);
    if (stop == Stop::kLost) {
      result.why = fmt::format("{}: nothing can be fetched there, nor at the trap handler", where);
    } else if (stop == Stop::kWait) {
      result.why = fmt::format("{}: it waits for an interrupt that cannot come", where);
    } else if (result.console.size() >= kMostConsole) {
      result.why = fmt::format("{}: it has printed {} characters; allowed are fewer", where, kMostConsole);
    } else if (hart_.cycle() >= most_cycles) {
      result.why = fmt::format("{}: it has not ended after {} cycles (--max-cycles)", where, most_cycles);
    }
    if (!result.why.empty()) return result;
  }
}

}  // namespace attnvp::riscv
