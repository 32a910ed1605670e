// Example of a DRAM plug-in: 20 ns for an access, 10 ns for an access to the open row. With TWO_BANKS_PHASES it is
// approximately timed (four phases, up to four outstanding accesses); TWO_BANKS_CLOCK adds a free-running clock.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP two_banks.cpp -o libtwo_banks.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --set dram.policy=plugin:./libtwo_banks.so
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <systemc>

#include "models/plugin/dram_plugin.h"

namespace {

class TwoBanks : public sc_core::sc_module {
 public:
  explicit TwoBanks(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &TwoBanks::b_transport);
    socket.register_nb_transport_fw(this, &TwoBanks::nb_transport_fw);
#ifdef TWO_BANKS_CLOCK
    SC_HAS_PROCESS(TwoBanks);
    SC_THREAD(tick);
#endif
  }
  tlm_utils::simple_target_socket<TwoBanks> socket{"socket"};

 private:
  static constexpr std::uint64_t kRowBytes = 2048;

  void tick() {
    while (true) wait(100, sc_core::SC_NS);
  }
  sc_core::sc_time time_of(const tlm::tlm_generic_payload& payload) {
    const std::uint64_t row = payload.get_address() / kRowBytes;
    std::uint64_t& open = open_[row % 2];
    const bool hit = open == row;
    open = row;
    return {hit ? 10.0 : 20.0, sc_core::SC_NS};
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    free_ = std::max(free_, sc_core::sc_time_stamp() + delay) + time_of(payload);
    delay = free_ - sc_core::sc_time_stamp();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    events_.notify(payload, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  void event(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    sc_core::sc_time none = sc_core::SC_ZERO_TIME;
    tlm::tlm_phase next = tlm::END_REQ;
    if (phase == tlm::BEGIN_REQ) {
      waiting_ = &payload;
    } else if (phase == tlm::END_RESP) {  // scheduled by this module at the end of the access
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      next = tlm::BEGIN_RESP;
      --under_way_;
      socket->nb_transport_bw(payload, next, none);
      next = tlm::END_REQ;
    }
    if (waiting_ == nullptr || under_way_ == 4) return;
    tlm::tlm_generic_payload& accepted = *waiting_;
    waiting_ = nullptr;
    ++under_way_;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    b_transport(accepted, delay);
    events_.notify(accepted, tlm::END_RESP, delay);
    socket->nb_transport_bw(accepted, next, none);
  }

  std::uint64_t open_[2] = {UINT64_MAX, UINT64_MAX};
  sc_core::sc_time free_;
  tlm::tlm_generic_payload* waiting_ = nullptr;
  int under_way_ = 0;
  tlm_utils::peq_with_cb_and_phase<TwoBanks> events_{this, &TwoBanks::event};
};

class TwoBanksPlugin : public attnvp::DramPlugin {
 public:
  explicit TwoBanksPlugin(const attnvp::DramPluginSite& module_context) : dram_(module_context.name) {}
  tlm::tlm_target_socket<>& socket() override { return dram_.socket; }
#ifdef TWO_BANKS_PHASES
  bool phases() const override { return true; }
#endif

 private:
  TwoBanks dram_;
};

}  // namespace

ATTNVP_DRAM_PLUGIN(TwoBanksPlugin)
