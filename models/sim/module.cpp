#include "models/sim/module.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace attnvp {

Counter::Counter(CounterOwner& owner, const char* name, const char* unit, const char* description, Action action)
    : name_(name), unit_(unit), description_(description), action_(action) {
  owner.counters_.push_back(this);
}

void Counter::visit_state(sim::StateVisitor& visitor) {
  visitor.value(odd_bytes_);
  if (follows_) return;
  if (is_mark_) {
    visitor.value(value_);
  } else {
    visitor.sum(value_);
  }
}

Signal::Signal(CounterOwner& owner, std::string name, SignalKind kind, unsigned bits, const char* const* names,
               const char* unit)
    : kind_(kind), bits_(bits), names_(names), unit_(unit), name_(std::move(name)) {
  owner.signals_.push_back(this);
}
Signal::Signal(CounterOwner& owner, std::string name, unsigned bits)
    : Signal(owner, std::move(name), SignalKind::kBits, bits, nullptr, "") {}
Signal::Signal(CounterOwner& owner, std::string name, const char* const* names)
    : Signal(owner, std::move(name), SignalKind::kEnum, 8, names, "") {}
Signal::Signal(CounterOwner& owner, std::string name, Real real)
    : Signal(owner, std::move(name), SignalKind::kReal, 64, nullptr, real.unit) {}

Clock::Clock(double hertz, const sim::EventQueue* event_queue)
    : event_queue_(event_queue),
      hertz_(hertz),
      period_fs_(static_cast<std::uint64_t>(std::llround(1e15 / hertz))),
      reciprocal_(UINT64_MAX / period_fs_) {}

void for_each_module(sc_core::sc_object& root, const std::function<void(Module&)>& visit) {
  if (auto* module = dynamic_cast<Module*>(&root)) visit(*module);
  for (sc_core::sc_object* child : root.get_child_objects()) for_each_module(*child, visit);
}

std::uint64_t Module::value(const std::string& counter) const {
  for (const Counter* c : counters()) {
    if (counter == c->name()) return c->value();
  }
  throw std::out_of_range(fmt::format("{} has no counter '{}'", name(), counter));
}

const char* to_string(FaultCode code) {
  switch (code) {
    case FaultCode::kNone:
      return "none";
    case FaultCode::kUnmapped:
      return "unmapped address";
    case FaultCode::kOutOfRange:
      return "out of range";
    case FaultCode::kMisaligned:
      return "misaligned";
    case FaultCode::kZeroSize:
      return "zero size";
    case FaultCode::kOverlap:
      return "overlapping source and destination";
    case FaultCode::kBadOpcode:
      return "unknown opcode";
    case FaultCode::kBadOperand:
      return "bad operand";
    case FaultCode::kL0TooSmall:
      return "L0 too small";
    case FaultCode::kBadEvent:
      return "no such event";
    case FaultCode::kBadAccess:
      return "bad register access";
    case FaultCode::kBadVersion:
      return "unknown descriptor version";
    case FaultCode::kBadType:
      return "element type not supported";
    case FaultCode::kBadLength:
      return "bad descriptor length";
    case FaultCode::kHostMemory:
      return "no memory left";
  }
  return "unknown";
}

std::string to_sentence(const Fault& fault) {
  const std::string code = fault.code == FaultCode::kNone ? "" : fmt::format("{}: ", to_string(fault.code));
  return fmt::format("{}: {}{} (address {:#x}, cycle {})", fault.module, code, fault.detail, fault.address,
                     fault.cycle);
}

namespace {

// SplitMix64: https://prng.di.unimi.it/splitmix64.c (public domain)
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

}  // namespace

Jitter::Jitter(std::uint64_t seed, std::uint64_t period_fs) : seed_(mixed(seed)), period_fs_(period_fs) {}

Jitter::Initiator& Jitter::of(const char* name) {
  const auto [at, fresh] = initiators_.try_emplace(name);
  if (!fresh) return at->second;
  Initiator& i = at->second;
  i.state = seed_;
  for (const char c : std::string_view(name)) i.state = mixed(i.state ^ static_cast<unsigned char>(c));
  constexpr Initiator kParameters[] = {{0, 0, 0}, {0, 2, 4}, {0, 4, 10}, {0, 8, 16}, {0, 64, 18}};
  const Initiator& parameters = kParameters[i.state % std::size(kParameters)];
  i.one_in = parameters.one_in;
  i.most_bits = parameters.most_bits;
  return i;
}

std::uint64_t Jitter::cycles(const char* name) {
  Initiator& i = of(name);
  if (i.one_in == 0) return 0;
  i.state = mixed(i.state);
  if (i.state % i.one_in != 0) return 0;
  const std::uint64_t bits = (i.state >> 32) % (i.most_bits + 1);  // long delays are rare
  return (i.state >> 40) & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace attnvp
