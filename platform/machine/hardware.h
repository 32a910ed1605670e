// Machine configuration: YAML files and "key=value" overrides to a checked MachineConfig, with its keys of single cores
// and clusters, and the files of DRAM parts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/machine.h"
#include "models/memory/banked_dram/config.h"
#include "platform/machine/document.h"
#include "platform/machine/schema.h"

namespace attnvp::config {

// Table of all hardware keys, as declared by the models.
const Schema<MachineConfig>& hardware_schema();
// A hardware key, or a key of one core or cluster, "cores.1.mac.rows", "clusters.0.cores.1.mac.rows"; null: unknown.
// apply_setting checks whether the machine has that core and cluster.
std::shared_ptr<const Key<MachineConfig>> find_key(const std::string& path);
// Key that a kind `plugin:LIBRARY.so` sets in addition to the kind, "l1.library"; empty for other settings.
std::string library_key(const Setting& setting);
// Settings of a machine's file: `base`, its keys and those of single cores and clusters.
std::vector<Setting> machine_settings(const Document& file);
// All paths for which provenance can be stated (provenance.h).
std::vector<std::string> paths_of(const std::vector<Setting>& settings);

// Loads a name under configs/hardware or a path, applies the overrides in order ("l1.size=2 MiB"; the last of equal
// keys wins) and calls check_machine. Throws ConfigError with file and line, or the option.
// - Missing keys have the values of the `base:` (a name, or a path relative to the file), else the defaults.
// - `name` is not inherited: default is the file's name without .yaml.
// - A relative path under `energy` is relative to the file that contains it.
MachineConfig load_hardware(const std::string& name_or_path, const std::vector<std::string>& overrides = {});

// Sets one key; `dram.part` also sets the keys of the part's file. Checks key and range. Call finish_machine after the
// last setting.
void apply_setting(MachineConfig& machine, const Setting& setting);
void apply_override(MachineConfig& machine, const std::string& assignment);  // "l1.size=2 MiB"

// Derives values from other keys, then calls check_machine. A list of equal clusters becomes their number.
void finish_machine(MachineConfig& machine, const Origin& origin);

// Checks the range of every key, consistency of keys, and whether each kind can take its role. Messages begin with
// `origin` (a file, an option).
void check_machine(const MachineConfig& machine, const Origin& origin);

// All keys with their values, in table order: YAML that load_hardware reads back to the same machine.
std::string to_yaml(const MachineConfig& machine);
// 16 hexadecimal digits; equal for machines with equal values of all keys.
std::string machine_hash(const MachineConfig& machine);
// Records hash and overrides for outputs (files::note).
void note_machine(const MachineConfig& machine, const std::vector<std::string>& overrides);

// DRAM parts: files under configs/dram with the keys of BankedConfig.

// Applies a part's file, after its `base:`. Throws ConfigError with file and line.
void apply_dram_part(BankedConfig& config, const std::string& name_or_path);

// Address mapping: the entry of a name in configs/dram/mappings/names.yaml, or the text itself.
std::string dram_mapping(const std::string& name_or_text);

// Keys of single cores and clusters, in which they differ from the machine: "cores.1.mac.rows", "clusters.0.l1.size",
// "clusters.0.cores.1.mac.rows".

// A path's cluster and core, and the key of that instance: "mac.rows".
struct InstancePath {
  std::optional<std::uint32_t> cluster, core;
  std::string key;
  bool is_machine() const { return !cluster && !core; }
  std::string text() const;
};
InstancePath parse_instance(const std::string& path);

// Key of an instance; null: unknown.
std::shared_ptr<const Key<MachineConfig>> instance_key(const InstancePath& path);
// Paths of all keys of that instance.
std::vector<std::string> instance_paths(const InstancePath& instance);
// Lists that a machine's file may have, for Document::settings.
ListKeys instance_lists();

// Sets a key of an instance. "clusters.0.cores" must be the machine's number of cores.
void apply_instance(MachineConfig& machine, const Setting& setting);
// Removes the overrides that a new number (`path`: "cores", "clusters") ends.
void drop_instances(MachineConfig& machine, const std::string& path);

// Keys of core `k` of a cluster, or of cluster `c`, that differ from the machine's own values. Keys of a cluster's
// cores are those that differ from the same core of the machine with the cluster's other values.
std::vector<InstancePath> core_differences(const MachineConfig& machine, std::uint32_t k);
std::vector<InstancePath> cluster_differences(const MachineConfig& machine, std::uint32_t c);

}  // namespace attnvp::config
