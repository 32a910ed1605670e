// The machinery of key tables: a key is one entry with path, unit, limits, meaning and the field it sets.
// Validation, defaults, documentation and printing all come from the table. The tables themselves:
// hardware_keys.cpp, network.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "platform/config/document.h"
#include "platform/config/error.h"
#include "platform/config/units.h"

namespace attnvp::config {

enum class Type : std::uint8_t { kInteger, kReal, kChoice, kString, kBool };

// kInteger: uint64, kReal: double in the unit's base, kChoice: uint64 index into the names, kString, kBool.
using Value = std::variant<std::uint64_t, double, std::string, bool>;

// What there is to know of a key, whatever struct it belongs to.
struct KeyInfo {
  std::string path;  // dotted, e.g. "l1.size"
  Type type = Type::kInteger;
  Unit unit = Unit::kCount;  // kInteger and kReal
  double minimum = 0;        // in the unit's base, both ends allowed; integers are exact up to 2^53
  double maximum = 0;
  bool power_of_two = false;       // kInteger
  std::vector<std::string> names;  // kChoice: in the order of the enumerators 0, 1, ...
  std::string meaning;             // one line
  bool required = false;           // has no default; only the reference reads this
  std::string default_note;        // replaces the default in the reference, e.g. "the file's name"
};

// Constructors of the usual entries; the type of a number follows from its unit.
KeyInfo number(std::string path, Unit unit, double minimum, double maximum, std::string meaning);
KeyInfo power_of_two(std::string path, Unit unit, double minimum, double maximum, std::string meaning);
KeyInfo choice(std::string path, std::vector<std::string> names, std::string meaning);
KeyInfo text(std::string path, std::string meaning);  // 1 to 200 printable characters
KeyInfo flag(std::string path, std::string meaning);

// Text to value within the limits. Throws ConfigError without a place: "found '8 GiB'; allowed is 1 KiB to 4
// GiB".
Value parse_value(const KeyInfo& key, std::string_view text);

// Throws like parse_value when a value (of a struct filled by code) is outside the limits.
void check_value(const KeyInfo& key, const Value& value);

std::string format_value(const KeyInfo& key, const Value& value);
std::string allowed_range(const KeyInfo& key);  // "1 KiB to 4 GiB", "priority, round-robin"
std::string type_name(const KeyInfo& key);      // "bytes", "frequency", "choice", "text"

template <class Target>
struct Key : KeyInfo {
  std::function<Value(const Target&)> get;
  std::function<void(Target&, const Value&)> set;
};

// Binds an entry to a field, named by pointers to members: make_key<MachineConfig>(info, &MachineConfig::l1,
// &ScratchpadConfig::size_bytes).
template <class Target, class... Members>
Key<Target> make_key(KeyInfo info, Members... members) {
  using Field = std::decay_t<decltype((std::declval<Target&>().*....*members))>;
  Key<Target> key;
  static_cast<KeyInfo&>(key) = std::move(info);
  key.get = [members...](const Target& target) -> Value {
    const Field& field = (target.*....*members);
    if constexpr (std::is_same_v<Field, bool> || std::is_same_v<Field, std::string>) {
      return field;
    } else if constexpr (std::is_floating_point_v<Field>) {
      return static_cast<double>(field);
    } else {
      return static_cast<std::uint64_t>(field);
    }
  };
  key.set = [members...](Target& target, const Value& value) {
    Field& field = (target.*....*members);
    if constexpr (std::is_same_v<Field, bool> || std::is_same_v<Field, std::string>) {
      field = std::get<Field>(value);
    } else if constexpr (std::is_floating_point_v<Field>) {
      field = static_cast<Field>(std::get<double>(value));
    } else {
      field = static_cast<Field>(std::get<std::uint64_t>(value));  // in range: the limits were checked
    }
  };
  return key;
}

// Parts of Schema that need no template: add the place and the key to a complaint.
[[noreturn]] void refuse_unknown(const Setting& setting, const std::vector<std::string>& known);
Value parse_setting(const KeyInfo& key, const Setting& setting);
void check_setting(const KeyInfo& key, const Value& value, const Origin& origin);

template <class Target>
class Schema {
 public:
  explicit Schema(std::vector<Key<Target>> keys) : keys_(std::move(keys)) {
    for (const auto& key : keys_) paths_.push_back(key.path);
  }

  const std::vector<Key<Target>>& keys() const { return keys_; }
  const std::vector<std::string>& paths() const { return paths_; }

  const Key<Target>* find(std::string_view path) const {
    for (const auto& key : keys_) {
      if (key.path == path) return &key;
    }
    return nullptr;
  }

  // Sets one key. Throws ConfigError with the setting's place: unknown key, bad value.
  void apply(Target& target, const Setting& setting) const {
    const Key<Target>* key = find(setting.path);
    if (key == nullptr) refuse_unknown(setting, paths_);
    key->set(target, parse_setting(*key, setting));
  }

  // Every field within its limits? Throws ConfigError at `origin` naming the first key that is not.
  void check(const Target& target, const Origin& origin) const {
    for (const auto& key : keys_) check_setting(key, key.get(target), origin);
  }

  std::string default_text(const Key<Target>& key) const { return format_value(key, key.get(Target{})); }

 private:
  std::vector<Key<Target>> keys_;
  std::vector<std::string> paths_;
};

// "key=value" split at the first '='; the origin is "--set key=value". Throws ConfigError when there is no
// key or '='.
Setting parse_override(const std::string& assignment);

}  // namespace attnvp::config
