// A full crossbar that adds no time of its own: what accesses cost is at their ends, bus cycles at the control
// processor, bandwidth at DRAM.
#include "models/interconnect/interconnect.h"
#include "models/registry.h"

namespace attnvp {

namespace {

class IdealInterconnect : public Interconnect {
 public:
  using Interconnect::Interconnect;
  bool is_approximately_timed() const override { return true; }

 private:
  void carry(int /*initiator*/, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    send(target, payload, delay);
  }
};

const bool kRegistered = add_kind<Interconnect>(
    {"interconnect", "ideal", "is a full crossbar without time of its own", {}, [](const Site& site) {
       return std::make_unique<IdealInterconnect>(site.name, site.context);
     }});

}  // namespace

}  // namespace attnvp
