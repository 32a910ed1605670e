#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "explore/sweep/plan.h"
#include "models/control/config.h"
#include "models/registry.h"
#include "platform/base/random.h"
#include "platform/machine/catalog.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

namespace {

using config::Document;
using config::fail;
using config::in_quotes;

const std::vector<std::string> kKeys = {"kind",     "samples", "seed", "data", "hardware",   "network",
                                        "dataflow", "tiling",  "set",  "axes", "constraints"};
constexpr std::uint64_t kMostSamples = 1000000;

std::uint64_t whole_number(const Document& d, const char* key, std::uint64_t least, std::uint64_t most) {
  const config::YamlNode node = d.root()[key];
  const std::string text = d.scalar(node, fmt::format("key '{}'", key));
  try {
    const std::uint64_t value = config::parse_integer(config::KeyUnit::kCount, text);
    if (value < least || value > most) {
      throw config::ConfigError(fmt::format("found '{}'; allowed is {} to {}", value, least, most));
    }
    return value;
  } catch (const config::ConfigError& problem) {
    fail(d.origin(node), fmt::format("key '{}': {}", key, problem.what()));
  }
}

// Index of one of several names; the first is the default.
std::size_t choice(const Document& d, const char* key, const std::vector<std::string>& names) {
  const config::YamlNode node = d.root()[key];
  if (!node) return 0;
  const std::string text = d.scalar(node, fmt::format("key '{}'", key));
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    fail(d.origin(node), fmt::format("key '{}': found {}; allowed: {}", key, in_quotes(text), fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

void read_settings(const Document& d, SweepFile& sweep) {
  const config::YamlNode node = d.root()["set"];
  if (!node) return;
  std::vector<std::string> allowed = config::hardware_schema().paths();
  for (const auto& entry : node) {  // includes keys of single cores
    if (entry.first.is_scalar() && config::find_key(entry.first.scalar()) != nullptr) {
      allowed.push_back(entry.first.scalar());
    }
  }
  d.require_keys(node, "key 'set'", allowed);
  for (const auto& entry : node) {
    const std::string key = entry.first.scalar();
    const config::Origin origin = d.origin(entry.first);
    const std::string text = d.scalar(entry.second, fmt::format("key '{}'", key));
    const std::string_view trimmed = config::trimmed(text);
    const config::KeyInfo info = *config::find_key(key);
    if (trimmed.empty() || trimmed[0] != '=') {
      config::parse_setting(info, {key, text, origin});
      sweep.settings.push_back({key, text, origin});
      continue;
    }
    if (info.type != config::Type::kInteger && info.type != config::Type::kReal) {
      fail(origin, fmt::format("key '{}': found an expression; allowed is {}", key, config::allowed_range(info)));
    }
    Derived derived{key, Expression::number(std::string(trimmed.substr(1)), input_symbols(), origin), origin};
    if (derived.expression.type().dimension != dimension_of(info.unit)) {
      fail(origin, fmt::format("key '{}': the expression is in {}, the key in {}", key,
                               to_string(derived.expression.type().dimension), to_string(dimension_of(info.unit))));
    }
    sweep.derived.push_back(std::move(derived));
  }
}

void read_axes(const Document& d, SweepFile& sweep) {
  const config::YamlNode node = d.root()["axes"];
  if (!node || (node.is_map() && node.size() == 0)) return;
  d.require_map(node, "key 'axes'");
  std::map<std::string, int> lines;
  for (const config::Setting& s : sweep.settings) lines[s.path] = s.origin.line;
  for (const Derived& s : sweep.derived) lines[s.key] = s.origin.line;
  for (const auto& entry : node) {
    Axis axis = parse_axis(d, d.scalar(entry.first, "an axis"), d.origin(entry.first), entry.second,
                           sweep.kind == SweepKind::kGrid);
    for (const std::string& key : axis.keys) {
      const auto [first, inserted] = lines.emplace(key, axis.origin.line);
      if (!inserted) fail(axis.origin, fmt::format("key '{}' is given twice, first in line {}", key, first->second));
    }
    sweep.axes.push_back(std::move(axis));
  }
}

// A scalar or list that is combined with all points; `by_default` is the default value.
Axis read_crossed(const Document& d, const SweepFile& sweep, const std::string& key, const char* by_default) {
  Axis axis;
  axis.keys = {key};
  axis.origin = {d.source()};
  const auto is_it = [&](const Axis& a) { return std::find(a.keys.begin(), a.keys.end(), key) != a.keys.end(); };
  const auto other = std::find_if(sweep.axes.begin(), sweep.axes.end(), is_it);
  const config::YamlNode node = d.root()[key];
  if (!node) {
    if (other == sweep.axes.end()) axis.values = {{by_default}};
    return axis;
  }
  axis.origin = d.origin(node);
  if (other != sweep.axes.end()) {
    fail(axis.origin,
         fmt::format("key '{}' is an axis too, in line {}; allowed is one of the two", key, other->origin.line));
  }
  if (node.is_list()) return parse_axis(d, key, axis.origin, node, true);
  axis.values = {{d.scalar(node, fmt::format("key '{}'", key))}};
  return axis;
}

// Absolute path, so that rows and their commands do not depend on the working directory.
std::string absolute(const std::string& folder, const std::string& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(std::filesystem::path(folder) / path), error)
      .string();
}

// Resolves file names in a value relative to the sweep's folder.
std::string settled(const std::string& key, const std::string& text, const std::string& folder) {
  constexpr std::string_view kPlugin = "plugin:";
  const auto one_of = [&](std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (key == "network") return workload::with_absolute_paths(text, folder);
  if (one_of({"hardware", "tiling", "energy", "dram.part"}) && config::is_path(text)) return absolute(folder, text);
  if (key == "control.firmware" && text != RiscvConfig::kShipped) return absolute(folder, text);
  if (text.find('/') == std::string::npos) return text;  // a library found by the host's loader
  for (const Slot& place : slots()) {
    if (key == fmt::format("{}.library", place.name)) return absolute(folder, text);
    if (key == fmt::format("{}.{}", place.name, place.key) && text.compare(0, kPlugin.size(), kPlugin) == 0) {
      return std::string(kPlugin) + absolute(folder, text.substr(kPlugin.size()));
    }
  }
  return text;
}

// Checks and resolves all values of an axis.
void settle_values(Axis& axis, const std::string& folder) {
  for (auto& texts : axis.values) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      texts[i] = settled(axis.keys[i], texts[i], folder);
      check_axis_value(axis.keys[i], texts[i], axis.origin);
    }
  }
}

void read_constraints(const Document& d, SweepFile& sweep) {
  const config::YamlNode node = d.root()["constraints"];
  if (!node) return;
  d.require_list(node, "key 'constraints'");
  for (const config::YamlNode& item : node) {
    const config::Origin origin = d.origin(item);
    sweep.constraints.emplace_back(Expression::condition(d.scalar(item, "a constraint"), input_symbols(), origin),
                                   origin);
  }
}

}  // namespace

SweepFile load_sweep(const std::string& name_or_path) {
  const std::string path = config::find_config(config::Folder::kSweeps, name_or_path);
  const Document d = Document::load(path);
  d.require_keys(d.root(), "the file", kKeys);
  SweepFile sweep;
  sweep.source = d.source();
  sweep.name = std::filesystem::path(path).stem().string();
  sweep.kind = static_cast<SweepKind>(choice(d, "kind", {"grid", "random", "lhs"}));
  sweep.full = choice(d, "data", {"timing", "full"}) == 1;
  const bool samples = static_cast<bool>(d.root()["samples"]);
  if (samples && sweep.kind == SweepKind::kGrid) {
    fail(d.origin(d.root()["samples"]), "key 'samples' is for kind random or lhs; a grid takes every point");
  }
  if (!samples && sweep.kind != SweepKind::kGrid) {
    fail({d.source()}, "key 'samples' is missing: how many points to take");
  }
  if (samples) sweep.samples = whole_number(d, "samples", 1, kMostSamples);
  if (d.root()["seed"]) sweep.seed = whole_number(d, "seed", 0, ~std::uint64_t{0});
  read_settings(d, sweep);
  read_axes(d, sweep);
  const std::map<std::string, const char*> defaults = {
      {"hardware", "edge"}, {"network", "bert-base"}, {"dataflow", "mas"}, {"tiling", "default"}};
  for (const std::string& key : kChoices) sweep.crossed.push_back(read_crossed(d, sweep, key, defaults.at(key)));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  for (Axis& axis : sweep.axes) settle_values(axis, folder);
  for (Axis& axis : sweep.crossed) settle_values(axis, folder);
  for (config::Setting& s : sweep.settings) s.text = settled(s.path, s.text, folder);
  read_constraints(d, sweep);
  return sweep;
}

namespace {

constexpr std::uint64_t kTriesPerSample = 100;

// Set of points drawn so far. Small axes repeat points often, so sampling stops after a number of repetitions far above
// the expected one.
class Tried {
 public:
  bool is_new(const SweepPoint& point) {
    std::string text;
    for (const std::string& part : point) text += part + '\n';
    const bool added = seen_.insert(std::move(text)).second;
    repeats_ = added ? 0 : repeats_ + 1;
    return added;
  }
  bool exhausted() const { return repeats_ > 1000 + 20 * seen_.size(); }

