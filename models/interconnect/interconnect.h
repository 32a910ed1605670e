// What every network of control and DRAM is, whatever its kind: it decodes addresses by the platform's one map and
// passes accesses on. Kinds say how long that takes. Addresses are not translated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/bus/transport.h"
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
  InitiatorSocket& add_target(AddressRange range, int cluster = kShared);

  const AddressMap& map() const { return map_; }
  std::uint32_t initiators() const { return static_cast<std::uint32_t>(in_.size()); }

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
  int cluster_of_initiator(int initiator) const { return in_[static_cast<std::size_t>(initiator)]->cluster; }
  int cluster_of_target(int target) const { return out_[static_cast<std::size_t>(target)]->cluster; }

  // Initiators and targets are counted in the order in which they were added.
  // b_transport: may wait, or annotate its time, before and after it sends the payload on.
  virtual void carry(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) = 0;
  void send(int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    socket_at(target)->b_transport(payload, delay);
  }
  // nb_transport: true: over after `delay`; false: respond() follows. By default what happens at the target is passed
  // back as it is, without time of its own.
  virtual bool begin(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  InitiatorSocket& socket_at(int target) { return out_[static_cast<std::size_t>(target)]->socket; }
  void respond(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time delay) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    in_[static_cast<std::size_t>(initiator)]->socket->nb_transport_bw(payload, phase, delay);
  }

 private:
  // An access that its target has accepted.
  struct Hop final : PendingAccess {
    explicit Hop(Interconnect& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override;
    Interconnect& owner;
    int initiator = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    PendingAccess* former = nullptr;  // of the initiator
  };
  struct In final : tlm::tlm_fw_transport_if<> {
    In(Interconnect& its_owner, int its_number, int its_cluster, const std::string& name);
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) override { return false; }
    int target_of(tlm::tlm_generic_payload& payload);  // < 0: there is none, and the response says so
    Interconnect& owner;
    int number, cluster;
    tlm::tlm_target_socket<> socket;
    Listener* listener = nullptr;
  };
  struct Out {
    Out(const std::string& name, int its_cluster) : socket(name.c_str()), cluster(its_cluster) {}
    InitiatorSocket socket;
    int cluster;
  };

  AddressMap map_;
  std::vector<std::unique_ptr<In>> in_;
  std::vector<std::unique_ptr<Out>> out_;
  std::vector<std::unique_ptr<Hop>> hops_;
  std::vector<Hop*> free_hops_;
};

}  // namespace attnvp
