// Parameters of a machine: one plain struct per slot, filled by platform/machine and read by the models. Each struct is
// declared beside its model together with its keys; those of the technology and of the simulation are here. The header
// needs no SystemC. Units are in the names; "cycles" are cycles of the platform clock.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

#include "models/control/config.h"
#include "models/engine/config.h"
#include "models/interconnect/config.h"
#include "models/keys/key.h"
#include "models/memory/config.h"

namespace attnvp {

// Technology of the chip, gating and power limit. The energy and area models read it.
struct TechnologyConfig {
  std::string tech = "16nm";
  double volts = 0;  // 0: the node's nominal voltage
  std::string sram_cell = "itrs-hp";
  std::string dram_type = "lpddr4";
  std::string gating = "none";
  std::uint32_t gate_after = 100;  // idle cycles
  std::uint32_t wake_cycles = 10;
  double tdp_watts = 0;               // 0: none
  std::uint32_t power_window = 1024;  // cycles

  static void describe(config::Keys<TechnologyConfig>& key) {
    using namespace config;
    using C = TechnologyConfig;
    key(choice("tech",
               {"65nm", "45nm", "32nm", "28nm", "22nm", "20nm", "16nm", "14nm", "12nm", "10nm", "8nm", "7nm", "5nm",
                "4nm"},
               "technology node of the models of energy and area"),
        &C::tech);
    key(number("voltage", KeyUnit::kVoltage, 0, 1.3, "of logic and on-chip memories; 0 V: the node's nominal"),
        &C::volts);
    key(choice("sram_cell", {"itrs-hp", "itrs-lop", "itrs-lstp"},
               "transistors of on-chip memories (CACTI): high performance, low operating power, low standby power"),
        &C::sram_cell);
    key(choice("dram_type", {"lpddr4", "lpddr5", "ddr4", "ddr5", "hbm2", "hbm2e", "hbm3", "gddr6x", "gddr7"},
               "what energies of DRAM are of; with policy banked, the part's own type"),
        &C::dram_type);
    key(choice("gating", {"none", "clock", "power"},
               "engines that have been idle for `gate_after`: left on, without clock, or without clock and leakage"),
        &C::gating);
    key(number("gate_after", KeyUnit::kCycles, 0, 1e9, "idle cycles after which an engine is switched off"),
        &C::gate_after);
    key(number("wake_cycles", KeyUnit::kCycles, 0, 1e6, "for an engine to be switched on again"), &C::wake_cycles);
    key(number("tdp", KeyUnit::kPower, 0, 1e5,
               "power that the device may draw; 0 W: no limit; reports say when it is exceeded"),
        &C::tdp_watts);
    key(number("power_window", KeyUnit::kCycles, 1, 1e9,
               "waveforms and timelines show the mean power of so many cycles"),
        &C::power_window);
  }
};

// Parameters of the simulation itself.
struct SimulationConfig {
  std::string run_ahead = "on";
  std::string protocol_check = "off";
  std::string steady_state = "on";
  std::uint64_t max_cycles = 0;  // of firmware (CycleLimit); 0: as the job needs. No key: --max-cycles

  static void describe(config::Keys<SimulationConfig>& key) {
    using namespace config;
    key(choice("run_ahead", {"on", "off"},
               "models run ahead of the SystemC kernel's time while no SystemC process has activity; off: every event "
               "runs at its own kernel time. Results are equal"),
        &SimulationConfig::run_ahead);
    key(choice("protocol_check", {"on", "off"},
               "a checker of the TLM-2.0 base protocol before every target: a breach ends the run with a sentence; no "
               "result changes"),
        &SimulationConfig::protocol_check);
    key(choice(
            "steady_state", {"on", "off"},
            "timing runs on one cluster advance by whole periods where commands and the state of all modules repeat; "
            "off: every command is simulated. Results are equal"),
        &SimulationConfig::steady_state);
  }
};

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
// Keys of a machine in which a cluster may differ: those of mac, vec, l0, l1 and dma.
const std::vector<config::Key<MachineConfig>>& cluster_keys();

struct MachineConfig {
  std::string name = "edge";
  double clock_hz = 3.75e9;
  std::uint32_t clusters = 1;
  std::uint32_t cluster_groups = 1;
  std::uint32_t cores = 2;  // per cluster
  // Defaults of every core.
  MacConfig mac;
  VecConfig vec;
  RegisterFileConfig l0;
  // Overrides of mac, vec and l0: index is the core in its cluster, key is a path of core_keys(). May have fewer
  // entries than `cores`.
  std::vector<std::map<std::string, config::Value>> core_overrides;
  // Overrides of single clusters: index is the cluster, key is a path of cluster_keys() or "cores.1.mac.rows". May have
  // fewer entries than `clusters`.
  std::vector<std::map<std::string, config::Value>> cluster_overrides;
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
    key(number("clock", KeyUnit::kFrequency, 1e6, 100e9, "the platform clock; every cycle count is in its cycles"),
        &C::clock_hz);
    key(number(
            "clusters", KeyUnit::kCount, 1, 1024,
            "clusters, each with its own L1, DMA and control processor; or a list of them, each with the keys of mac, "
            "vec, l0, l1, dma and cores in which it differs"),
        &C::clusters);
    key(number(
            "cluster_groups", KeyUnit::kCount, 1, 255,
            "groups of clusters that thread blocks go to in turn, however busy a group is (grid=blocks, grid=heads); "
            "cluster k is in group k modulo this"),
        &C::cluster_groups);
    key(number("cores", KeyUnit::kCount, 1, 64,
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

  // The same machine with the values of cluster `c` for all clusters.
  MachineConfig with_cluster(std::uint32_t c) const;
  // True if all clusters have the same values.
  bool has_equal_clusters() const;
  // Parameters of core `k` of any cluster, overrides of cores included. Clusters that differ: see with_cluster.
  CoreConfig core(std::uint32_t k) const;
  // The same machine with mac, vec and l0 of core `k`.
  MachineConfig with_core(std::uint32_t k) const;
  // True if all cores of a cluster have the same values.
  bool has_equal_cores() const;
  // Sums over all clusters, and over all cores of all clusters.
  template <class Value>
  double sum_of_clusters(const Value& value) const {
    if (cluster_overrides.empty()) return static_cast<double>(value(*this)) * clusters;
    double sum = 0;
    for (std::uint32_t c = 0; c < clusters; ++c) sum += static_cast<double>(value(with_cluster(c)));
    return sum;
  }
  template <class Value>
  double sum_of_cores(const Value& value) const {
    return sum_of_clusters([&](const MachineConfig& m) {
      double sum = 0;
      for (std::uint32_t k = 0; k < cores; ++k) sum += static_cast<double>(value(m.core(k)));
      return sum;
    });
  }
  double macs_per_cycle() const {  // FP16 multiply-accumulates
    return sum_of_cores([](const CoreConfig& c) { return c.mac.pes(); });
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
