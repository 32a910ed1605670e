// A DRAM plug-in that answers as the environment variable PLUGIN_MODE says, as TLM-2.0 allows it and as it does not. An
// answer takes 10 ns; what is wrong happens at the fifth access.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <systemc>

#include "models/plugin/dram_plugin.h"

namespace {

std::string mode() {
  const char* const text = std::getenv("PLUGIN_MODE");
  return text == nullptr ? "" : text;
}
bool is(const char* name) { return mode() == name; }
bool begins(const char* text) { return mode().rfind(text, 0) == 0; }

[[noreturn]] void fail_in(const char* where) {
  if (mode().find("_int") != std::string::npos) throw 42;
  throw std::runtime_error(std::string("thrown in ") + where + "\nsecond line");
}

const sc_core::sc_time kAnswer(10, sc_core::SC_NS), kRequest(2, sc_core::SC_NS), kNone;

class Memory : public sc_core::sc_module {
 public:
  explicit Memory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &Memory::b_transport);
    socket.register_nb_transport_fw(this, &Memory::forward);
  }
  tlm_utils::simple_target_socket<Memory> socket{"socket"};

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const bool wrong = ++count_ == 5;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (wrong && is("b_error")) payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (wrong && is("b_incomplete")) payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (wrong && begins("b_throw")) fail_in("b_transport");
    if (wrong && is("b_report")) SC_REPORT_ERROR("memory", "is broken");
    if (wrong && is("b_fatal")) SC_REPORT_FATAL("memory", "is lost");
    if (wrong && is("b_stop")) sc_core::sc_stop();
    if (wrong && is("b_exit")) std::exit(0);
    if (wrong && is("b_never")) wait(never_);
    if (wrong && is("b_max")) {
      delay = sc_core::sc_max_time();
      return;
    }
    if (is("b_second")) {
      delay += sc_core::sc_time(1, sc_core::SC_SEC);
      return;
    }
    if (is("b_wait")) {
      wait(kAnswer);
    } else if (is("b_both")) {
      wait(4, sc_core::SC_NS);
      delay += sc_core::sc_time(6, sc_core::SC_NS);
    } else {
      delay += kAnswer;
    }
  }

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      if (!is("end_resp_updated")) return is("end_resp_completed") ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    const bool wrong = ++count_ == 5;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const auto later = [&](tlm::tlm_phase_enum next, const sc_core::sc_time& after) {
      events_.notify(payload, next, after);
    };
    const auto updated = [&](tlm::tlm_phase_enum next, const sc_core::sc_time& after) {
      phase = next;
      delay += after;
      return tlm::TLM_UPDATED;
    };
    if (wrong && begins("fw_throw")) fail_in("nb_transport_fw");
    if (wrong && is("unchanged")) return tlm::TLM_UPDATED;
    if (wrong && is("foreign")) send(foreign_, tlm::BEGIN_RESP, kNone);
    if (wrong && is("error")) payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    if (wrong && is("never")) return tlm::TLM_ACCEPTED;
    if (wrong && is("no_response")) return updated(tlm::END_REQ, kNone);
    if (wrong && is("end_resp")) {
      later(tlm::END_RESP, kAnswer);
      return updated(tlm::END_REQ, kNone);
    }
    if (wrong && is("twice")) later(tlm::BEGIN_RESP, 2 * kAnswer);
    if (wrong && is("end_req_twice")) later(tlm::END_REQ, kRequest);
    if (wrong && is("end_req_late")) {
      later(tlm::BEGIN_RESP, kRequest);
      later(tlm::END_REQ, kAnswer);
      return tlm::TLM_ACCEPTED;
    }
    if (wrong && is("completed_twice")) {
      later(tlm::BEGIN_RESP, kRequest);
      return tlm::TLM_COMPLETED;
    }
    // One at a time: the answer ends the request.
    if (is("updated") || begins("end_resp_")) return updated(tlm::BEGIN_RESP, kAnswer);
    if (is("completed")) {
      delay += kAnswer;
      return tlm::TLM_COMPLETED;
    }
    if (is("within")) {
      send(payload, tlm::BEGIN_RESP, kAnswer);
      return tlm::TLM_ACCEPTED;
    }
    if (is("later")) {
      later(tlm::BEGIN_RESP, kAnswer);
      return tlm::TLM_ACCEPTED;
    }
    if (is("annotated")) {
      later(tlm::BEGIN_RESP, kNone);
      return tlm::TLM_ACCEPTED;
    }
    if (is("end_req")) {
      later(tlm::END_REQ, kAnswer);
      return tlm::TLM_ACCEPTED;
    }
    if (is("ignorable")) {
      later(tlm::BEGIN_RESP, kAnswer);
      return updated(static_cast<tlm::tlm_phase_enum>(77), kNone);
    }
    // Several at a time: a request takes 2 ns.
    later(tlm::BEGIN_RESP, kAnswer);
    if (is("pipe_later")) {
      later(tlm::END_REQ, kRequest);
      return tlm::TLM_ACCEPTED;
    }
    return updated(tlm::END_REQ, kRequest);
  }
  void event(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    if (++events_seen_ == 5 && begins("event_throw")) fail_in("an event");
    send(payload, phase, is("annotated") ? kAnswer : kNone);
    if (is("end_req") && phase == tlm::END_REQ) send(payload, tlm::BEGIN_RESP, kNone);
  }
  void send(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, sc_core::sc_time delay) {
    socket->nb_transport_bw(payload, phase, delay);
  }
  void end_of_elaboration() override {
    if (begins("elaboration_throw")) fail_in("end_of_elaboration");
  }

  int count_ = 0, events_seen_ = 0;
  sc_core::sc_event never_;
  tlm::tlm_generic_payload foreign_;
  tlm_utils::peq_with_cb_and_phase<Memory> events_{this, &Memory::event};
};

class Plugin : public attnvp::DramPlugin {
 public:
  explicit Plugin(const attnvp::DramPluginSite& module_context) : memory_(module_context.name) {
    if (begins("constructor_throw")) fail_in("the constructor");
  }
  tlm::tlm_target_socket<>& socket() override { return memory_.socket; }
  bool phases() const override { return !begins("b_"); }
  std::uint32_t most_bytes() const override {
    if (begins("bytes_throw")) fail_in("most_bytes");
    return begins("bytes_") ? static_cast<std::uint32_t>(std::stoul(mode().substr(6))) : 64;
  }

 private:
  Memory memory_;
};

const int kLoaded = begins("load_throw") ? (fail_in("an initialiser"), 0) : 0;

}  // namespace

extern "C" std::uint32_t attnvp_dram_plugin_version() {
  if (begins("version_throw")) fail_in("the version");
  return attnvp::kDramPluginVersion + static_cast<std::uint32_t>(kLoaded);
}
extern "C" attnvp::DramPlugin* attnvp_make_dram_plugin(const attnvp::DramPluginSite* module_context) {
  return is("null") ? nullptr : new Plugin(*module_context);
}
