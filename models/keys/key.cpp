#include "models/keys/key.h"

#include <algorithm>

namespace attnvp::config {

bool is_integer(KeyUnit unit) {
  return unit == KeyUnit::kCount || unit == KeyUnit::kCycles || unit == KeyUnit::kBytes ||
         unit == KeyUnit::kBytesPerCycle;
}

KeyInfo number(std::string path, KeyUnit unit, double minimum, double maximum, std::string meaning) {
  KeyInfo key;
  key.path = std::move(path);
  key.type = is_integer(unit) ? Type::kInteger : Type::kReal;
  key.unit = unit;
  key.minimum = minimum;
  key.maximum = maximum;
  key.meaning = std::move(meaning);
  return key;
}

KeyInfo power_of_two(std::string path, KeyUnit unit, double minimum, double maximum, std::string meaning) {
  KeyInfo key = number(std::move(path), unit, minimum, maximum, std::move(meaning));
  key.power_of_two = true;
  return key;
}

KeyInfo choice(std::string path, std::vector<std::string> names, std::string meaning) {
  KeyInfo key;
  key.path = std::move(path);
  key.type = Type::kChoice;
  key.names = std::move(names);
  key.meaning = std::move(meaning);
  return key;
}

KeyInfo text(std::string path, std::string meaning) {
  KeyInfo key;
  key.path = std::move(path);
  key.type = Type::kString;
  key.meaning = std::move(meaning);
  return key;
}

KeyInfo flag(std::string path, std::string meaning) {
  KeyInfo key;
  key.path = std::move(path);
  key.type = Type::kBool;
  key.meaning = std::move(meaning);
  return key;
}

Value choice_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return name;
  return static_cast<std::uint64_t>(found - names.begin());
}

}  // namespace attnvp::config
