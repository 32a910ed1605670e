// Keys of single cores and clusters, in which they differ from the machine: "cores.1.mac.rows", "clusters.0.l1.size",
// "clusters.0.cores.1.mac.rows".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/machine/document.h"

namespace attnvp::config {

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
