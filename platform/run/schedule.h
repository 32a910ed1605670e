// Schedule: a dataflow with its options and parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/machine.h"
#include "platform/machine/error.h"
#include "platform/run/tiling.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/programs.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

// Failure of the simulated machine or its firmware; exit status 1.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Tiling that the layer, dataflow or machine does not support; exit status 2.
struct TilingError : config::ConfigError {
  using config::ConfigError::ConfigError;
};

struct Schedule {
  const schedule::FirmwareImage* firmware = &schedule::compiled_firmware();  // contains the dataflow
  std::string dataflow;
  std::vector<std::uint32_t> options;  // index of the value of each option, in the dataflow's order
  std::string text;                    // as given: "flat:prefetch=off"
  Tiling tiling;

  const firmware::Dataflow& declaration() const { return *firmware->find(dataflow); }
};
// Parses "NAME" or "NAME:option=value,...". Throws config::ConfigError that lists the allowed names.
Schedule parse_dataflow(const std::string& text,
                        const schedule::FirmwareImage& firmware = schedule::compiled_firmware());

// Whether the dataflow has a trait with the given values of its parameters.
bool has(const Schedule& schedule, firmware::Trait trait);

// Dataflows for the network: attention, a product chain, or a step of a layer.
std::vector<const firmware::Dataflow*> dataflows_for(
    const workload::Workload& network, const schedule::FirmwareImage& firmware = schedule::compiled_firmware());

// Bytes of the tensors in DRAM, without scores and without the result of a step.
struct TensorBytes {
  std::uint64_t q, k, v, o;
};
TensorBytes tensor_bytes(const workload::Workload& network);

// The machine as seen by firmware: the fastest core (ties: the first), with the minimum of each resource over all
// cores and clusters.
hal::MachineInfo machine_info(const MachineConfig& machine, const workload::Workload& workload);
// Weights of cores by their speed on the layer; none if all are equal. The speed is limited by an even share of DRAM;
// `dram_cycles`: cycles of the whole DRAM for a score.
std::optional<hal::Cores> heterogeneous_cores(const MachineConfig& machine, const workload::Workload& workload,
                                              double dram_cycles);
// Weights of clusters and of their cores, likewise; none if all clusters are equally fast.
struct UnequalClusters {
  hal::Cores fastest;
  hal::Clusters clusters;
  std::vector<hal::Cores> kinds;
};
std::optional<UnequalClusters> unequal_clusters(const MachineConfig& machine, const workload::Workload& workload,
                                                double dram_cycles);

// Makes the mailbox contents for the firmware: tensor addresses in DRAM, the machine as seen by firmware, and given
// parameters. Throws config::ConfigError if layer, dataflow and machine do not fit, or a parameter exceeds the layer.
schedule::Job make_job(const MachineConfig& machine, const workload::Workload& network, const Schedule& schedule);

// Bytes of the result at Layer::o; 0: no result.
std::uint64_t result_bytes(const workload::Workload& network, const Schedule& schedule);

// Throws TilingError naming a parameter that is open.
void check_complete(const Schedule& schedule);

// Why a cluster's firmware refused the job, in one clause.
std::string refusal(const hal::JobResult& answer, const firmware::Dataflow& dataflow);

}  // namespace attnvp::job
