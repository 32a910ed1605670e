// A job at its place in a platform: what the host leaves there for firmware before a run, and finds there behind it.
#pragma once

#include <cstdint>
#include <string>

#include "models/partition.h"
#include "models/storage/host_memory.h"
#include "platform/job/job.h"
#include "platform/schedule/bus.h"

namespace attnvp::job {

class Placed {
 public:
  // Leaves everything at its place. `machine`: as the job's firmware sees it, which is the platform's, or a partition's
  // of it. Network, schedule (complete) and tensors outlive this; tensors count in full mode only.
  Placed(Platform& platform, const Partition& partition, const MachineConfig& machine, const config::Network& network,
         const Schedule& schedule, const Tensors* tensors);

  void tag() const;  // the tensors, for the accounts of a platform that has this one job
  // Statistics and workers. Throws RunError for a firmware status other than done.
  void read_answers(Result& result) const;
  // Output and golden check, in full mode.
  void read_output(Result& result, bool check_golden) const;
  std::string what() const;  // "bert-base on edge with mas"

 private:
  void write(std::uint64_t address, const void* data, std::size_t bytes) const;  // the job's addresses
  void read(std::uint64_t address, void* data, std::size_t bytes) const;
  void put_tables();
  void put_tensors() const;

  Platform& platform_;
  const Partition partition_;
  const MachineConfig machine_;
  const config::Network& network_;
  const Schedule& schedule_;
  const Tensors* tensors_;
  schedule::Job made_;
  std::uint64_t scratch_ = 0;
  Quantised kept_;
  host_memory::Share pages_;
};

// Cycles that the layer takes at least, of the arrays and the DRAM bus, as if no mask hid anything.
double ideal_cycles(const config::Network& network, const MachineConfig& machine);

// Throws StoppedError where a run ended by a fault, or a deadlock, or left commands behind.
void check_ended(Platform& platform, const std::string& what);

}  // namespace attnvp::job
