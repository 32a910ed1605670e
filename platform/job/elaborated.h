// A platform for as long as this lives; one at a time in a process.
#pragma once

#include <memory>
#include <vector>

#include "models/machine.h"
#include "models/partition.h"
#include "models/storage/host_memory.h"

namespace attnvp {
class Platform;
}

namespace attnvp::job {

class Elaborated {
 public:
  // `partitions`: of each cluster, where not all of them have one job. Throws host_memory::Exceeded.
  Elaborated(const MachineConfig& machine, bool full_data, std::vector<Partition> partitions = {});
  ~Elaborated();
  Elaborated(const Elaborated&) = delete;
  Elaborated& operator=(const Elaborated&) = delete;
  Platform& platform() { return *platform_; }

 private:
  host_memory::Share share_;
  std::unique_ptr<Platform> platform_;
};

}  // namespace attnvp::job
