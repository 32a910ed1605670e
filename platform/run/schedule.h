// Schedule: a dataflow with its options and parameters, such as tile sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/machine.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/schema.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/programs.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

// Parameters of a schedule by name: tile sizes and numbers of buffers. Parameters that are not given are open; the
// search chooses them (platform/schedule).

class Tiling {
 public:
  using TileParameter = std::pair<std::string, std::uint32_t>;
  Tiling() = default;
  explicit Tiling(const schedule::FirmwareImage& firmware) : firmware_(&firmware) {}
  Tiling(std::initializer_list<TileParameter> entries);  // of the compiled firmware

  std::uint32_t operator[](std::string_view name) const;  // 0: open; hal::kWord: the parameter's keyword
  std::uint32_t used(std::string_view name) const;        // 0 also for the parameter's keyword
  void set(std::string_view name, std::uint32_t value);   // 0: open
  bool empty() const { return entries_.empty(); }
  const std::vector<TileParameter>& entries() const { return entries_; }
  bool operator==(const Tiling& o) const { return entries_ == o.entries_; }
  bool operator!=(const Tiling& o) const { return entries_ != o.entries_; }

  const schedule::FirmwareImage& firmware() const { return *firmware_; }

 private:
  const schedule::FirmwareImage* firmware_ = &schedule::compiled_firmware();
  std::vector<TileParameter> entries_;  // given parameters, in the order of the firmware's parameters
};

// Whether a parameter of that name has a keyword, in some dataflow of the compiled firmware.
bool has_words(std::string_view name);

// Parameters of the compiled firmware as documented keys.
std::vector<config::KeyInfo> tiling_keys();

// Parses "nq=64,nkv=512,...", a name under configs/tilings or a path of a YAML file with those keys. Throws
// config::ConfigError for a name or value that no dataflow supports.
Tiling parse_tiling(const std::string& text, const schedule::FirmwareImage& firmware = schedule::compiled_firmware());
// Names and values in order: numbers or keywords ("stream"). Parsing them gives the same tiling.
using TilingText = std::vector<std::pair<std::string, std::string>>;
TilingText tiling_text(const Tiling& tiling);
// For output: without keywords of unused parameters.
TilingText tiling_in_short(const Tiling& tiling);
std::string tiling_line(const Tiling& tiling);    // "nq=64 kv=stream"
std::string tiling_option(const Tiling& tiling);  // all parameters, for parse_tiling: "nq=64,kv=stream"

// A number, or the parameter's keyword for hal::kWord.
std::string value_text(const Tiling& tiling, std::string_view name);

// Words of the job block in the dataflow's order; 0: open. Throws config::ConfigError for a parameter that the dataflow
// does not have, or a value above its maximum.
std::vector<std::uint32_t> words_of(const Tiling& tiling, const firmware::Dataflow& dataflow);
Tiling tiling_of(const std::vector<std::uint32_t>& words, const firmware::Dataflow& dataflow,
                 const schedule::FirmwareImage& firmware);

// Parser of "a=1,b=2" on the command line. Each key at most once. Throws config::ConfigError.
std::vector<config::Setting> split_settings(std::string_view list, const config::Origin& origin);

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

bool is_complete(const Schedule& schedule);  // no parameter is open
// Throws TilingError naming a parameter that is open.
void check_complete(const Schedule& schedule);

// Why a cluster's firmware refused the job, in one clause.
std::string refusal(const hal::JobResult& answer, const firmware::Dataflow& dataflow);

}  // namespace attnvp::job
