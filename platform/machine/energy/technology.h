// Technology data of a model file (configs/energy/cmos.yaml): published values with source and range, scaled to a node
// and a voltage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/machine/document.h"
#include "platform/machine/energy.h"

namespace attnvp::energy {

// Accelergy tables (ERT, ART) as part of an energy model, and the mapping of their components to those of the machine.

// Values that override the model, by AttnVP component names.
struct Replaced {
  std::map<std::string, std::map<std::string, config::EnergyTable::EnergyAction>> energies;  // component, action
  std::map<std::string, double> um2;  // area of all instances of a component in one owner
};

// Areas by component from an ART. Throws ConfigError with file and line.
std::map<std::string, double> load_areas(const std::string& path);

// Applies keys `ert`, `art` and `components` of a model file; other entries of `known` are unchanged. Without
// `components`, applies all table entries with AttnVP names.
void replace_by_tables(const config::Document& document, const config::YamlNode& model, Replaced& known);

// A value with its range, as factors.
struct Figure {
  double value = 0, low = 1, high = 1;

  Figure operator*(double factor) const { return {value * factor, low, high}; }
  Figure operator+(const Figure& other) const;  // adds the ends of the ranges
};

// Command energies of a DRAM type.
struct DramCommands {
  Figure activate_pj_per_kib;                      // of the row, including precharge
  Figure read_pj_per_bit, write_pj_per_bit;        // of a burst, within the device
  Figure read_io_pj_per_bit, write_io_pj_per_bit;  // of a burst, on the pins
  Figure refresh_pj_per_mib;                       // of a rank; refreshes all its banks
  Figure closed_mw, open_mw;                       // of a rank, with all banks closed or some open
};

// Source of a value.
struct ValueSource {
  std::string name, unit;
  Figure figure;  // as in the file
  double nm = 0;  // technology node; 0: none
  std::string kind, source;
};

class Technology {
 public:
  // Throws config::ConfigError with file and line.
  explicit Technology(const std::string& path);
  // Default technology data, for areas of machines whose energies come from a table.
  static const Technology& cmos();
  // Cached by path.
  static const Technology& of(const std::string& path);

  // Throw std::out_of_range for a name that every model file must have.
  Figure pj(const std::string& name, double nm, double volts) const;
  double mm2(const std::string& name, double nm) const;
  Figure factor(const std::string& name) const;
  Figure mw_per_mm2(const std::string& name) const;
  Figure dram_pj_per_bit(const std::string& type) const;
  Figure dram_mw_per_gib(const std::string& type) const;
  DramCommands dram_commands(const std::string& type) const;
  std::vector<ValueSource> provenance() const { return provenance_; }
  const Replaced& replaced() const { return replaced_; }  // by Accelergy's tables
  // Energies of actions that replace those of the model: of key `actions`, scaled, and of Accelergy's tables.
  using ActionEnergies = std::map<std::string, std::map<std::string, config::EnergyTable::EnergyAction>>;
  ActionEnergies actions(double nm, double volts) const;
  // The machine's keys, overridden by those in the file.
  TechnologyConfig keys(const TechnologyConfig& machine) const;

 private:
  struct TechnologyEntry {
    std::map<std::string, double, std::less<>> values;  // by key
    double low = 1, high = 1;
    double of(const char* key) const;  // 0: not given
    Figure figure(const char* key) const { return {of(key), low, high}; }
  };
  struct EntryList;
  void read_list(const config::Document& document, const EntryList& list);
  void read_actions(const config::Document& document);
  const TechnologyEntry& entry(const std::string& name) const;
  std::map<std::string, TechnologyEntry> entries_;
  std::map<std::pair<std::string, std::string>, TechnologyEntry> actions_;  // by component and action
  std::vector<ValueSource> provenance_;
  Replaced replaced_;
  std::vector<config::Setting> settings_;  // keys of the machine
};

// Technology scaling by the equations of A. Stillmaker and B. Baas, "Scaling equations for the accurate prediction of
// CMOS device performance from 180 nm to 7 nm", Integration 58 (2017), high-performance devices. Values between the
// published nodes are interpolated linearly in logarithms. Below 7 nm the line from 10 nm to 7 nm continues: 30% less
// energy at 5 nm than at 7 nm, as TSMC announced (N5 and N7, at equal speed).

constexpr double kLargestNode = 65, kSmallestNode = 4;  // nm

double nominal_volts(double node_nm);
// Ratio of an operation's energy at the target node and voltage to that at the source.
double energy_scale(double from_nm, double from_volts, double to_nm, double to_volts);
double energy_scale(double from_nm, double to_nm);  // both at nominal voltage
double area_scale(double from_nm, double to_nm);

}  // namespace attnvp::energy
