#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "explore/serve/state.h"
#include "firmware/runtime/dataflow.h"
#include "platform/machine/catalog.h"
#include "platform/machine/hardware.h"
#include "platform/schedule/programs.h"
#include "platform/workload/keys.h"

namespace attnvp::explore {

namespace {

using nlohmann::ordered_json;

struct FormControl {
  const char* group;
  const char* path;
};
// Keys with controls on the page, in its order.
constexpr FormControl kControls[] = {
    {"Compute", "clusters"},
    {"Compute", "cores"},
    {"Compute", "clock"},
    {"Compute", "mac.rows"},
    {"Compute", "mac.columns"},
    {"Compute", "vec.lanes"},
    {"On-chip memory", "l1.size"},
    {"On-chip memory", "l1.banks"},
    {"On-chip memory", "l1.ports"},
    {"On-chip memory", "l0.size"},
    {"DRAM and DMA", "dram.policy"},
    {"DRAM and DMA", "dram.type"},
    {"DRAM and DMA", "dram.size"},
    {"DRAM and DMA", "dram.bandwidth"},
    {"DRAM and DMA", "dram.latency"},
    {"DRAM and DMA", "dma.outstanding"},
    {"Control and technology", "control.cpu"},
    {"Control and technology", "tech"},
    {"Control and technology", "voltage"},
};

ordered_json entries_of(config::Folder folder) {
  ordered_json entries = ordered_json::array();
  for (const config::CatalogEntry& e : config::list(folder)) {
    entries.push_back({{"name", e.name}, {"description", e.description}});
  }
  return entries;
}

const char* type_of(const config::KeyInfo& key) {
  switch (key.type) {
    case config::Type::kInteger:
    case config::Type::kReal:
      return "number";
    case config::Type::kChoice:
      return "choice";
    case config::Type::kBool:
      return "flag";
    case config::Type::kString:
      break;
  }
  return "text";
}

const char* unit_of(const config::KeyInfo& key) {
  switch (key.unit) {
    case config::KeyUnit::kBytes:
      return "bytes";
    case config::KeyUnit::kBytesPerCycle:
      return "B/cycle";
    case config::KeyUnit::kFrequency:
      return "Hz";
    case config::KeyUnit::kBandwidth:
      return "B/s";
    case config::KeyUnit::kTime:
      return "s";
    case config::KeyUnit::kEnergy:
      return "pJ";
    case config::KeyUnit::kVoltage:
      return "V";
    case config::KeyUnit::kPower:
      return "W";
    case config::KeyUnit::kCount:
    case config::KeyUnit::kCycles:
      break;
  }
  return "";
}

ordered_json key_json(const config::Key<MachineConfig>& key, const MachineConfig& machine, const char* group) {
  const config::Value value = key.get(machine);
  ordered_json j{{"path", key.path},
                 {"group", group},
                 {"type", type_of(key)},
                 {"unit", unit_of(key)},
                 {"text", config::format_value(key, value)},
                 {"meaning", key.meaning}};
  if (key.type == config::Type::kInteger) j["value"] = std::get<std::uint64_t>(value);
  if (key.type == config::Type::kReal) j["value"] = std::get<double>(value);
  if (j.contains("value")) {
    j["minimum"] = key.minimum;
    j["maximum"] = key.maximum;
    j["whole"] = key.type == config::Type::kInteger;
    j["power_of_two"] = key.power_of_two;
  }
  for (const std::string& name : key.names) {
    if (name != "plugin") j["names"].push_back(name);
  }
  return j;
}

}  // namespace

ordered_json catalogue_json() {
  ordered_json dataflows = ordered_json::array();
  for (const firmware::Dataflow* d : schedule::compiled_firmware().dataflows()) {
    dataflows.push_back({{"name", d->name}, {"description", d->description}});
  }
  ordered_json types = ordered_json::array();
  if (const auto* type = workload::network_schema().find("type"); type != nullptr) {
    for (const std::string& name : type->names) types.push_back(name);
  }
  return {{"hardware", entries_of(config::Folder::kHardware)},
          {"local", local_machines()},
          {"networks", entries_of(config::Folder::kNetworks)},
          {"dataflows", dataflows},
          {"types", types}};
}

ordered_json machine_json(const ServerState& state) {
  check_access(state);
  const MachineConfig machine = config::load_hardware(state.hardware, state.overrides());
  ordered_json keys = ordered_json::array(), others = ordered_json::array();
  for (const FormControl& control : kControls) {
    const auto key = config::find_key(control.path);
    if (key != nullptr) keys.push_back(key_json(*key, machine, control.group));
  }
  for (const auto& key : config::hardware_schema().keys()) {
    const bool has_control = std::any_of(std::begin(kControls), std::end(kControls),
                                         [&](const FormControl& c) { return key.path == c.path; });
    if (!has_control && key.type != config::Type::kString) others.push_back(key_json(key, machine, "Other keys"));
  }
  return {{"keys", keys}, {"others", others}};
}

}  // namespace attnvp::explore
