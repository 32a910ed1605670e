// What is done with tables of keys (models/keys): settings to fields, checked; values to text. The tables themselves:
// those of the models (models/machine.h), network.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/keys/keys.h"
#include "platform/config/document.h"
#include "platform/config/error.h"
#include "platform/config/units.h"

namespace attnvp::config {

// Text to value within the limits. Throws ConfigError without a place: "found '8 GiB'; allowed is 1 KiB to 4
// GiB".
Value parse_value(const KeyInfo& key, std::string_view text);

// Throws like parse_value when a value (of a struct filled by code) is outside the limits.
void check_value(const KeyInfo& key, const Value& value);

std::string format_value(const KeyInfo& key, const Value& value);
std::string allowed_range(const KeyInfo& key);  // "1 KiB to 4 GiB", "priority, round-robin"
std::string type_name(const KeyInfo& key);      // "bytes", "frequency", "choice", "text"

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
