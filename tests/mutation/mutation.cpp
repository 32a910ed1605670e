#include "tests/mutation/mutation.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <utility>

#include "platform/schedule/bus.h"

namespace attnvp::mutation {

namespace {

constexpr const char* kNames[] = {"drop wait",    "drop signal",  "weaken wait",  "weaken signal",
                                  "other wait",   "other signal", "old wait",     "old signal",
                                  "move operand", "old operand",  "swap operands"};

hal::EventRef weaker(hal::EventRef e) {
  if (e.tokens() > 1) return hal::event_ref(e.first(), e.span(), e.tokens() - 1);
  return hal::event_ref(e.first(), e.span() - 1, e.span() > 1 ? 1 : 0);
}

hal::EventRef other(hal::EventRef e, std::int64_t by) {
  return hal::event_ref(static_cast<std::uint32_t>(e.first() + by), e.span(), e.tokens());
}

}  // namespace

void Mutation::apply(hal::Descriptor& d) const {
  hal::EventRef& wait = d.wait[slot % hal::kWaits];
  hal::EventRef& signal = d.signal[slot % hal::kSignals];
  switch (what) {
    case What::kDropWait:
      wait = {0};
      break;
    case What::kDropSignal:
      signal = {0};
      break;
    case What::kWeakenWait:
      wait = weaker(wait);
      break;
    case What::kWeakenSignal:
      signal = weaker(signal);
      break;
    case What::kOtherWait:
      wait = other(wait, by);
      break;
    case What::kOtherSignal:
      signal = other(signal, by);
      break;
    case What::kOldWait:
      wait = event;
      break;
    case What::kOldSignal:
      signal = event;
      break;
    case What::kAddress:
      d.operand[slot].address += static_cast<std::uint64_t>(by * d.operand[slot].row_stride);
      break;
    case What::kOldAddress:
      d.operand[slot].address = address;
      break;
    case What::kSwapOperands:
      std::swap(d.operand[0].address, d.operand[1].address);
      break;
  }
}

void Mutation::apply(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& of,
                     std::uint32_t& tokens) const {
  if (!place.processor || place.cluster != cluster || place.number != number) return;
  hal::Descriptor d = nop_of(take, of, tokens);
  apply(d);
  const hal::EventRef& changed = take ? d.wait[0] : d.signal[0];
  if (changed.span() > 0) of = changed.first();
  tokens = changed.span() > 0 ? changed.tokens() : 0;
}

hal::Descriptor nop_of(bool take, std::uint32_t event, std::uint32_t tokens) {
  hal::Descriptor d{};
  (take ? d.wait[0] : d.signal[0]) = hal::event_ref(event, 1, tokens);
  return d;
}

const char* to_string(Mutation::What what) { return kNames[static_cast<std::size_t>(what)]; }

std::string Mutation::text() const {
  return fmt::format("c{}.{} #{}: {} {} ({:+})", place.cluster, place.processor ? "cpu" : name_of(place.queue),
                     place.number, to_string(what), slot, by);
}

bool random_mutation(runs::Random& dice, const std::vector<Recorded>& commands, Mutation& m) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const Recorded& r = commands[dice.from(0, static_cast<std::uint32_t>(commands.size() - 1))];
    m.place = r.place;
    m.what = static_cast<Mutation::What>(dice.from(0, std::size(kNames) - 1));
    m.slot = static_cast<int>(dice.from(0, 3));
    m.by = dice.one_in(2) ? dice.from(1, 3) : -static_cast<std::int64_t>(dice.from(1, 3));
    m.address = r.before.operand[m.slot].address;
    using What = Mutation::What;
    const bool wait = m.what == What::kDropWait || m.what == What::kWeakenWait || m.what == What::kOtherWait ||
                      m.what == What::kOldWait;
    const bool signal = m.what == What::kDropSignal || m.what == What::kWeakenSignal || m.what == What::kOtherSignal ||
                        m.what == What::kOldSignal;
    m.event = wait ? r.before.wait[m.slot % hal::kWaits] : r.before.signal[m.slot % hal::kSignals];
    if (wait && r.command.wait[m.slot % hal::kWaits].tokens() == 0) continue;
    if (signal && r.command.signal[m.slot % hal::kSignals].tokens() == 0) continue;
    if (!wait && !signal && r.command.opcode == hal::Opcode::kNop) continue;
    const bool operand = m.what == What::kAddress || m.what == What::kOldAddress;
    if (operand && r.command.type[m.slot] == hal::ElementType::kNone) continue;
    if (m.what == What::kOldAddress && r.before.opcode != r.command.opcode) continue;
    hal::Descriptor changed = r.command;
    m.apply(changed);
    if (std::memcmp(&changed, &r.command, sizeof changed) != 0) return true;
  }
  return false;
}

}  // namespace attnvp::mutation
