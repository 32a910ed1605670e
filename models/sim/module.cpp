#include "models/sim/module.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace attnvp {

Counter::Counter(CounterOwner& owner, const char* name, const char* unit, const char* description, Action action)
    : name_(name), unit_(unit), description_(description), action_(action) {
  owner.counters_.push_back(this);
}

Signal::Signal(CounterOwner& owner, std::string name, Kind kind, unsigned bits, const char* const* names,
               const char* unit)
    : kind_(kind), bits_(bits), names_(names), unit_(unit), name_(std::move(name)) {
  owner.signals_.push_back(this);
}
Signal::Signal(CounterOwner& owner, std::string name, unsigned bits)
    : Signal(owner, std::move(name), Kind::kBits, bits, nullptr, "") {}
Signal::Signal(CounterOwner& owner, std::string name, const char* const* names)
    : Signal(owner, std::move(name), Kind::kEnum, 8, names, "") {}
Signal::Signal(CounterOwner& owner, std::string name, Real real)
    : Signal(owner, std::move(name), Kind::kReal, 64, nullptr, real.unit) {}

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

}  // namespace attnvp
