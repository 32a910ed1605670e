// What every network of control and DRAM is, whatever its kind: it decodes addresses by the platform's one map and
// passes accesses on. Kinds say how long that takes. Addresses are not translated.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/module.h"

namespace attnvp {

class Interconnect : public Module {
 public:
  using Module::Module;

  // Where an end stands: in a cluster, or beside all of them.
  static constexpr int kShared = -1;
  // A new socket for an initiator to bind to.
  tlm::tlm_target_socket<>& add_initiator(const std::string& name, int cluster = kShared);
  // A new socket, to be bound to the target that answers for the range.
  tlm_utils::simple_initiator_socket<Interconnect>& add_target(AddressRange range, int cluster = kShared);

  const AddressMap& map() const { return map_; }
  // As Memory has it.
  virtual bool never_waits() const { return false; }

  // Hears an initiator's accesses before they are carried, and may put other data in their place.
  class Listener {
   public:
    virtual void heard(tlm::tlm_generic_payload& payload) = 0;

   protected:
    ~Listener() = default;
  };
  void tell(const std::string& initiator, Listener* listener);  // nullptr: nobody listens

  Counter carried{*this, "carried", "accesses", "accesses carried", {"attnvp.network", "access", true}};
  Counter carried_bytes{*this, "carried_bytes", "bytes", "bytes carried", {"attnvp.network", "byte", true}};

 protected:
  // An access on its way; both ends are counted in the order in which they were added. A kind may wait, or annotate its
  // time, before and after it sends the payload on.
  int cluster_of_initiator(int initiator) const { return initiator_cluster_[static_cast<std::size_t>(initiator)]; }
  int cluster_of_target(int target) const { return target_cluster_[static_cast<std::size_t>(target)]; }
  virtual void carry(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) = 0;
  void send(int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    (*out_[static_cast<std::size_t>(target)])->b_transport(payload, delay);
  }

 private:
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload);

  AddressMap map_;
  std::vector<int> initiator_cluster_, target_cluster_;
  std::vector<Listener*> listeners_;  // of each initiator
  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<Interconnect>>> in_;
  std::vector<std::unique_ptr<tlm_utils::simple_initiator_socket<Interconnect>>> out_;
};

}  // namespace attnvp
