// An interconnect plug-in that carries as the environment variable PLUGIN_MODE says, as TLM-2.0 allows it and as it
// does not. It takes 2 ns for an access; what is wrong happens at the fifth.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "models/plugin/plugin.h"

namespace {

std::string mode() {
  const char* const text = std::getenv("PLUGIN_MODE");
  return text == nullptr ? "" : text;
}
bool is(const char* name) { return mode() == name; }

const sc_core::sc_time kCarry(2, sc_core::SC_NS);

class Network : public sc_core::sc_module {
 public:
  Network(sc_core::sc_module_name name, const attnvp::PluginContext& module_context)
      : sc_module(name), targets_(module_context.targets) {
    for (std::uint32_t i = 0; i < module_context.initiators; ++i) {
      in.push_back(std::make_unique<In>(("in" + std::to_string(i)).c_str()));
      in.back()->register_b_transport(this, &Network::b_transport, static_cast<int>(i));
      in.back()->register_nb_transport_fw(this, &Network::forward, static_cast<int>(i));
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      out.push_back(std::make_unique<Out>(("out" + std::to_string(i)).c_str()));
      out.back()->register_nb_transport_bw(this, &Network::backward, static_cast<int>(i));
    }
  }
  using In = tlm_utils::simple_target_socket_tagged<Network>;
  using Out = tlm_utils::simple_initiator_socket_tagged<Network>;
  std::vector<std::unique_ptr<In>> in;
  std::vector<std::unique_ptr<Out>> out;

 private:
  std::size_t target_of(const tlm::tlm_generic_payload& payload) const {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (payload.get_address() - targets_[i].base < targets_[i].bytes) return i;
    }
    throw std::runtime_error("an address that no target has");
  }

  void b_transport(int /*initiator*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const bool wrong = ++count_ == 5;
    if (wrong && is("throw")) throw std::runtime_error("thrown in b_transport");
    if (wrong && is("never")) wait(never_);
    if (wrong && is("stop")) sc_core::sc_stop();
    if (wrong && is("exit")) std::exit(0);
    if (wrong && is("swallow")) return payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (is("wait")) wait(kCarry);
    if (is("annotate")) delay += kCarry;
    if (is("both")) {
      wait(kCarry / 2);
      delay += kCarry / 2;
    }
    std::size_t target = target_of(payload);
    if (wrong && is("wrong_output")) target = (target + 1) % targets_.size();
    (*out[target])->b_transport(payload, delay);
    if (wrong && is("twice")) (*out[target])->b_transport(payload, delay);
    if (wrong && is("error")) payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    if (wrong && is("foreign")) {
      tlm::tlm_generic_payload mine;
      mine.deep_copy_from(payload);
      (*out[target])->b_transport(mine, delay);
    }
    if (wrong && is("max")) delay = sc_core::sc_max_time();
  }

  // In phases: calls are passed on as they come.
  tlm::tlm_sync_enum forward(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    const bool wrong = phase == tlm::BEGIN_REQ && ++count_ == 5;
    if (wrong && is("at_never")) return tlm::TLM_ACCEPTED;
    if (phase == tlm::BEGIN_REQ) {
      initiator_of_[&payload] = initiator;
      if (is("at_annotate")) delay += kCarry;
    }
    if (wrong && is("at_early")) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    return (*out[target_of(payload)])->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum backward(int /*target*/, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay) {
    In& socket = *in[static_cast<std::size_t>(initiator_of_.at(&payload))];
    if (phase == tlm::BEGIN_RESP && is("at_twice") && ++responses_ == 5) {
      tlm::tlm_phase first = tlm::BEGIN_RESP;
      sc_core::sc_time none;
      socket->nb_transport_bw(payload, first, none);
    }
    return socket->nb_transport_bw(payload, phase, delay);
  }

  const std::vector<attnvp::PluginContext::TargetRange> targets_;
  std::map<const tlm::tlm_generic_payload*, int> initiator_of_;
  int count_ = 0, responses_ = 0;
  sc_core::sc_event never_;
};

class Plugin : public attnvp::InterconnectPlugin {
 public:
  explicit Plugin(const attnvp::PluginContext& module_context) : network_(module_context.name, module_context) {}
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *network_.in.at(initiator); }
  tlm::tlm_initiator_socket<>& out(std::uint32_t target) override { return *network_.out.at(target); }
  bool phases() const override { return mode().rfind("at_", 0) == 0; }

 private:
  Network network_;
};

}  // namespace

ATTNVP_INTERCONNECT_PLUGIN(Plugin)
