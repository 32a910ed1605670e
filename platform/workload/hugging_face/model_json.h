// Hugging Face config.json as a map of keys, with lookup and errors by file and key.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace attnvp::workload {

class ModelJson {
 public:
  // Reads a file, or the config.json of a folder. Infinity and NaN, which Python writes, are accepted but are no valid
  // numbers. Throws ConfigError: not readable, not JSON (with line and column), not an object.
  static ModelJson load(const std::string& file_or_folder);

  const std::string& source() const { return source_; }
  const nlohmann::json& keys() const { return *part_; }

  // Map under a key; messages name its keys "KEY.NAME". None: absent, null or not a map.
  std::optional<ModelJson> inside(const char* key) const;

  bool has(const char* key) const { return part_->contains(key); }  // true for null
  const nlohmann::json* find(const char* key) const;                // nullptr: absent or null

  // Value of a key; none if absent or null. Throws ConfigError for another type.
  std::optional<std::uint64_t> whole(const char* key, std::uint64_t least = 1) const;  // least to 2^32 - 1
  std::optional<double> positive(const char* key) const;
  std::optional<bool> flag(const char* key) const;
  std::optional<std::string> text(const char* key) const;

  std::string named(const char* key) const { return "key '" + prefix_ + key + "'"; }
  [[noreturn]] void refuse(const char* key, const std::string& why) const;  // FILE: key 'KEY': WHY
  [[noreturn]] void refuse_value(const char* key, const std::string& allowed) const;

 private:
  ModelJson() = default;
  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* part_ = nullptr;
  std::string source_, prefix_;
};

// A value as shown in messages: 'text', 'number', "a list", "a map".
std::string shown_value(const nlohmann::json& value);

}  // namespace attnvp::workload
