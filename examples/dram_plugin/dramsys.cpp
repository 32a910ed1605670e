// DRAMSys as a DRAM plug-in. It needs its own build of DRAMSys; see docs/how-to/use-dramsys.md.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP -I DRAMSYS/src/configuration
//         -I DRAMSYS/src/libdramsys dramsys.cpp ...
//     DRAMSYS_CONFIG=DRAMSYS/configs/ddr4-example.json
//         attnvp run --set dram.policy=plugin:./libdramsys_plugin.so
#include "DRAMSys/simulation/DRAMSys.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "DRAMSys/config/DRAMSysConfiguration.h"
#include "models/plugin/dram_plugin.h"

namespace {

std::string config_path() {
  const char* const path = std::getenv("DRAMSYS_CONFIG");
  if (path == nullptr) throw std::runtime_error("DRAMSYS_CONFIG is not set; allowed is a configuration of DRAMSys");
  return path;
}

// DRAMSys's multi-passthrough socket has another type; forwards all transactions to it.
class DramsysMemory : public sc_core::sc_module {
 public:
  explicit DramsysMemory(sc_core::sc_module_name name)
      : sc_module(name), dram_("dramsys", DRAMSys::Config::from_path(config_path())) {
    out_.bind(dram_.tSocket);
    in.register_nb_transport_fw(this, &DramsysMemory::forward);
    out_.register_nb_transport_bw(this, &DramsysMemory::backward);
  }
  tlm_utils::simple_target_socket<DramsysMemory> in{"in"};
  std::uint32_t burst_bytes() const { return dram_.getMemSpec().defaultBytesPerBurst; }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return out_->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return in->nb_transport_bw(payload, phase, delay);
  }
  DRAMSys::DRAMSys dram_;
  tlm_utils::simple_initiator_socket<DramsysMemory> out_{"out"};
};

class DramsysPlugin : public attnvp::DramPlugin {
 public:
  explicit DramsysPlugin(const attnvp::DramPluginSite& module_context) : memory_(module_context.name) {}
  tlm::tlm_target_socket<>& socket() override { return memory_.in; }
  bool phases() const override { return true; }
  std::uint32_t most_bytes() const override { return memory_.burst_bytes(); }

 private:
  DramsysMemory memory_;
};

}  // namespace

ATTNVP_DRAM_PLUGIN(DramsysPlugin)
