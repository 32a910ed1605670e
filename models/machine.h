// Parameters of a machine: one plain struct per slot, filled by platform/machine and read by the models. Each struct is
// declared beside its model together with its keys. The header needs no SystemC. Units are in the names; "cycles" are
// cycles of the platform clock.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

#include "models/control/control_processor/config.h"
#include "models/control/event_unit/config.h"
#include "models/control/mailbox/config.h"
#include "models/engine/dma_controller/config.h"
#include "models/engine/mac_engine/config.h"
#include "models/engine/vec_engine/config.h"
#include "models/interconnect/config.h"
#include "models/memory/dram/config.h"
#include "models/memory/l2/config.h"
#include "models/memory/register_file/config.h"
#include "models/memory/scratchpad/config.h"
#include "models/sim/config.h"
#include "models/technology/config.h"

namespace attnvp {

struct MachineConfig;
// Adds the keys of all kinds of a slot, beyond those of the slot itself.
void add_own_keys(config::Keys<MachineConfig>& key, const std::string& place);

struct CoreConfig {
  MacConfig mac;
  VecConfig vec;
  RegisterFileConfig l0;

  static void describe(config::Keys<CoreConfig>& key) {
    key.section("mac", &CoreConfig::mac);
    key.section("vec", &CoreConfig::vec);
    key.section("l0", &CoreConfig::l0);
  }
};
const std::vector<config::Key<CoreConfig>>& core_keys();

struct MachineConfig {
  std::string name = "edge";
  double clock_hz = 3.75e9;
  std::uint32_t clusters = 1;
  std::uint32_t cores = 2;  // per cluster
  // Defaults of every core.
  MacConfig mac;
  VecConfig vec;
  RegisterFileConfig l0;
  // Overrides of mac, vec and l0: index is the core in its cluster, key is a path of core_keys(). May have fewer
  // entries than `cores`.
  std::vector<std::map<std::string, config::Value>> core_overrides;
  ScratchpadConfig l1;
  DmaConfig dma;
  DramConfig dram;
  L2Config l2;
  EventUnitConfig events;
  MailboxConfig mailbox;
  ControlConfig control;
  InterconnectConfig interconnect;
  SimulationConfig simulation;
  std::string energy = "cmos";  // name under configs/energy or a path
  TechnologyConfig technology;

  // Keys in the order in which they are printed.
  static void describe(config::Keys<MachineConfig>& key) {
    using namespace config;
    using C = MachineConfig;
    KeyInfo shown_name = config::text("name", "name shown in reports");
    shown_name.default_note = "the file's name";
    key(shown_name, &C::name);
    key(number("clock", Unit::kFrequency, 1e6, 100e9, "the platform clock; every cycle count is in its cycles"),
        &C::clock_hz);
    key(number("clusters", Unit::kCount, 1, 1024, "clusters, each with its own L1, DMA and control processor"),
        &C::clusters);
    key(number("cores", Unit::kCount, 1, 64,
               "cores per cluster, each with a MAC engine, a VEC engine and an L0; or a list of them, each with the "
               "keys of "
               "mac, vec and l0 in which it differs"),
        &C::cores);
    const auto place = [&key](const char* place_name, auto part) {
      key.section(place_name, part);
      add_own_keys(key, place_name);
    };
    place("mac", &C::mac);
    place("vec", &C::vec);
    place("l0", &C::l0);
    place("l1", &C::l1);
    place("dma", &C::dma);
    place("dram", &C::dram);
    place("l2", &C::l2);
    place("events", &C::events);
    place("mailbox", &C::mailbox);
    place("control", &C::control);
    place("interconnect", &C::interconnect);
    key.section("simulation", &C::simulation);
    key(config::text("energy", "energy table: a name under configs/energy, or a path"), &C::energy);
    key.members(&C::technology);
  }

  // Parameters of core `k` of any cluster, overrides included.
  CoreConfig core(std::uint32_t k) const;
  // The same machine with mac, vec and l0 of core `k`.
  MachineConfig with_core(std::uint32_t k) const;
  // True if all cores have the same values.
  bool has_equal_cores() const;
  // Sum over all cores of all clusters.
  template <class Value>
  double sum_of_cores(const Value& value) const {
    double sum = 0;
    for (std::uint32_t k = 0; k < cores; ++k) sum += static_cast<double>(value(core(k)));
    return sum * clusters;
  }
  double macs_per_cycle() const {  // FP16 multiply-accumulates
    return sum_of_cores([](const CoreConfig& c) { return 1.0 * c.mac.rows * c.mac.columns; });
  }
  double vec_lanes() const {
    return sum_of_cores([](const CoreConfig& c) { return 1.0 * c.vec.lanes; });
  }

  bool has_l2() const { return l2.kind != "none"; }  // a separate range of the address map

  // Parameters of a single kind of module (Kind::with_keys in registry.h).
  template <class Config>
  Config& own() {
    std::any& config = own_[typeid(Config)];
    if (!config.has_value()) config = Config{};
    return *std::any_cast<Config>(&config);
  }
  template <class Config>
  const Config& own() const {
    static const Config kDefault{};
    const auto found = own_.find(typeid(Config));
    return found == own_.end() ? kDefault : *std::any_cast<Config>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> own_;
};

}  // namespace attnvp
