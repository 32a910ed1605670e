
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "explore/validate/validate.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/report/table.h"

namespace attnvp::validate {

namespace {

using config::ConfigError;
using config::KeyUnit;

constexpr std::size_t kMostKeys = 3;
constexpr double kFirstStep = 0.3, kLastStep = 0.04;  // factors e^step and e^-step

// Formats the number as a setting.
std::string written(KeyUnit unit, double value) {
  switch (unit) {
    case KeyUnit::kTime:
      return fmt::format("{:.4g}ns", value * 1e9);
    case KeyUnit::kFrequency:
      return fmt::format("{:.5g}MHz", value / 1e6);
    case KeyUnit::kBandwidth:
      return fmt::format("{:.5g}GB/s", value / 1e9);
    case KeyUnit::kBytesPerCycle:
      return fmt::format("{:.0f}B/cycle", value);
    case KeyUnit::kBytes:
      return fmt::format("{:.0f}B", value);
    case KeyUnit::kEnergy:
      return fmt::format("{:.4g}pJ", value);
    case KeyUnit::kVoltage:
      return fmt::format("{:.4g}V", value);
    case KeyUnit::kPower:
      return fmt::format("{:.4g}W", value);
    default:
      return fmt::format("{:.0f}", value);
  }
}

struct CalibratedKey {
  const config::KeyInfo* key = nullptr;
  double value = 0;
  std::string text() const {
    return written(key->unit, key->power_of_two ? std::exp2(std::round(std::log2(value))) : value);
  }
  bool allowed() const {
    try {
      config::parse_value(*key, text());
      return true;
    } catch (const ConfigError&) {
      return false;
    }
  }
};

const config::Key<MachineConfig>& number_key(const std::string& name) {
  const auto key = config::find_key(name);
  if (key == nullptr) {
    throw ConfigError(fmt::format("--key {}: the key is unknown{}", config::in_quotes(name),
                                  config::hint(name, config::hardware_schema().paths(), "attnvp describe keys")));
  }
  if (key->type != config::Type::kInteger && key->type != config::Type::kReal) {
    throw ConfigError(
        fmt::format("--key {}: not a number; allowed are keys such as dram.bandwidth", config::in_quotes(name)));
  }
  return *key;
}

CalibratedKey dimension_of(const MachineConfig& machine, const std::string& name) {
  const auto& key = number_key(name);
  const config::Value value = key.get(machine);
  const auto* whole = std::get_if<std::uint64_t>(&value);
  const CalibratedKey d{&key, whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value)};
  if (!(d.value > 0)) {
    throw ConfigError(fmt::format("--key {}: it is 0; --set gives it a value to begin with", config::in_quotes(name)));
  }
  return d;
}

}  // namespace

Fit calibrate(const std::string& path, const DataSetOptions& options, const std::vector<std::string>& keys,
              const std::function<void(const std::string&)>& progress, const RowProgress& rows) {
  if (keys.size() > kMostKeys) {
    throw ConfigError(
        fmt::format("--key: found {} keys; allowed are at most {}, as more fit anything", keys.size(), kMostKeys));
  }
  for (auto key = keys.begin(); key != keys.end(); ++key) {
    number_key(*key);
    if (std::find(keys.begin(), key, *key) != key) {
      throw ConfigError(fmt::format("--key {}: it is given twice", config::in_quotes(*key)));
    }
  }
  const SetResult first = validate(path, options, rows);
  Fit fit{first.set, first.hardware, {}, first.errors, first.errors, 1};
  const MachineConfig machine =
      config::load_hardware(options.hardware.empty() ? first.hardware : options.hardware, options.settings);
  std::vector<CalibratedKey> at;
  for (const std::string& key : keys) {
    at.push_back(dimension_of(machine, key));
    fit.values.push_back({key, at.back().text(), at.back().text()});
  }
  const auto run = [&](const std::vector<CalibratedKey>& point) {
    DataSetOptions there = options;
    for (const CalibratedKey& d : point) there.settings.push_back(d.key->path + "=" + d.text());
    ++fit.runs;
    return validate(path, there, rows).errors;
  };
  for (double step = kFirstStep; step >= kLastStep; step /= 2) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (const double direction : {step, -step}) {
        std::vector<CalibratedKey> next = at;
        const double least = next[i].key->power_of_two ? std::log(2.0) : 0;
        next[i].value *= std::exp(std::copysign(std::max(std::abs(direction), least), direction));
        if (next[i].text() == at[i].text() || !next[i].allowed()) continue;
        const Errors errors = run(next);
        progress(fmt::format("{}={}: mean error {:.2f}%", next[i].key->path, next[i].text(), 100 * errors.mape));
        if (errors.mape >= fit.after.mape) continue;
        fit.after = errors;
        at = next;
        break;
      }
    }
  }
  for (std::size_t i = 0; i < at.size(); ++i) fit.values[i].after = at[i].text();
  return fit;
}

std::string to_text(const Fit& fit) {
  report::Table table;
  table.column("key", report::Table::Align::kLeft), table.column("before"), table.column("fitted");
  for (const Fit::FittedValue& v : fit.values) table.row({v.key, v.before, v.after});
  table.row({"mean error", report::percent(fit.before.mape), report::percent(fit.after.mape)});
  table.row({"worst error", report::percent(fit.before.worst), report::percent(fit.after.worst)});
  std::string text = fmt::format("{} on {}, {} runs of the set\n\n{}\nprovenance:\n", fit.set, fit.hardware, fit.runs,
                                 table.text(text::line_width()));
  for (const Fit::FittedValue& v : fit.values) {
    text += fmt::format("  {}: calibrated to set {}; mean error of the set {:.1f} %\n", v.key, fit.set,
                        100 * fit.after.mape);
  }
  return text;
}

}  // namespace attnvp::validate
