// Kinds of modules: who is known where, keys of a kind's own, and mistakes in a model.
#include "models/registry.h"

#include "platform/machine/hardware.h"
#include "tests/models/bench.h"
#include "tests/models/late.h"

namespace attnvp::bench {
namespace {

// Counts energy of a component that its registration does not name.
class Spender : public Memory {
 public:
  Spender(sc_core::sc_module_name name, const ModuleContext& module_context) : Memory(name, module_context.context) {}
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  Counter spent{*this, "spent", "actions", "nobody knows", {"attnvp.secret", "spend"}};

 private:
  tlm_utils::simple_target_socket<Spender> in_{"in"};
};
const bool kSpender =
    add_kind(Kind<Memory>("dram", "spender", "is a mistake", {"attnvp.dram"},
                          [](const ModuleContext& s) { return std::make_unique<Spender>(s.name, s); }));
const bool kMisplaced = add_kind(Kind<Memory>("mac", "memory", "is no engine", {}, nullptr));

TEST(Registry, EveryPlaceHasItsDefaultKind) {
  const MachineConfig machine;
  EXPECT_EQ(kinds_of(machine).size(), slots().size());
  for (const Slot& place : slots()) EXPECT_EQ(kind_of(place.name, machine).name, place.kind(machine));
  EXPECT_EQ(kind_problem(machine), "");
}

TEST(Registry, ComponentsComeInTheOrderOfTheModuleTree) {
  const std::vector<std::string> expected = {"attnvp.dram",   "attnvp.l2",      "attnvp.l1",      "attnvp.l0",
                                             "attnvp.mac",    "attnvp.vec",     "attnvp.network", "attnvp.events",
                                             "attnvp.dma",    "attnvp.control", "attnvp.gating",  "attnvp.clock",
                                             "attnvp.leakage"};
  EXPECT_EQ(energy_components(), expected);
}

TEST(Registry, AKindsOwnKeysAreKeysOfItsPlace) {
  const auto* key = config::hardware_schema().find("interconnect.after_cycles");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(config::hardware_schema().default_text(*key), "5");
  MachineConfig m = machine();
  EXPECT_EQ(m.own<LateConfig>().after_cycles, 5U);
  config::apply_override(m, "interconnect.after_cycles=9");
  EXPECT_EQ(m.own<LateConfig>().after_cycles, 9U);
  EXPECT_THROW(config::apply_override(m, "interconnect.after_cycles=101"), config::ConfigError);
  const MachineConfig copy = m;
  m.own<LateConfig>().after_cycles = 1;
  EXPECT_EQ(copy.own<LateConfig>().after_cycles, 9U);
  EXPECT_NE(config::to_yaml(copy).find("  before_cycles: 0\n  after_cycles: 9\n"), std::string::npos);
}

TEST(Registry, AnUnknownKindIsRefusedWithWhatThereIs) {
  MachineConfig m = machine();
  m.l1.kind = "none";
  try {
    config::check_machine(m, {"test"});
    FAIL();
  } catch (const config::ConfigError& problem) {
    EXPECT_STREQ(problem.what(),
                 "test: key 'l1.kind': found 'none'; allowed: banked, late, plugin, scratchpad, waiting");
  }
}

TEST(Registry, EnergyThatAKindDoesNotNameIsAMistakeInTheModel) {
  MachineConfig m = machine();
  m.dram.policy = "spender";
  EXPECT_THROW(Bench bench(m), std::logic_error);
  sc_core::sc_get_curr_simcontext()->reset();
}

TEST(Registry, AKindOfAnotherRoleIsAMistakeInTheModel) {
  MachineConfig m = machine();
  m.mac.kind = "memory";
  EXPECT_THROW(Bench bench(m), std::logic_error);
  sc_core::sc_get_curr_simcontext()->reset();
}

TEST(Registry, AKindInNoPlaceOrTwiceInOneIsAMistakeInTheModel) {
  add_kind(Kind<Memory>("dram", "fixed", "again", {}, nullptr));
  EXPECT_THROW(kinds(), std::logic_error);
  add_kind(Kind<Memory>("l7", "large", "is nowhere", {}, nullptr));
  EXPECT_THROW(kinds(), std::logic_error);
}

}  // namespace
}  // namespace attnvp::bench
