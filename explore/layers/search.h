// Search of tile sizes for all operations of a layer, graph or model, one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "platform/workload/layers.h"

namespace attnvp::explore {

struct OperationSearch {
  std::string group, name;
  job::Schedule schedule;   // dataflow
  std::uint64_t times = 1;  // of the operation in all layers
  TuningResult result;      // of one time
};

struct LayerSearch {
  std::vector<OperationSearch> operations;
  // Of all times together. An energy-delay product is that of the sums of energy and of time.
  double best = 0, bound = 0;
  double gap() const { return bound > 0 ? best / bound - 1 : 0; }
};

struct LayerSearchOptions {
  TuningOptions tuning;  // for each operation; `is_stopped` and `progress` are set by the search
  double seconds = 0;    // wall time of all operations, in equal parts; 0: no limit
  std::function<bool()> is_stopped;
  std::function<void(const std::string& operation, const TuningProgress&)> progress;
};

// Equal operations are searched once. After a stop each operation has at least one tiling that fits. `dataflow` is that
// of attention. Throws as search does.
LayerSearch search_layers(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                          const config::EnergyTable& energy, const LayerSearchOptions& options);

}  // namespace attnvp::explore
