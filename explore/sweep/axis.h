// One dimension of a sweep: the values of a key, of keys that move together, or a range to take values from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/document.h"
#include "platform/config/schema.h"

namespace attnvp::explore {

// Numbers from `from` to `to` in the key's base unit, both included.
struct Range {
  const config::KeyInfo* key = nullptr;
  double from = 0, to = 0;
  bool logarithmic = false;
  double multiple = 0;       // values are multiples of it; 0: whole numbers, or four digits
  std::uint32_t points = 0;  // a grid takes so many, evenly spaced; 0: not for grids
  // The value at a share of the way, 0 to 1, as text that reads back to the same number.
  std::string at(double share) const;
};

struct Axis {
  std::vector<std::string> keys;                 // one, or several that move together
  std::vector<std::vector<std::string>> values;  // each holds a text per key; empty where there is a range
  std::optional<Range> range;
  config::Origin origin;

  std::vector<std::string> at(double share) const;  // 0 <= share < 1
  std::string name() const;                         // "mac.rows, mac.columns"
};

// What an axis may be besides a key of the machine.
inline const std::vector<std::string> kChoices = {"hardware", "network", "dataflow", "tiling"};

// "l1.size: [1 MiB, 2 MiB]", "mac.rows, mac.columns: [[16, 16], [8, 32]]",
// "l1.size: {from: 256 KiB, to: 8 MiB, scale: log, points: 6}". Throws ConfigError with file and line. `grid`: a range
// needs points, and becomes values.
Axis parse_axis(const config::Document& document, const YAML::Node& name, const YAML::Node& value, bool grid);

// One value of a key, or of "hardware", "network", ...: throws ConfigError when there is no such thing. Paths of files
// become relative to `folder`.
void check_axis_value(const std::string& key, const std::string& text, const config::Origin& origin);

}  // namespace attnvp::explore
