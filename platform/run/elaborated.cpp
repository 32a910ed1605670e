#include "platform/run/elaborated.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "firmware/runtime/boot.h"
#include "models/plugin/library.h"
#include "platform/machine/error.h"
#include "platform/run/platform.h"

namespace attnvp::job {

namespace {

// Measured: host memory of SystemC and models for modules, sockets and a processor thread.
std::uint64_t elaborated_bytes(const MachineConfig& m) {
  constexpr std::uint64_t kBytesOfCluster = 300'000, kBytesOfCore = 110'000;
  return m.clusters * (kBytesOfCluster + m.cores * kBytesOfCore);
}
std::string elaborated_part(const MachineConfig& m) {
  return fmt::format("a machine of {} clusters of {} cores", m.clusters, m.cores);
}

// Live simulations in order of construction, the process's initial one first.
std::vector<sc_core::sc_simcontext*>& simulations() {
  static std::vector<sc_core::sc_simcontext*> all = {sc_core::sc_get_curr_simcontext()};
  return all;
}

}  // namespace

Elaborated::Elaborated(const MachineConfig& machine, bool full_data, std::vector<Partition> partitions)
    : share_(elaborated_part(machine), elaborated_bytes(machine)) {
  // SystemC warnings indicate a mistake in a model.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  // stdout is reserved for the report.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  // Fatal errors end the process by an error message, not by abort().
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  try {
    platform_ = std::make_unique<Platform>("attnvp", machine, full_data, firmware::boot, std::move(partitions));
  } catch (const PluginError& problem) {
    throw config::ConfigError(problem.what());
  }
}

Elaborated::~Elaborated() {
  const Current current(*this);
  platform_.reset();
}

Elaborated::Current::Current(Elaborated& elaborated)
    : before_(std::exchange(sc_core::sc_curr_simcontext, elaborated.simulation_.context())) {}

Elaborated::Current::~Current() { sc_core::sc_curr_simcontext = before_; }

Elaborated::Simulation::Simulation() {
  simulations();  // includes the initial simulation
  own_ = std::make_unique<sc_core::sc_simcontext>();
  simulations().push_back(own_.get());
  sc_core::sc_curr_simcontext = own_.get();
}

Elaborated::Simulation::~Simulation() {
  auto& all = simulations();
  all.erase(std::find(all.begin(), all.end(), own_.get()));
  sc_core::sc_simcontext* const before = std::exchange(sc_core::sc_curr_simcontext, own_.get());
  sc_core::sc_simcontext* const own = own_.get();
  own_.reset();
  sc_core::sc_curr_simcontext = before == own ? all.back() : before;
}

}  // namespace attnvp::job
