#include "platform/job/elaborated.h"

#include <fmt/format.h>

#include <utility>

#include "firmware/runtime/boot.h"
#include "platform/elaboration/platform.h"

namespace attnvp::job {

namespace {

// Measured: what SystemC and the models take of the host for modules, sockets and stacks of threads.
std::uint64_t elaborated_bytes(const MachineConfig& m) {
  constexpr std::uint64_t kBytesOfCluster = 250'000, kBytesOfCore = 125'000;
  return m.clusters * (kBytesOfCluster + m.cores * kBytesOfCore);
}
std::string elaborated_part(const MachineConfig& m) {
  return fmt::format("a machine of {} clusters of {} cores", m.clusters, m.cores);
}
// Every thread's stack is two mappings, whose number the host limits, too.
void check_threads(const MachineConfig& m) {
  const std::uint64_t threads = std::uint64_t{m.clusters} * (3 + 6 * m.cores);
  const std::uint64_t most = host_memory::most_mappings() / 2;
  if (threads <= most) return;
  throw host_memory::Exceeded(
      fmt::format("{} would need {} simulation threads; allowed are {} by this host (half of vm.max_map_count)",
                  elaborated_part(m), threads, most));
}

}  // namespace

Elaborated::Elaborated(const MachineConfig& machine, bool full_data, std::vector<Partition> partitions)
    : share_(elaborated_part(machine), elaborated_bytes(machine)) {
  check_threads(machine);
  // What SystemC only warns of is a mistake in a model.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  platform_ = std::make_unique<Platform>("attnvp", machine, full_data, firmware::boot, std::move(partitions));
}

Elaborated::~Elaborated() = default;

Elaborated::Simulation::Simulation()
    : outer_(sc_core::sc_curr_simcontext), own_(std::make_unique<sc_core::sc_simcontext>()) {
  sc_core::sc_curr_simcontext = own_.get();
}

Elaborated::Simulation::~Simulation() {
  own_.reset();
  sc_core::sc_curr_simcontext = outer_;
}

}  // namespace attnvp::job
