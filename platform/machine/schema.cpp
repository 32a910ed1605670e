#include "platform/machine/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/base/text.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

constexpr std::size_t kLongestText = 200;

bool within(const KeyInfo& key, double value) { return value >= key.minimum && value <= key.maximum; }

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

std::string format_limit(const KeyInfo& key, double limit) {
  if (key.type == Type::kReal) return format_real(key.unit, limit);
  return format_integer(key.unit, static_cast<std::uint64_t>(limit));
}

// Error in a value; empty: none.
std::string objection(const KeyInfo& key, const Value& value) {
  switch (key.type) {
    case Type::kInteger: {
      const auto number = std::get<std::uint64_t>(value);
      const bool fits = within(key, static_cast<double>(number)) && (!key.power_of_two || is_power_of_two(number));
      return fits ? "" : "; allowed is " + allowed_range(key);
    }
    case Type::kReal:  // a NaN is out of range
      return within(key, std::get<double>(value)) ? "" : "; allowed is " + allowed_range(key);
    case Type::kChoice: {
      const auto* index = std::get_if<std::uint64_t>(&value);
      return index != nullptr && *index < key.names.size() ? "" : "; allowed: " + allowed_range(key);
    }
    case Type::kString: {
      const auto& string = std::get<std::string>(value);
      const bool fits = !string.empty() && string.size() <= kLongestText && text::is_printable(string);
      return fits ? "" : "; allowed is a text of 1 to 200 printable characters";
    }
    case Type::kBool:
      break;
  }
  return {};
}

}  // namespace

Value parse_value(const KeyInfo& key, std::string_view text) {
  Value value;
  switch (key.type) {
    case Type::kInteger:
      value = parse_integer(key.unit, text);
      break;
    case Type::kReal:
      value = parse_real(key.unit, text);
      break;
    case Type::kChoice: {
      const auto name = std::find(key.names.begin(), key.names.end(), trimmed(text));
      value = static_cast<std::uint64_t>(name - key.names.begin());
      break;
    }
    case Type::kString:
      value = std::string(trimmed(text));
      break;
    case Type::kBool:
      if (trimmed(text) != "true" && trimmed(text) != "false") {
        throw ConfigError(fmt::format("found {}; allowed: {}", in_quotes(text), allowed_range(key)));
      }
      value = trimmed(text) == "true";
      break;
  }
  const std::string problem = objection(key, value);
  if (!problem.empty()) throw ConfigError(fmt::format("found {}{}", in_quotes(text), problem));
  return value;
}

void check_value(const KeyInfo& key, const Value& value) {
  const std::string problem = objection(key, value);
  if (!problem.empty()) throw ConfigError(fmt::format("found {}{}", in_quotes(format_value(key, value)), problem));
}

std::string format_value(const KeyInfo& key, const Value& value) {
  switch (key.type) {
    case Type::kInteger:
      return format_integer(key.unit, std::get<std::uint64_t>(value));
    case Type::kReal:
      return format_real(key.unit, std::get<double>(value));
    case Type::kChoice: {
      if (const auto* name = std::get_if<std::string>(&value)) return *name;
      const auto index = std::get<std::uint64_t>(value);
      return index < key.names.size() ? key.names[index] : std::to_string(index);
    }
    case Type::kString:
      return std::get<std::string>(value);
    case Type::kBool:
      return std::get<bool>(value) ? "true" : "false";
  }
  return {};
}

std::string allowed_range(const KeyInfo& key) {
  switch (key.type) {
    case Type::kInteger:
    case Type::kReal:
      return fmt::format("{}{} to {}", key.power_of_two ? "a power of two from " : "", format_limit(key, key.minimum),
                         format_limit(key, key.maximum));
    case Type::kChoice:
      return fmt::format("{}", fmt::join(key.names, ", "));
    case Type::kString:
      return "1 to 200 characters";
    case Type::kBool:
      return "true, false";
  }
  return {};
}

std::string type_name(const KeyInfo& key) {
  switch (key.type) {
    case Type::kInteger:
    case Type::kReal:
      return unit_meaning(key.unit);
    case Type::kChoice:
      return "choice";
    case Type::kString:
      return "text";
    case Type::kBool:
      return "true or false";
  }
  return {};
}

void refuse_unknown(const Setting& setting, const std::vector<std::string>& known) {
  fail(setting.origin, unknown_path(setting.path, known, false));
}

Value parse_setting(const KeyInfo& key, const Setting& setting) {
  try {
    return parse_value(key, setting.text);
  } catch (const ConfigError& problem) {
    fail(setting.origin, fmt::format("key '{}': {}", key.path, problem.what()));
  }
}

void check_setting(const KeyInfo& key, const Value& value, const Origin& origin) {
  try {
    check_value(key, value);
  } catch (const ConfigError& problem) {
    fail(origin, fmt::format("key '{}': {}", key.path, problem.what()));
  }
}

Setting parse_override(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  Setting setting;
  setting.origin = option_origin("--set", assignment);
  if (equals == std::string::npos) fail(setting.origin, "has no '='; allowed is key=value, e.g. 'l1.size=2 MiB'");
  setting.path = std::string(trimmed(std::string_view(assignment).substr(0, equals)));
  setting.text = std::string(trimmed(std::string_view(assignment).substr(equals + 1)));
  if (setting.path.empty()) fail(setting.origin, "has no key before '='; allowed is key=value, e.g. 'l1.size=2 MiB'");
  return setting;
}

}  // namespace attnvp::config
