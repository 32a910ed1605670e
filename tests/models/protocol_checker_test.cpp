// What the checker of the TLM-2.0 base protocol finds, and that it finds nothing where the rules are kept.
#include "models/interconnect/bus/protocol_checker.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "models/interconnect/bus/payload.h"

namespace attnvp {
namespace {

using Payload = tlm::tlm_generic_payload;
using Sync = tlm::tlm_sync_enum;

// A target and an initiator of which a test says what they do.
struct Ends : sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
  explicit Ends(sc_core::sc_module_name name) : sc_module(name) {
    context = std::make_unique<Context>(1e9, true);
    target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    checker = std::make_unique<ProtocolChecker>("checker", *context, target);
    initiator.bind(checker->in);
    fill_payload(payload, tlm::TLM_READ_COMMAND, 0x40, data, sizeof data);
    fill_payload(other, tlm::TLM_WRITE_COMMAND, 0x80, data, sizeof data);
  }
  static std::unique_ptr<Ends> elaborated() {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    auto ends = std::make_unique<Ends>("ends");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    return ends;
  }
  Sync nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& /*delay*/) override {
    return forward ? forward(p, phase) : tlm::TLM_ACCEPTED;
  }
  void b_transport(Payload& p, sc_core::sc_time& /*delay*/) override {
    if (blocking) blocking(p);
  }
  bool get_direct_mem_ptr(Payload& /*p*/, tlm::tlm_dmi& /*dmi*/) override { return false; }
  unsigned transport_dbg(Payload& /*p*/) override { return 0; }
  Sync nb_transport_bw(Payload& /*p*/, tlm::tlm_phase& phase, sc_core::sc_time& /*delay*/) override {
    return backward ? backward(phase) : tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

  Sync request(Payload& p, tlm::tlm_phase phase = tlm::BEGIN_REQ) {
    sc_core::sc_time delay;
    return initiator->nb_transport_fw(p, phase, delay);
  }
  Sync respond(Payload& p, tlm::tlm_phase phase = tlm::BEGIN_RESP,
               tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE) {
    if (phase == tlm::BEGIN_RESP) p.set_response_status(status);
    sc_core::sc_time delay;
    return target->nb_transport_bw(p, phase, delay);
  }
  std::string found() const { return context->faults.any() ? context->faults.faults().front().detail : ""; }

  std::unique_ptr<Context> context;
  tlm::tlm_target_socket<> target{"target"};
  tlm::tlm_initiator_socket<> initiator{"initiator"};
  std::unique_ptr<ProtocolChecker> checker;
  unsigned char data[8] = {};
  OwnedPayload payload, other;
  std::function<Sync(Payload&, tlm::tlm_phase&)> forward;
  std::function<Sync(tlm::tlm_phase&)> backward;
  std::function<void(Payload&)> blocking;
};

Sync end_request(Payload& /*p*/, tlm::tlm_phase& phase) {
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}
Sync complete(Payload& p, tlm::tlm_phase& /*phase*/) {
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  return tlm::TLM_COMPLETED;
}

TEST(ProtocolChecker, FindsNothingInLegalSequences) {
  const std::unique_ptr<Ends> elaborated = Ends::elaborated();
  Ends& ends = *elaborated;
  ends.forward = complete;
  ends.request(ends.payload);
  ends.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  ends.forward = end_request;
  ends.request(ends.payload);
  ends.request(ends.other);
  ends.respond(ends.other);  // out of order
  ends.respond(ends.payload, tlm::BEGIN_RESP, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  ends.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  ends.forward = nullptr;  // TLM_ACCEPTED; then all four phases
  ends.backward = [](tlm::tlm_phase&) { return tlm::TLM_ACCEPTED; };
  ends.request(ends.payload);
  ends.respond(ends.payload, tlm::END_REQ);
  ends.respond(ends.payload);
  ends.request(ends.payload, tlm::END_RESP);
  ends.blocking = [](Payload& p) { p.set_response_status(tlm::TLM_OK_RESPONSE); };
  sc_core::sc_time delay;
  ends.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  ends.initiator->b_transport(ends.payload, delay);
  EXPECT_EQ(ends.found(), "");
}

struct Breach {
  const char* rule;
  std::function<void(Ends&)> act;
  friend std::ostream& operator<<(std::ostream& out, const Breach& breach) { return out << breach.rule; }
};

class ProtocolBreach : public testing::TestWithParam<Breach> {};

TEST_P(ProtocolBreach, IsNamed) {
  const std::unique_ptr<Ends> elaborated = Ends::elaborated();
  Ends& ends = *elaborated;
  GetParam().act(ends);
  EXPECT_NE(ends.found().find(GetParam().rule), std::string::npos) << ends.found();
}

INSTANTIATE_TEST_SUITE_P(
    All, ProtocolBreach,
    testing::Values(Breach{"no memory manager",
                           [](Ends& e) {
                             Payload bare;
                             fill_payload(bare, tlm::TLM_READ_COMMAND, 0, e.data, 8);
                             e.request(bare);
                           }},
                    Breach{"that is under way",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.request(e.payload);
                             e.request(e.payload);
                           }},
                    Breach{"before END_REQ of the request before",
                           [](Ends& e) {
                             e.request(e.payload);
                             e.request(e.other);
                           }},
                    Breach{"that is not TLM_INCOMPLETE_RESPONSE",
                           [](Ends& e) {
                             e.payload.set_response_status(tlm::TLM_OK_RESPONSE);
                             e.request(e.payload);
                           }},
                    Breach{"a response without a response status",
                           [](Ends& e) {
                             e.forward = [](Payload&, tlm::tlm_phase&) { return tlm::TLM_COMPLETED; };
                             e.request(e.payload);
                           }},
                    Breach{"changed between request and response",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.request(e.payload);
                             e.payload.set_address(0x1000);
                             e.respond(e.payload);
                           }},
                    Breach{"of a payload that is not under way", [](Ends& e) { e.respond(e.payload); }},
                    Breach{"of a payload that is not under way",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.request(e.payload);
                             e.respond(e.payload);
                             e.respond(e.payload);
                           }},
                    Breach{"BEGIN_RESP twice",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.backward = [](tlm::tlm_phase&) { return tlm::TLM_ACCEPTED; };
                             e.request(e.payload);
                             e.respond(e.payload);
                             e.respond(e.payload);
                           }},
                    Breach{"before END_RESP of the response before",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.backward = [](tlm::tlm_phase&) { return tlm::TLM_ACCEPTED; };
                             e.request(e.payload);
                             e.request(e.other);
                             e.respond(e.payload);
                             e.respond(e.other);
                           }},
                    Breach{"END_REQ twice",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.request(e.payload);
                             e.respond(e.payload, tlm::END_REQ);
                           }},
                    Breach{"END_RESP without BEGIN_RESP", [](Ends& e) { e.request(e.payload, tlm::END_RESP); }},
                    Breach{"on the backward path",
                           [](Ends& e) {
                             e.forward = end_request;
                             e.request(e.payload);
                             e.respond(e.payload, tlm::BEGIN_REQ);
                           }},
                    Breach{"response status", [](Ends& e) {
                             sc_core::sc_time delay;
                             e.initiator->b_transport(e.payload, delay);
                           }}));

}  // namespace
}  // namespace attnvp
