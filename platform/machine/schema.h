// Operations on tables of keys (models/keys): parse and check settings, set fields, format values. The tables are in
// the models (models/machine.h) and in workload/keys.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/keys/key.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::config {

// Parses a value and checks its range. Throws ConfigError without location: "found '8 GiB'; allowed is 1 KiB to 4 GiB".
Value parse_value(const KeyInfo& key, std::string_view text);

// Throws like parse_value if a value (set by code) is out of range.
void check_value(const KeyInfo& key, const Value& value);

std::string format_value(const KeyInfo& key, const Value& value);
std::string allowed_range(const KeyInfo& key);  // "1 KiB to 4 GiB", "priority, round-robin"
std::string type_name(const KeyInfo& key);      // "bytes", "frequency", "choice", "text"

// Parts of Schema that need no template; they add location and key to errors.
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

  // Sets one key. Throws ConfigError with the setting's location: unknown key, bad value.
  void apply(Target& target, const Setting& setting) const {
    const Key<Target>* key = find(setting.path);
    if (key == nullptr) refuse_unknown(setting, paths_);
    key->set(target, parse_setting(*key, setting));
  }

  // Throws ConfigError at `origin` naming the first key whose value is out of range.
  void check(const Target& target, const Origin& origin) const {
    for (const auto& key : keys_) check_setting(key, key.get(target), origin);
  }

  std::string default_text(const Key<Target>& key) const { return format_value(key, key.get(Target{})); }

 private:
  std::vector<Key<Target>> keys_;
  std::vector<std::string> paths_;
};

// Splits "key=value" at the first '='; the origin is "--set key=value". Throws ConfigError without a key or '='.
Setting parse_override(const std::string& assignment);

}  // namespace attnvp::config
