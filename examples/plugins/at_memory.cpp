// Approximately timed memory, used as an L2: a request takes 2 ns, the response begins 20 ns after it and takes 2 ns;
// up to eight outstanding accesses.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP at_memory.cpp -o at_memory.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --hw cluster3 --set l2.kind=plugin:./at_memory.so --set l2.size=1MiB
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <systemc>

#include "models/plugin/plugin.h"

namespace {

class AtMemory : public sc_core::sc_module {
 public:
  explicit AtMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &AtMemory::forward);
    SC_HAS_PROCESS(AtMemory);
    SC_THREAD(accept);
    SC_THREAD(respond);
  }
  tlm_utils::simple_target_socket<AtMemory> socket{"socket"};

 private:
  static constexpr std::size_t kUnderWay = 8;
  struct AtAccess {
    tlm::tlm_generic_payload* payload;
    sc_core::sc_time due;
  };

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
      payload.acquire();
      request_ = &payload;
      requested_.notify(delay);
    } else if (phase == tlm::END_RESP) {
      ended_.notify(delay);
      return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
  }

  void accept() {
    while (true) {
      while (request_ == nullptr) wait(requested_);
      while (under_way_.size() == kUnderWay) wait(answered_);
      wait(2, sc_core::SC_NS);
      tlm::tlm_generic_payload* const payload = request_;
      request_ = nullptr;
      under_way_.push_back({payload, sc_core::sc_time_stamp() + sc_core::sc_time(18, sc_core::SC_NS)});
      accepted_.notify();
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time none;
      socket->nb_transport_bw(*payload, phase, none);
    }
  }

  void respond() {
    while (true) {
      while (under_way_.empty()) wait(accepted_);
      const AtAccess access = under_way_.front();
      if (access.due > sc_core::sc_time_stamp()) wait(access.due - sc_core::sc_time_stamp());
      wait(2, sc_core::SC_NS);
      under_way_.pop_front();
      answered_.notify();
      access.payload->set_response_status(tlm::TLM_OK_RESPONSE);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time none;
      const tlm::tlm_sync_enum answer = socket->nb_transport_bw(*access.payload, phase, none);
      if (answer == tlm::TLM_ACCEPTED) wait(ended_);
      access.payload->release();
    }
  }

  tlm::tlm_generic_payload* request_ = nullptr;  // between BEGIN_REQ and END_REQ
  std::deque<AtAccess> under_way_;
  sc_core::sc_event requested_, accepted_, answered_, ended_;
};

class AtMemoryPlugin : public attnvp::MemoryPlugin {
 public:
  explicit AtMemoryPlugin(const attnvp::PluginContext& module_context) : memory_(module_context.name) {}
  tlm::tlm_target_socket<>& socket() override { return memory_.socket; }
  bool phases() const override { return true; }
  std::uint32_t most_bytes() const override { return 256; }

 private:
  AtMemory memory_;
};

}  // namespace

ATTNVP_MEMORY_PLUGIN(AtMemoryPlugin)
