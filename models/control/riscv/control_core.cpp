#include "models/control/riscv/control_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/hart.h"
#include "firmware/hal/list.h"
#include "firmware/hal/registers.h"

namespace attnvp::riscv {

namespace {

const char* name_of(std::uint32_t cause) {
  switch (cause) {
    case TrapCause::kFetchFault:
      return "an instruction access fault";
    case TrapCause::kIllegalInstruction:
      return "an illegal instruction";
    case TrapCause::kBreakpoint:
      return "a breakpoint";
    case TrapCause::kLoadMisaligned:
      return "a misaligned load";
    case TrapCause::kLoadFault:
      return "a load access fault";
    case TrapCause::kStoreMisaligned:
      return "a misaligned store";
    case TrapCause::kStoreFault:
      return "a store access fault";
    case TrapCause::kEnvironmentCall:
      return "an environment call";
    default:
      return "an unexpected trap";
  }
}

// Parts of the platform's address map that a hart may access. Other addresses are refused immediately, not when the
// store buffer is drained.
constexpr auto kMailbox = static_cast<std::uint32_t>(hal::kMailboxBase);
constexpr auto kControl = static_cast<std::uint32_t>(hal::kControlBase);
constexpr std::uint32_t kControlEnd = kControl + 1024 * static_cast<std::uint32_t>(hal::kClusterStride);

void set_half(std::uint64_t& word, int shift, std::uint32_t value) {
  word = (word & ~(std::uint64_t{0xFFFF'FFFF} << shift)) | std::uint64_t{value} << shift;
}

constexpr const char* kAnsweredByError = "which was answered by an error";

// Accesses right below the data memory indicate a stack overflow; range in bytes.
constexpr std::uint32_t kBelowStack = 0x1'0000;

}  // namespace

ControlCore::ControlCore(const HartConfig& config, CorePort& port)
    : config_(config),
      port_(port),
      code_memory_(hal::kHartCode, config.code_bytes),
      data_memory_(hal::kHartData, config.data_bytes),
      hart_(config.hart, config.timing, *this) {
  hart_.add(data_memory_);  // first, since most loads and stores go there
  hart_.add(code_memory_);
}

void ControlCore::load(const ElfFile& program) {
  for (const ElfFile::LoadSegment& s : program.segments()) {
    const bool code = s.address - hal::kHartCode < hal::kHartCodeMost;
    const RiscvMemory& memory = code ? code_memory_ : data_memory_;
    if (!code && s.address - hal::kHartData >= hal::kHartDataMost) {
      throw ElfError(
          fmt::format("{}: its segment at {:#x} is in no memory of a control processor; allowed are code at "
                      "{:#x} and data at {:#x}",
                      program.path(), s.address, hal::kHartCode, hal::kHartData));
    }
    if (!memory.holds(s.address, s.bytes)) {
      throw ElfError(fmt::format("{}: it needs {} bytes of {}, control.{} is {} bytes", program.path(),
                                 s.end() - memory.base(), code ? "code" : "data", code ? "itcm" : "dtcm",
                                 memory.bytes()));
    }
  }
  if (!code_memory_.holds(program.entry(), 2)) {
    throw ElfError(fmt::format("{}: its entry {:#x} is not in code memory, {:#x} to {:#x}", program.path(),
                               program.entry(), hal::kHartCode, hal::kHartCode + config_.code_bytes - 1));
  }
  program_ = &program;
  reset();
}

void ControlCore::reset() {
  code_memory_.clear();
  data_memory_.clear();
  clint_ = Clint();
  window_ = hal::kDramBase;
  watch_ = count_ = code_ = queue_ = fetch_to_ = fetch_bytes_ = 0;
  push_end_ = list_ = 0;
  push_failed_.clear();
  refused_.clear();
  mistake_.clear();
  finished_ = false;
  if (program_ == nullptr) return;
  for (const ElfFile::LoadSegment& s : program_->segments()) {
    const auto bytes = static_cast<std::uint32_t>(s.data.size());
    if (!code_memory_.poke(s.address, s.data.data(), bytes)) data_memory_.poke(s.address, s.data.data(), bytes);
  }
  hart_.reset(program_->entry());
}

bool ControlCore::translate(std::uint32_t address, std::uint64_t& far) const {
  if (address >= hal::kHartL1) {
    far = hal::l1_base(config_.clusters_l1) + (address - hal::kHartL1);
  } else if (address >= hal::kHartFar) {
    far = window_ + (address - hal::kHartFar);
  } else if (address - kMailbox < hal::kMailboxSize || address - kControl < kControlEnd - kControl) {
    far = address;
  } else {
    return false;
  }
  return true;
}

bool ControlCore::device(bool write, std::uint32_t offset, std::uint32_t& value, std::uint64_t& cycle) {
  switch (offset) {
    case hal::kHartConsole:
      if (write) port_.console(static_cast<char>(value), cycle);
      return write;
    case hal::kHartFinish:
      if (!write) return false;
      finished_ = true;
      code_ = value;
      hart_.stop();
      return true;
    case hal::kHartWindow:
    case hal::kHartWindow + 4: {
      const int shift = offset == hal::kHartWindow ? 0 : 32;
      if (write) {
        set_half(window_, shift, value);
      } else {
        value = static_cast<std::uint32_t>(window_ >> shift);
      }
      return true;
    }
    case hal::kHartQueue:
      if (write) queue_ = value;
      return write;
    case hal::kHartPush:
      return write && push(value, cycle);
    case hal::kHartTo:
      if (write) fetch_to_ = value;
      return write;
    case hal::kHartBytes:
      if (write) fetch_bytes_ = value;
      return write;
    case hal::kHartFetch:
      return write && fetch(value, cycle);
    case hal::kHartList:
    case hal::kHartList + 4:
      if (write) set_half(list_, offset == hal::kHartList ? 0 : 32, value);
      return write;
    case hal::kHartPlay:
      return write && play(value, cycle);
    case hal::kHartWatch:
      if (write) {
        if (!port_.watch(value)) return false;
        watch_ = value;
        hart_.stop();  // interrupt lines have changed
      } else {
        value = watch_;
      }
      return true;
    default:
      return false;
  }
}

bool CorePort::push(std::uint64_t queue, void* descriptor, std::uint32_t bytes, std::uint64_t& cycle) {
  std::uint32_t doorbell = 1;
  return transfer(true, queue + hal::kQueueDescriptor, descriptor, bytes, cycle) &&
         transfer(true, queue + hal::kQueueDoorbell, &doorbell, sizeof doorbell, cycle);
}

bool ControlCore::refuse(std::string access) {
  refused_ = std::move(access);
  refused_pc_ = hart_.pc();
  return false;
}

bool ControlCore::refuse_mistake(std::string access) {
  if (mistake_.empty()) mistake_ = access;
  return refuse(std::move(access));
}

bool ControlCore::pushed(std::uint64_t& cycle) {
  cycle = std::max(cycle, push_end_);
  return push_failed_.empty() || refuse(std::exchange(push_failed_, {}));
}

bool ControlCore::push(std::uint32_t descriptor, std::uint64_t& cycle) {
  unsigned char taken[hal::kMaxDescriptorBytes];
  std::uint16_t bytes = 0;
  if (!pushed(cycle)) return false;
  const auto access = [&](const std::string& why) {
    return fmt::format("its push unit could not put the descriptor at {:#x} into the queue at {:#x}, {}", descriptor,
                       queue_, why);
  };
  if (queue_ - kControl >= kControlEnd - kControl) return refuse_mistake(access("which is in no control window"));
  if (!data_memory_.peek(descriptor + offsetof(hal::Descriptor, length), &bytes, sizeof bytes)) {
    return refuse_mistake(access("as it is not in data memory"));
  }
  if (bytes > sizeof taken) {
    return refuse_mistake(access(fmt::format("as it has {} bytes; allowed are {} at most", bytes, sizeof taken)));
  }
  if (!data_memory_.peek(descriptor, taken, bytes)) return refuse_mistake(access("as it is not in data memory"));
  cycle += (bytes + config_.push_bytes - 1) / config_.push_bytes;
  push_end_ = cycle;
  if (!port_.push(queue_, taken, bytes, push_end_)) push_failed_ = access(kAnsweredByError);
  return true;
}

bool ControlCore::fetch(std::uint32_t address, std::uint64_t& cycle) {
  unsigned char taken[hal::kHartFetchMost];
  std::uint64_t far = 0;
  if (!pushed(cycle)) return false;
  const bool known = translate(address, far);
  const auto access = [&](const char* why) {
    return fmt::format("its push unit could not fetch {} bytes at {:#x} into data memory at {:#x}, {}", fetch_bytes_,
                       known ? far : address, fetch_to_, why);
  };
  if (fetch_bytes_ > sizeof taken) return refuse_mistake(access("as that is more than it fetches at once"));
  if (!data_memory_.holds(fetch_to_, fetch_bytes_)) return refuse_mistake(access("which is too small"));
  if (!known) return refuse_mistake(access("as the hart sees nothing there"));
  if (!port_.transfer(false, far, taken, fetch_bytes_, cycle)) return refuse(access(kAnsweredByError));
  cycle += (fetch_bytes_ + config_.push_bytes - 1) / config_.push_bytes;
  return data_memory_.poke(fetch_to_, taken, fetch_bytes_);
}

// Plays a command list within the hart's store; the hart executes nothing meanwhile.
bool ControlCore::play(std::uint32_t bytes, std::uint64_t& cycle) {
  if (!pushed(cycle)) return false;
  std::string why = "as there is no record of a command list";
  bool by_bus = false;
  const auto access = [&](bool write, std::uint64_t address, void* data, std::uint32_t size) {
    if (port_.transfer(write, address, data, size, cycle)) return true;
    by_bus = true;
    why =
        fmt::format("as the {} of {} bytes at {:#x} was answered by an error", write ? "write" : "read", size, address);
    return false;
  };
  const bool played = hal::play_list(
      {list_, bytes, 0},
      [&](std::uint64_t address, void* data, std::uint32_t size) { return access(false, address, data, size); },
      [&](std::uint32_t address, std::uint32_t* data, std::uint32_t size) {
        if (address - kMailbox < hal::kMailboxSize || address - kControl < kControlEnd - kControl) {
          return access(true, address, data, size);
        }
        why = fmt::format("as it writes {} bytes to {:#x}, which is no register and no mailbox", size, address);
        return false;
      });
  if (played) return true;
  why = fmt::format("its push unit could not play the command list of {} bytes at {:#x}, {}", bytes, list_, why);
  return by_bus ? refuse(std::move(why)) : refuse_mistake(std::move(why));
}

bool ControlCore::drain(std::uint64_t& cycle) {
  if (count_ == 0) return true;
  if (!pushed(cycle)) return false;
  std::uint64_t far = 0;
  const std::uint32_t bytes = count_;
  count_ = 0;
  if (translate(first_, far) && port_.transfer(true, far, gathered_, bytes, cycle)) return true;
  return refuse(fmt::format("its store buffer's write of {} bytes at {:#x} was answered by an error", bytes, far));
}

bool ControlCore::fence(std::uint64_t& cycle, std::uint32_t& address) {
  address = count_ > 0 ? first_ : queue_;
  return drain(cycle) && pushed(cycle);
}

bool ControlCore::read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) {
  if (!drain(cycle)) return false;
  std::uint64_t far = 0;
  if (address - kClintBase < kClintBytes) {
    std::uint32_t value = 0;
    if (bytes != 4 || !clint_.read(address - kClintBase, value, cycle)) return false;
    std::memcpy(data, &value, sizeof value);
    return true;
  }
  if (address - hal::kHartDevices < hal::kHartDevicesSize) {
    std::uint32_t value = 0;
    if (bytes != 4 || !device(false, address - hal::kHartDevices, value, cycle)) return false;
    std::memcpy(data, &value, sizeof value);
    return true;
  }
  return translate(address, far) && pushed(cycle) && port_.transfer(false, far, data, bytes, cycle);
}

bool ControlCore::write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) {
  std::uint32_t value = 0;
  std::memcpy(&value, data, bytes);
  if (address - kClintBase < kClintBytes) {
    hart_.stop();
    return drain(cycle) && bytes == 4 && clint_.write(address - kClintBase, value);
  }
  if (address - hal::kHartDevices < hal::kHartDevicesSize) {
    return drain(cycle) && (bytes == 4 || address == hal::kHartDevices + hal::kHartConsole) &&
           device(true, address - hal::kHartDevices, value, cycle);
  }
  std::uint64_t far = 0;
  if (!translate(address, far)) return false;
  if (count_ > 0 && address != first_ + count_ && !drain(cycle)) return false;
  if (count_ == 0) first_ = address;
  std::memcpy(gathered_ + count_, data, bytes);
  count_ += bytes;
  const bool full = (address + bytes) % config_.store_bytes == 0 || count_ >= config_.store_bytes;
  return !full || drain(cycle);
}

std::string ControlCore::place_of(std::uint32_t pc) const {
  const std::string place = program_ == nullptr ? std::string() : program_->place_of(pc);
  return fmt::format("pc {:#x}{}{}", pc, place.empty() ? "" : " in ", place);
}

std::string ControlCore::complaint() {
  std::uint32_t cause = 0, pc = 0, value = 0;
  const Now now = hart_.now();
  hart_.csrs().read(CsrNumber::kMcause, now, cause);
  hart_.csrs().read(CsrNumber::kMepc, now, pc);
  hart_.csrs().read(CsrNumber::kMtval, now, value);
  if (finished_ && (code_ & 0xFFFF'0000) != hal::kHartGaveUp) {
    return fmt::format("hart {} gave up with code {}, {}", config_.hart, code_, place());
  }
  if (!finished_ && hart_.traps() == 0) return fmt::format("hart {} at {}", config_.hart, place());
  const bool access = cause == TrapCause::kLoadFault || cause == TrapCause::kStoreFault;
  const bool overflow = access && value < hal::kHartData && hal::kHartData - value <= kBelowStack;
  const bool refused = access && pc == refused_pc_ && !refused_.empty();
  return fmt::format("hart {} took {} at address {:#x}{}, {}{}{}", config_.hart, name_of(cause), value,
                     overflow ? " (stack overflow: it is below the stack's end)" : "", place_of(pc),
                     finished_ ? "" : ", and has no trap handler", refused ? ": " + refused_ : "");
}

}  // namespace attnvp::riscv