 private:
  std::unordered_set<std::string> seen_;
  std::uint64_t repeats_ = 0;
};

void append(SweepPoint& point, std::vector<std::string> texts) {
  for (std::string& text : texts) point.push_back(std::move(text));
}

void grid(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  std::vector<std::size_t> at(sweep.axes.size(), 0);
  for (;;) {
    SweepPoint point;
    for (std::size_t a = 0; a < at.size(); ++a) append(point, sweep.axes[a].values[at[a]]);
    accept(point);
    std::size_t a = at.size();
    while (a > 0 && ++at[a - 1] == sweep.axes[a - 1].values.size()) at[--a] = 0;
    if (a == 0) return;
  }
}

void random(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  RandomSource generator(sweep.seed);
  Tried tried;
  std::uint64_t accepted = 0;
  for (std::uint64_t tries = 0; accepted < sweep.samples && tries < kTriesPerSample * sweep.samples; ++tries) {
    if (tried.exhausted()) return;
    SweepPoint point;
    for (const Axis& axis : sweep.axes) append(point, axis.at(generator.unit()));
    if (tried.is_new(point) && accept(point)) ++accepted;
  }
}

void latin_hypercube(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  RandomSource generator(sweep.seed);
  std::vector<std::vector<std::uint64_t>> strata(sweep.axes.size());
  for (auto& order : strata) {
    order.resize(sweep.samples);
    std::iota(order.begin(), order.end(), 0);
    for (std::uint64_t i = sweep.samples; i > 1; --i) std::swap(order[i - 1], order[generator.below(i)]);
  }
  Tried tried;
  for (std::uint64_t s = 0; s < sweep.samples; ++s) {
    SweepPoint point;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
      const double share = (static_cast<double>(strata[a][s]) + generator.unit()) / static_cast<double>(sweep.samples);
      append(point, sweep.axes[a].at(share));
    }
    if (tried.is_new(point)) accept(point);
  }
}

}  // namespace

double grid_size(const std::vector<Axis>& axes) {
  double size = 1;
  for (const Axis& axis : axes) size *= static_cast<double>(axis.values.size());
  return size;
}

void for_each_point(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept) {
  switch (sweep.kind) {
    case SweepKind::kGrid:
      return grid(sweep, accept);
    case SweepKind::kRandom:
      return random(sweep, accept);
    case SweepKind::kLatinHypercube:
      return latin_hypercube(sweep, accept);
  }
}

}  // namespace attnvp::explore
