// Interconnect of kind `ideal`: a full crossbar without its own time. Accesses cost bus cycles at the control processor
// and bandwidth at DRAM.
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
    {"interconnect", "ideal", "is a full crossbar without time of its own", {}, [](const ModuleContext& site) {
       return std::make_unique<IdealInterconnect>(site.name, site.context);
     }});

}  // namespace

}  // namespace attnvp
