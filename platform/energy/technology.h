// The figures of a model file (configs/energy/cmos.yaml): published numbers with their source and range, brought to a
// technology node and a voltage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/technology/config.h"
#include "platform/config/document.h"
#include "platform/energy/accelergy.h"

namespace attnvp::energy {

// A number with the range in which it may be, as factors.
struct Figure {
  double value = 0, low = 1, high = 1;

  Figure operator*(double factor) const { return {value * factor, low, high}; }
  Figure operator+(const Figure& other) const;  // the ends of both ranges together
};

// Of a type of DRAM, by the command.
struct DramCommands {
  Figure activate_pj_per_kib;                      // of the row, with its precharge
  Figure read_pj_per_bit, write_pj_per_bit;        // of a burst, within the device
  Figure read_io_pj_per_bit, write_io_pj_per_bit;  // on its pins
  Figure refresh_pj_per_mib;                       // of a rank, all of whose banks are refreshed
  Figure closed_mw, open_mw;                       // of a rank: all banks closed, or not
};

// How a number came about.
struct Provenance {
  std::string name, unit;
  Figure figure;  // as in the file
  double nm = 0;  // its node; 0: of none
  std::string kind, source;
};

class Technology {
 public:
  // Throws config::ConfigError with file and line.
  explicit Technology(const std::string& path);
  // The one that comes with the program, for areas of machines whose energies are a table's.
  static const Technology& cmos();
  // Read once.
  static const Technology& of(const std::string& path);

  // Throw std::out_of_range for a name that a model file is not allowed to lack.
  Figure pj(const std::string& name, double nm, double volts) const;
  double mm2(const std::string& name, double nm) const;
  Figure factor(const std::string& name) const;
  Figure mw_per_mm2(const std::string& name) const;
  Figure dram_pj_per_bit(const std::string& type) const;
  Figure dram_mw_per_gib(const std::string& type) const;
  DramCommands dram_commands(const std::string& type) const;
  std::vector<Provenance> provenance() const { return provenance_; }
  const Replaced& replaced() const { return replaced_; }  // by Accelergy's tables
  // The machine's keys, but for those that the file decides itself.
  TechnologyConfig keys(const TechnologyConfig& machine) const;

 private:
  struct Entry {
    std::map<std::string, double, std::less<>> values;  // by key
    double low = 1, high = 1;
    double of(const char* key) const;  // 0: the entry has none
    Figure figure(const char* key) const { return {of(key), low, high}; }
  };
  struct List;
  void read_list(const config::Document& document, const List& list);
  const Entry& entry(const std::string& name) const;
  std::map<std::string, Entry> entries_;
  std::vector<Provenance> provenance_;
  Replaced replaced_;
  std::vector<config::Setting> settings_;  // of the machine's keys
};

}  // namespace attnvp::energy
