// Machines: YAML files and "key=value" overrides to MachineConfig, checked.
#pragma once

#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/config/schema.h"

namespace attnvp::config {

// The one table of hardware keys: what the models declare.
const Schema<MachineConfig>& hardware_schema();
// One of them, or a key of one core, "cores.1.mac.rows"; nullptr: there is none. Whether a machine has that core is for
// apply_setting to say.
const Key<MachineConfig>* find_key(const std::string& path);
// Paths of core `k`'s keys.
std::vector<std::string> core_paths(std::uint32_t k);
// The key that `plugin:LIBRARY.so` as a kind sets beside the kind, "l1.library"; empty for other settings.
std::string library_key(const Setting& setting);
// The settings of a machine's file: `base`, its keys and those of single cores.
std::vector<Setting> machine_settings(const Document& file);
// All paths that such settings may be stated of (provenance.h).
std::vector<std::string> paths_of(const std::vector<Setting>& settings);

// A name under configs/hardware or a path, then the overrides in order ("l1.size=2 MiB"; of equal keys the
// last wins), then check_machine. Keys the file leaves out have the base's values if it has a `base:` key (a
// name, or a path relative to the file), else the defaults. `name` is never inherited: it is the file's name
// without .yaml unless given. A relative path under `energy` is taken relative to the file that says it.
// Throws ConfigError with file and line, or the option.
MachineConfig load_hardware(const std::string& name_or_path, const std::vector<std::string>& overrides = {});

// Sets one key; `dram.part` sets those of the part's file, too. Checks the key and its range; call finish_machine after
// the last one.
void apply_setting(MachineConfig& machine, const Setting& setting);
void apply_override(MachineConfig& machine, const std::string& assignment);  // "l1.size=2 MiB"

// What follows from other keys, then check_machine.
void finish_machine(MachineConfig& machine, const Origin& origin);

// Every key within its range, the keys consistent with each other, and every kind able to stand where it is to.
// `origin` (a file, an option) opens the message.
void check_machine(const MachineConfig& machine, const Origin& origin);

// All keys with their values, in the table's order: YAML that load_hardware reads back to the same machine.
std::string to_yaml(const MachineConfig& machine);
// Equal for machines that are alike in every key: 16 hexadecimal digits.
std::string machine_hash(const MachineConfig& machine);
// What outputs say of the machine (files::note): its hash, and the overrides.
void note_machine(const MachineConfig& machine, const std::vector<std::string>& overrides);

}  // namespace attnvp::config
