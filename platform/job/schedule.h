// A dataflow with its options and parameters.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/machine.h"
#include "platform/config/error.h"
#include "platform/config/network.h"
#include "platform/job/tiling.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

// The simulated machine or its firmware failed: exit status 1.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A tiling that the layer, the dataflow or the machine does not take: exit status 2.
struct TilingError : config::ConfigError {
  using config::ConfigError::ConfigError;
};

struct Schedule {
  const schedule::FirmwareImage* firmware = &schedule::compiled_firmware();  // that has the dataflow
  std::string dataflow;
  std::vector<std::uint32_t> options;  // index of the value per option, in the dataflow's order
  std::string text;                    // as given: "flat:prefetch=off"
  Tiling tiling;

  const firmware::Dataflow& declaration() const { return *firmware->find(dataflow); }
};
// "NAME" or "NAME:option=value,...". Throws config::ConfigError naming what exists.
Schedule parse_dataflow(const std::string& text,
                        const schedule::FirmwareImage& firmware = schedule::compiled_firmware());

// Whether the schedule's dataflow is that, with the values that its parameters have.
bool has(const Schedule& schedule, firmware::Trait trait);

// Those that make what that network is: attention, a chain, or that step of a layer.
std::vector<const firmware::Dataflow*> dataflows_for(
    const config::Network& network, const schedule::FirmwareImage& firmware = schedule::compiled_firmware());

// What a layer's or a step's tensors take in DRAM; without the result of a step, and scores.
struct TensorBytes {
  std::uint64_t q, k, v, o;
};
TensorBytes tensor_bytes(const config::Network& network);

// What the host leaves in the mailbox for a schedule's firmware: tensors placed in DRAM, the machine as firmware sees
// it, parameters as far as they are given. Throws config::ConfigError where the layer and the dataflow or the machine
// do not go together, or a parameter is larger than the layer.
schedule::Job make_job(const MachineConfig& machine, const config::Network& network, const Schedule& schedule);

// Of the result that the schedule leaves at Layer::o; 0 where it has none to look at.
std::uint64_t result_bytes(const config::Network& network, const Schedule& schedule);

// Throws TilingError naming a parameter that the schedule leaves open: only complete schedules run.
void check_complete(const Schedule& schedule);

// Why firmware of a cluster did not do the job, in one clause.
std::string refusal(const hal::JobResult& answer, const firmware::Dataflow& dataflow);

}  // namespace attnvp::job
