// L1 of kind `banked`, with bank conflicts. A bank delivers one word of l1.bank_bandwidth bytes per cycle. Conflicts
// follow from the addresses that engines and DMA access.
#include <fmt/format.h>

#include "models/memory/banked_scratchpad/bank_share.h"
#include "models/memory/scratchpad/scratchpad.h"
#include "models/registry.h"

namespace attnvp {

namespace {

BankMap map_of(const MachineConfig& m) {
  const auto& own = m.own<BankConfig>();
  const std::uint64_t word = m.l1.bank_bytes_per_cycle;
  return {m.l1.banks, word, own.interleave_bytes == 0 ? word : own.interleave_bytes, own.swizzle};
}

std::string problem_of(const MachineConfig& m) {
  const BankMap map = map_of(m);
  if (map.banks > BankMap::kMostBanks) {
    return fmt::format("l1.kind banked has at most {} banks; l1.banks is {}", BankMap::kMostBanks, map.banks);
  }
  if (map.interleave_bytes % map.word_bytes != 0) {
    return fmt::format("l1.interleave must be a multiple of a bank's word, l1.bank_bandwidth, {} B; it is {} B",
                       map.word_bytes, map.interleave_bytes);
  }
  if (map.swizzle == Swizzle::kXor && (map.banks & (map.banks - 1)) != 0) {
    return fmt::format("l1.swizzle xor needs a number of banks that is a power of two; l1.banks is {}", map.banks);
  }
  return {};
}

class BankedScratchpad : public Scratchpad {
 public:
  BankedScratchpad(sc_core::sc_module_name name, const ModuleContext& site)
      : BankedScratchpad(name, site,
                         new BankShare(map_of(site.machine), site.machine.l1.ports,
                                       site.machine.l1.port_bytes_per_cycle, site.base)) {}

  Counter busiest_bank_words{*this, "busiest_bank_words", "words", "that the bank with the most has given"};
  Counter bank_conflict_cycles{*this, "bank_conflict_cycles", "cycles",
                               "in which a port waited for a bank, of all ports"};

 private:
  BankedScratchpad(sc_core::sc_module_name name, const ModuleContext& site, BankShare* banks)
      : Scratchpad(name, site, std::unique_ptr<Arbiter>(banks)), banks_(*banks) {}
  void closed() override {
    busiest_bank_words.raise_to(banks_.busiest_bank_words());
    bank_conflict_cycles.raise_to(banks_.conflict_cycles());
  }

  BankShare& banks_;
};

const bool kRegistered = add_kind(
    Kind<Memory>("l1", "banked", "has banks that can be taken, by the addresses that are really used", {"attnvp.l1"},
                 [](const ModuleContext& site) { return std::make_unique<BankedScratchpad>(site.name, site); })
        .with_keys<BankConfig>()
        .with_problem(problem_of));

}  // namespace

}  // namespace attnvp
