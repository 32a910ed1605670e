#include "tests/mutation/mutation.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "mapping/names.h"

namespace attnvp::mutation {

namespace {

constexpr const char* kNames[] = {"drop wait",    "drop signal",  "weaken wait", "weaken signal", "other wait",
                                  "other signal", "move operand", "old operand", "swap operands"};

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

std::string Mutation::text() const {
  return fmt::format("c{}.{} #{}: {} {} ({:+})", place.cluster, name_of(place.queue), place.number,
                     kNames[static_cast<std::size_t>(what)], slot, by);
}

bool random_mutation(runs::Random& dice, const std::vector<Recorded>& commands, Mutation& m) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const Recorded& r = commands[dice.from(0, static_cast<std::uint32_t>(commands.size() - 1))];
    m.place = r.place;
    m.what = static_cast<Mutation::What>(dice.from(0, 8));
    m.slot = static_cast<int>(dice.from(0, 3));
    m.by = dice.one_in(2) ? dice.from(1, 3) : -static_cast<std::int64_t>(dice.from(1, 3));
    m.address = r.before.operand[m.slot].address;
    const bool wait = m.what == Mutation::What::kDropWait || m.what == Mutation::What::kWeakenWait ||
                      m.what == Mutation::What::kOtherWait;
    const bool signal = m.what == Mutation::What::kDropSignal || m.what == Mutation::What::kWeakenSignal ||
                        m.what == Mutation::What::kOtherSignal;
    if (wait && r.command.wait[m.slot].tokens() == 0) continue;
    if (signal && r.command.signal[m.slot].tokens() == 0) continue;
    if (!wait && !signal && r.command.opcode == hal::Opcode::kNop) continue;
    const bool operand = m.what == Mutation::What::kAddress || m.what == Mutation::What::kOldAddress;
    if (operand && r.command.type[m.slot] == hal::ElementType::kNone) continue;
    if (m.what == Mutation::What::kOldAddress && r.before.opcode != r.command.opcode) continue;
    hal::Descriptor changed = r.command;
    m.apply(changed);
    if (std::memcmp(&changed, &r.command, sizeof changed) != 0) return true;
  }
  return false;
}

}  // namespace attnvp::mutation
