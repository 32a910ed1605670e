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

// Binds a key to a field, given by pointers to members: make_key<MachineConfig>(info, &MachineConfig::l1,
// &ScratchpadConfig::size_bytes). The field of a choice is an enumeration or the chosen name.
template <class Target, class... Members>
Key<Target> make_key(KeyInfo info, Members... members) {
  using Field = std::decay_t<decltype((std::declval<Target&>().*....*members))>;
  Key<Target> key;
  static_cast<KeyInfo&>(key) = std::move(info);
  const std::vector<std::string> names = key.names;
  key.get = [names, members...](const Target& target) -> Value {
    const Field& field = (target.*....*members);
    if constexpr (std::is_same_v<Field, std::string>) {
      return names.empty() ? Value(field) : choice_of(names, field);
    } else if constexpr (std::is_same_v<Field, bool>) {
      return field;
    } else if constexpr (std::is_floating_point_v<Field>) {
      return static_cast<double>(field);
    } else {
      return static_cast<std::uint64_t>(field);
    }
  };
  key.set = [names, members...](Target& target, const Value& value) {
    Field& field = (target.*....*members);
    if constexpr (std::is_same_v<Field, std::string>) {
      field = names.empty() ? std::get<std::string>(value) : names.at(std::get<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<Field, bool>) {
      field = std::get<bool>(value);
    } else if constexpr (std::is_floating_point_v<Field>) {
      field = static_cast<Field>(std::get<double>(value));
    } else {
      field = static_cast<Field>(std::get<std::uint64_t>(value));  // the limits were checked before
    }
  };
  return key;
}

// Declaration of the keys of a struct of parameters:
//
//   struct DramConfig {
//     std::uint64_t size_bytes = 6ULL << 30;
//     static void describe(config::Keys<DramConfig>& key) {
//       using namespace config;
//       key(number("size", KeyUnit::kBytes, kMiB, 16 * kTiB, "main memory"), &DramConfig::size_bytes);
//     }
//   };

template <class Target>
class Keys {
 public:
  template <class Field>
  void operator()(KeyInfo info, Field Target::*field) {
    keys_.push_back(make_key<Target>(std::move(info), field));
  }

  // Adds the keys that Part::describe() declares, with `name` as prefix of their paths.
  template <class Part>
  void section(const std::string& name, Part Target::*part) {
    section<Part>(
        name, [part](const Target& target) -> const Part& { return target.*part; },
        [part](Target& target) -> Part& { return target.*part; });
  }
  template <class Part, class Read, class Write>
  void section(const std::string& name, Read read, Write write) {
    Keys<Part> part;
    Part::describe(part);
    for (const Key<Part>& of_part : part.all()) {
      Key<Target> key;
      static_cast<KeyInfo&>(key) = of_part;
      key.path = name + "." + of_part.path;
      key.get = [read, get = of_part.get](const Target& target) { return get(read(target)); };
      key.set = [write, set = of_part.set](Target& target, const Value& value) { set(write(target), value); };
      keys_.push_back(std::move(key));
    }
  }

  // Adds the keys of a part without a prefix.
  template <class Part>
  void members(Part Target::*part) {
    Keys<Part> keys;
    Part::describe(keys);
    for (const Key<Part>& of_part : keys.all()) {
      Key<Target> key;
      static_cast<KeyInfo&>(key) = of_part;
      key.get = [part, get = of_part.get](const Target& target) { return get(target.*part); };
      key.set = [part, set = of_part.set](Target& target, const Value& value) { set(target.*part, value); };
      keys_.push_back(std::move(key));
    }
  }

  const std::vector<Key<Target>>& all() const { return keys_; }

 private:
  std::vector<Key<Target>> keys_;
};

}  // namespace attnvp::config
