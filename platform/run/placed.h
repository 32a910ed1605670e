// A job placed in a platform: inputs that the host writes for firmware before a run, and results that it reads after
// it.
#pragma once

#include <cstdint>
#include <string>

#include "models/interconnect/address_map.h"
#include "models/memory/storage/host_memory.h"
#include "platform/run/job.h"
#include "platform/schedule/bus.h"

namespace attnvp::job {

class Placed {
 public:
  // Writes all inputs. `machine`: as the job's firmware sees it, the platform's or a partition's. The complete schedule
  // and the tensors must outlive this object; tensors are used in full mode only.
  Placed(Platform& platform, const Partition& partition, const MachineConfig& machine,
         const workload::Workload& network, const Schedule& schedule, const Tensors* tensors);

  void tag() const;  // tensors, for the stall attribution of a platform with one job
  // Reads statistics and workers. Throws RunError for a firmware status other than done.
  void read_answers(RunResult& result) const;
  // Reads the output and runs the golden check, in full mode.
  void read_output(RunResult& result, bool check_golden) const;
  std::string what() const;  // "bert-base on edge with mas"

 private:
  void write(std::uint64_t address, const void* data, std::size_t bytes) const;  // the job's addresses
  void read(std::uint64_t address, void* data, std::size_t bytes) const;
  bool converts() const {  // the last operation is kConvert
    if (network_.gemm() != nullptr) return network_.gemm()->fusion.out.has_value();
    return network_.rows() != nullptr && network_.rows()->opcode == hal::Opcode::kConvert;
  }
  void read_cached(const workload::Gemm& product, std::vector<arith::Half>& result) const;
  void put_tables();
  void put_tensors() const;

  Platform& platform_;
  const Partition partition_;
  const MachineConfig machine_;
  const workload::Workload network_;
  const Schedule& schedule_;
  const Tensors* tensors_;
  schedule::Job made_;
  std::uint64_t scratch_ = 0;
  Quantised kept_;
  host_memory::MemoryShare pages_;
};

// Lower bound of cycles by the MAC and VEC arrays and the DRAM bus, without masks.
double ideal_cycles(const workload::Workload& network, const MachineConfig& machine);

// Throws StoppedError after a fault, a deadlock, or with unfinished commands.
void check_ended(Platform& platform, const std::string& what);

}  // namespace attnvp::job
