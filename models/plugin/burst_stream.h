// Adaptor from the base protocol to an engine's stream port of L1. Each burst becomes a stream of one row. Its bytes
// are moved by DMI at its end.
#pragma once

#include <deque>
#include <vector>

#include "models/interconnect/bus/stream.h"
#include "models/interconnect/bus/transport.h"

namespace attnvp {

class BurstStream final : public Target {
 public:
  explicit BurstStream(const char* name) : out(name) {}
  StreamInitiatorSocket out;

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t port, tlm::tlm_generic_payload& payload) override;

 private:
  struct Burst final : PendingAccess {
    explicit Burst(BurstStream& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override;
    BurstStream& owner;
    tlm::tlm_generic_payload* payload = nullptr;
    Response response;
    Stream stream;
    StreamTransaction transaction;
  };
  void end(Burst& burst);
  unsigned move(tlm::tlm_generic_payload& payload);

  std::deque<Burst> bursts_;
  std::vector<Burst*> free_bursts_;
  tlm::tlm_dmi dmi_;
  bool has_dmi_ = false;
};

}  // namespace attnvp
