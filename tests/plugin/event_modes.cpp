// An event unit that behaves as the environment variable PLUGIN_MODE says, as TLM-2.0 allows it and as it does not.
// Modes with "at_" have four phases. What is wrong happens at the twentieth access.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/plugin/plugin.h"

namespace {

namespace hal = attnvp::hal;

std::string mode() {
  const char* const text = std::getenv("PLUGIN_MODE");
  return text == nullptr ? "" : text;
}
bool is(const char* name) { return mode() == name; }

class Unit : public sc_core::sc_module {
 public:
  Unit(sc_core::sc_module_name name, std::size_t events) : sc_module(name), tokens_(events, 0) {
    socket.register_b_transport(this, &Unit::b_transport);
    socket.register_nb_transport_fw(this, &Unit::forward);
  }
  tlm_utils::simple_target_socket<Unit> socket{"socket"};
  void reset() {
    if (is("reset_throw")) throw std::runtime_error("thrown in reset");
    tokens_.assign(tokens_.size(), 0);
  }

 private:
  static std::uint32_t value(const tlm::tlm_generic_payload& payload) {
    std::uint32_t number = 0;
    std::memcpy(&number, payload.get_data_ptr(), sizeof number);
    return number;
  }
  std::uint32_t& tokens(const tlm::tlm_generic_payload& payload) {
    return tokens_.at(payload.get_address() / hal::kEventStride);
  }
  static bool takes(const tlm::tlm_generic_payload& payload) {
    return payload.is_write() && payload.get_address() % hal::kEventStride == hal::kEventTake;
  }
  bool wrong() { return ++count_ == 20; }
  bool misses(const tlm::tlm_generic_payload& payload) {
    return takes(payload) && tokens(payload) < value(payload) && !is("early") && !is("at_early");
  }
  void execute(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (takes(payload)) {
      tokens(payload) -= value(payload);
    } else if (payload.is_write()) {
      tokens(payload) += value(payload);
    } else {
      std::memcpy(payload.get_data_ptr(), &tokens(payload), sizeof(std::uint32_t));
    }
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const bool is_wrong = wrong();
    if (is_wrong && is("throw")) throw std::runtime_error("thrown in b_transport");
    if (is_wrong && is("never")) wait(never_);
    if (is_wrong && is("max")) delay = sc_core::sc_max_time();
    if (is_wrong && is("stop")) sc_core::sc_stop();
    if (is_wrong && is("exit")) std::exit(0);
    while (misses(payload)) wait(signalled_);
    execute(payload);
    signalled_.notify(sc_core::SC_ZERO_TIME);
    if (is_wrong && is("error")) payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  }

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    const bool is_wrong = wrong();
    if (is_wrong && is("at_throw")) throw std::runtime_error("thrown in nb_transport_fw");
    if (is_wrong && is("at_never")) {
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    if (is_wrong && is("at_twice")) answers_.notify(payload, tlm::BEGIN_RESP, sc_core::sc_time(9, sc_core::SC_NS));
    requests_.notify(payload, phase, delay);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void request(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& /*phase*/) {
    waiting_.push_back(&payload);
    for (std::size_t i = 0; i < waiting_.size();) {
      tlm::tlm_generic_payload& next = *waiting_[i];
      if (misses(next)) {
        ++i;
        continue;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      execute(next);
      answer(next, tlm::BEGIN_RESP);
      i = 0;
    }
  }
  void answer(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& /*phase*/) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time none;
    socket->nb_transport_bw(payload, phase, none);
  }

  std::vector<std::uint32_t> tokens_;
  std::vector<tlm::tlm_generic_payload*> waiting_;
  unsigned count_ = 0;
  sc_core::sc_event signalled_, never_;
  tlm_utils::peq_with_cb_and_phase<Unit> requests_{"requests", this, &Unit::request};
  tlm_utils::peq_with_cb_and_phase<Unit> answers_{"answers", this, &Unit::answer};
};

class EventModes : public attnvp::EventUnitPlugin {
 public:
  explicit EventModes(const attnvp::PluginContext& module_context)
      : unit_(module_context.name, module_context.size_bytes / hal::kEventStride) {}
  tlm::tlm_target_socket<>& socket() override { return unit_.socket; }
  bool phases() const override { return mode().rfind("at_", 0) == 0; }
  void reset() override { unit_.reset(); }

 private:
  Unit unit_;
};

}  // namespace

ATTNVP_EVENT_UNIT_PLUGIN(EventModes)
