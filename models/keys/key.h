// Keys of a configuration. A key has a path, unit, limits, meaning and the field that it sets. Validation, defaults,
// documentation and printing (platform/machine) use this declaration. Parameters of a module are declared beside its
// model, in a struct whose describe() names a key for every field (Keys).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace attnvp::config {

enum class KeyUnit : std::uint8_t {
  kCount,          // plain integer
  kCycles,         // plain integer
  kBytes,          // bytes: B, KiB..TiB (powers of 1024), KB..TB (powers of 1000); a whole number of bytes
  kBytesPerCycle,  // bytes per cycle: B/cycle
  kFrequency,      // hertz: Hz, kHz, MHz, GHz
  kBandwidth,      // bytes per second: B/s, KiB/s..TiB/s, KB/s..TB/s
  kTime,           // seconds: ps, ns, us, ms, s
  kEnergy,         // picojoules: pJ
  kVoltage,        // volts: V, mV
  kPower,          // watts: W, mW
};

// Integer units hold exact whole numbers; the others are doubles in the base unit given above.
bool is_integer(KeyUnit unit);

enum class Type : std::uint8_t { kInteger, kReal, kChoice, kString, kBool };

// kInteger: uint64; kReal: double in the unit's base; kString; kBool. kChoice: uint64 index into the names; an unknown
// name is kept as text.
using Value = std::variant<std::uint64_t, double, std::string, bool>;

// Properties of a key, independent of the struct it belongs to.
struct KeyInfo {
  std::string path;  // dotted, e.g. "l1.size"
  Type type = Type::kInteger;
  KeyUnit unit = KeyUnit::kCount;  // kInteger and kReal
  double minimum = 0;              // in the unit's base, inclusive; integers are exact up to 2^53
  double maximum = 0;
  bool power_of_two = false;       // kInteger
  std::vector<std::string> names;  // kChoice: names of the enumerators 0, 1, ...
  std::string meaning;             // one line
  bool required = false;           // no default; for the reference only
  std::string default_note;        // replaces the default in the reference, e.g. "the file's name"
};

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;
constexpr double kTiB = 1024 * kGiB;

// Constructors of keys. The unit determines the type of a number.
KeyInfo number(std::string path, KeyUnit unit, double minimum, double maximum, std::string meaning);
KeyInfo power_of_two(std::string path, KeyUnit unit, double minimum, double maximum, std::string meaning);
KeyInfo choice(std::string path, std::vector<std::string> names, std::string meaning);
KeyInfo text(std::string path, std::string meaning);  // 1 to 200 printable characters
KeyInfo flag(std::string path, std::string meaning);
// Key that names the kind of a slot; the allowed names are the registered kinds (models/registry.h).
KeyInfo kind(std::string path, const std::string& place, std::string meaning);

template <class Target>
struct Key : KeyInfo {
  std::function<Value(const Target&)> get;
  std::function<void(Target&, const Value&)> set;
};

Value choice_of(const std::vector<std::string>& names, const std::string& name);

// Declaration of the keys of a struct of parameters:
//
//   struct DramConfig {
//     std::uint64_t size_bytes = 6ULL << 30;
//     static void describe(config::Keys<DramConfig>& key) {
//       using namespace config;
//       key(number("size", KeyUnit::kBytes, kMiB, 16 * kTiB, "main memory"), &DramConfig::size_bytes);
//     }
//   };
//
// Definitions are in binding.h, for the sources that call describe(): else every source instantiates every key.

template <class Target>
class Keys {
 public:
  template <class Field>
  void operator()(KeyInfo info, Field Target::*field);

  // Adds the keys that Part::describe() declares, with `name` as prefix of their paths.
  template <class Part>
  void section(const std::string& name, Part Target::*part);
  template <class Part, class Read, class Write>
  void section(const std::string& name, Read read, Write write);

  // Adds the keys of a part without a prefix.
  template <class Part>
  void members(Part Target::*part);

  const std::vector<Key<Target>>& all() const { return keys_; }

 private:
  std::vector<Key<Target>> keys_;
};

}  // namespace attnvp::config
