// Axis of a sweep: the values of one key, of several coupled keys, or a range of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/machine/document.h"
#include "platform/machine/schema.h"

namespace attnvp::explore {

// Inclusive range of numbers in the key's base unit.
struct AxisRange {
  const config::KeyInfo* key = nullptr;
  double from = 0, to = 0;
  bool logarithmic = false;
  double multiple = 0;       // values are multiples of it; 0: integers, or four significant digits
  std::uint32_t points = 0;  // evenly spaced values of a grid; 0: not allowed in grids
  // Text of the value at `share` (0 to 1) of the range; it parses to the same number.
  std::string at(double share) const;
};

struct Axis {
  std::vector<std::string> keys;                 // one, or several coupled keys
  std::vector<std::vector<std::string>> values;  // one text per key in each entry; empty for a range
  std::optional<AxisRange> range;
  config::Origin origin;

  std::vector<std::string> at(double share) const;  // 0 <= share < 1
  std::string name() const;                         // "mac.rows, mac.columns"
};

// Axes that are not keys of the machine.
inline const std::vector<std::string> kChoices = {"hardware", "network", "dataflow", "tiling"};

// "l1.size: [1 MiB, 2 MiB]", "mac.rows, mac.columns: [[16, 16], [8, 32]]",
// "l1.size: {from: 256 KiB, to: 8 MiB, scale: log, points: 6}". With `grid`, a range needs points and is expanded to
// values. Throws ConfigError with file and line.
Axis parse_axis(const config::Document& document, const std::string& name, const config::Origin& origin,
                const config::YamlNode& value, bool grid);

// Checks one value of a key or of an entry of kChoices; throws ConfigError. File paths are relative to the origin's
// folder.
void check_axis_value(const std::string& key, const std::string& text, const config::Origin& origin);

}  // namespace attnvp::explore
