#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "explore/sweep/plan.h"
#include "platform/machine/catalog.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

namespace {

using config::fail;
using config::in_quotes;
using config::Origin;

bool is_number(const config::KeyInfo& key) {
  return key.type == config::Type::kInteger || key.type == config::Type::kReal;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    names.emplace_back(config::trimmed(std::string_view(text).substr(start, comma - start)));
    start = comma + 1;
  }
  return names;
}

void check_name(const std::string& key, const Origin& origin) {
  if (std::find(kChoices.begin(), kChoices.end(), key) != kChoices.end()) return;
  if (key == "name") fail(origin, "key 'name' cannot be an axis: results do not depend on it");
  if (config::find_key(key) != nullptr) return;
  std::vector<std::string> known = config::hardware_schema().paths();
  known.insert(known.end(), kChoices.begin(), kChoices.end());
  fail(origin, config::unknown_path(key, known, false));
}

double limit(const config::Document& d, const config::YamlNode& map, const char* which, const config::KeyInfo& key) {
  const Origin origin = d.origin(map);
  if (!map[which]) fail(origin, fmt::format("axis '{}': '{}' is missing; a range has from and to", key.path, which));
  const config::Setting setting{key.path, d.scalar(map[which], which), d.origin(map[which])};
  const config::Value value = config::parse_setting(key, setting);
  return key.type == config::Type::kReal ? std::get<double>(value)
                                         : static_cast<double>(std::get<std::uint64_t>(value));
}

AxisRange parse_range(const config::Document& d, const config::YamlNode& map, const config::KeyInfo& key) {
  d.require_keys(map, fmt::format("axis '{}'", key.path), {"from", "to", "scale", "multiple", "points"});
  const Origin origin = d.origin(map);
  if (!is_number(key))
    fail(origin, fmt::format("axis '{}': found a range; allowed is a list: {}", key.path, config::allowed_range(key)));
  AxisRange r;
  r.key = &key;
  r.from = limit(d, map, "from", key);
  r.to = limit(d, map, "to", key);
  if (!(r.from < r.to)) fail(origin, fmt::format("axis '{}': 'from' is not less than 'to'", key.path));
  if (map["scale"]) {
    const std::string scale = d.scalar(map["scale"], "scale");
    if (scale != "log" && scale != "linear") {
      fail(d.origin(map["scale"]),
           fmt::format("axis '{}': key 'scale': found {}; allowed: linear, log", key.path, in_quotes(scale)));
    }
    r.logarithmic = scale == "log";
    if (r.logarithmic && r.from <= 0) fail(origin, fmt::format("axis '{}': a log scale starts above 0", key.path));
  }
  try {
    if (map["multiple"]) r.multiple = config::parse_real(key.unit, d.scalar(map["multiple"], "multiple"));
    if (map["points"]) {
      const std::uint64_t points = config::parse_integer(config::KeyUnit::kCount, d.scalar(map["points"], "points"));
      if (points < 2 || points > 10000)
        throw config::ConfigError(fmt::format("found '{}'; allowed is 2 to 10000", points));
      r.points = static_cast<std::uint32_t>(points);
    }
  } catch (const config::ConfigError& problem) {
    fail(origin, fmt::format("axis '{}': {}", key.path, problem.what()));
  }
  return r;
}

}  // namespace

std::string AxisRange::at(double share) const {
  double value = logarithmic ? from * std::pow(to / from, share) : from + share * (to - from);
  if (key->power_of_two) {
    value = std::exp2(std::round(std::log2(value)));
  } else if (multiple > 0) {
    value = std::round(value / multiple) * multiple;
  } else if (key->type == config::Type::kInteger) {
    value = std::round(value);
  } else if (value > 0) {  // rounds to four significant digits
    const std::string four = fmt::format("{:.3e}", value);
    value = config::parse_plain_real(four);
  }
  value = std::clamp(value, from, to);
  if (key->type == config::Type::kReal) return config::format_real(key->unit, value);
  return config::format_integer(key->unit, static_cast<std::uint64_t>(value));
}

std::vector<std::string> Axis::at(double share) const {
  if (range) return {range->at(share)};
  const auto n = static_cast<double>(values.size());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * n))];
}

std::string Axis::name() const { return fmt::format("{}", fmt::join(keys, ", ")); }

void check_axis_value(const std::string& key, const std::string& text, const Origin& origin) {
  if (const auto found = config::find_key(key)) {
    config::parse_setting(*found, {key, text, origin});
    return;
  }
  try {
    if (key == "hardware") config::load_hardware(text);
    if (key == "network") workload::load(text);
    if (key == "dataflow" && text != "auto") job::parse_dataflow(text);
    if (key == "tiling" && text.empty()) throw config::ConfigError("found ''; allowed: default, auto, a name or sizes");
    if (key == "tiling" && text != "auto") job::parse_tiling(text);
  } catch (const config::ConfigError& problem) {
    fail(origin, fmt::format("key '{}': {}", key, problem.what()));
  }
}

Axis parse_axis(const config::Document& d, const std::string& name, const Origin& origin, const config::YamlNode& value,
                bool grid) {
  Axis axis;
  axis.origin = origin;
  axis.keys = split_names(name);
  for (const std::string& key : axis.keys) check_name(key, axis.origin);
  if (value.is_map()) {
    const auto key = config::find_key(axis.keys.front());
    if (axis.keys.size() > 1 || key == nullptr) {
      fail(axis.origin, fmt::format("axis '{}': found a range; allowed is a list of values", axis.name()));
    }
    axis.range = parse_range(d, value, *key);
    if (!grid) return axis;
    if (axis.range->points == 0) {
      fail(axis.origin,
           fmt::format("axis '{}': a range in a grid needs 'points', how many values it takes", axis.name()));
    }
    std::set<std::string> seen;
    for (std::uint32_t i = 0; i < axis.range->points; ++i) {
      std::string text = axis.range->at(i / static_cast<double>(axis.range->points - 1));
      if (seen.insert(text).second) axis.values.push_back({std::move(text)});
    }
    axis.range.reset();
    return axis;
  }
  if (!value.is_list() || value.size() == 0) {
    fail(axis.origin,
         fmt::format("axis '{}' has no values; allowed is a list such as [a, b], or a range from and to", axis.name()));
  }
  for (const config::YamlNode& item : value) {
    std::vector<std::string> texts;
    if (axis.keys.size() > 1) {
      d.require_list(item, fmt::format("a value of axis '{}'", axis.name()));
      for (const config::YamlNode& part : item) texts.push_back(d.scalar(part, "a value"));
      if (texts.size() != axis.keys.size()) {
        fail(d.origin(item), fmt::format("axis '{}': found {} values; allowed is one for each of its {} keys",
                                         axis.name(), texts.size(), axis.keys.size()));
      }
    } else {
      texts.push_back(d.scalar(item, fmt::format("a value of axis '{}'", axis.name())));
    }
    if (std::find(axis.values.begin(), axis.values.end(), texts) != axis.values.end()) {
      fail(d.origin(item), fmt::format("axis '{}': {} is given twice", axis.name(),
                                       in_quotes(fmt::format("{}", fmt::join(texts, ", ")))));
    }
    axis.values.push_back(std::move(texts));
  }
  return axis;
}

}  // namespace attnvp::explore
