// Interface of interconnects: networks of control and DRAM. An interconnect decodes addresses by the platform's address
// map and forwards accesses without translation. Kinds define the timing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/interconnect/bus/transport.h"
#include "models/sim/module.h"

namespace attnvp {

class Interconnect : public Module {
 public:
  using Module::Module;

  // Cluster number of ends outside all clusters.
  static constexpr int kShared = -1;
  tlm::tlm_target_socket<>& add_initiator(const std::string& name, int cluster = kShared);
  // Adds a socket that is to be bound to the target of the range.
  InitiatorSocket& add_target(AddressRange range, int cluster = kShared);

  const AddressMap& map() const { return map_; }
  std::uint32_t initiators() const { return static_cast<std::uint32_t>(in_.size()); }

  // Observer of an initiator's accesses before they are forwarded; it may replace the payload's data.
  class Listener {
   public:
    virtual void heard(tlm::tlm_generic_payload& payload) = 0;

   protected:
    ~Listener() = default;
  };
  void tell(const std::string& initiator, Listener* listener);  // nullptr: no listener

  Counter carried{*this, "carried", "accesses", "accesses carried", {"attnvp.network", "access", true}};
  Counter carried_bytes{*this, "carried_bytes", "bytes", "bytes carried", {"attnvp.network", "byte", true}};

 protected:
  bool has_listener() const;
  int cluster_of_initiator(int initiator) const { return in_[static_cast<std::size_t>(initiator)]->cluster; }
  int cluster_of_target(int target) const { return out_[static_cast<std::size_t>(target)]->cluster; }

  // Initiators and targets are numbered in the order of their addition. The b_transport path is carry(), which may wait
  // or annotate time before and after it calls send().
  virtual void carry(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) = 0;
  void send(int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    socket_at(target)->b_transport(payload, delay);
  }
  // nb_transport path. True: the access ends after `delay`. False: respond() follows. By default the target's result is
  // passed back without additional time.
  virtual bool begin(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  InitiatorSocket& socket_at(int target) { return out_[static_cast<std::size_t>(target)]->socket; }
  void respond(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time delay) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    in_[static_cast<std::size_t>(initiator)]->socket->nb_transport_bw(payload, phase, delay);
  }

 private:
  // Access that its target has accepted.
  struct Hop final : PendingAccess {
    explicit Hop(Interconnect& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override;
    Interconnect& owner;
    int initiator = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    PendingAccess* former = nullptr;  // the initiator's extension
  };
  struct In final : tlm::tlm_fw_transport_if<> {
    In(Interconnect& its_owner, int its_number, int its_cluster, const std::string& name);
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) override { return false; }
    int target_of(tlm::tlm_generic_payload& payload);  // < 0: unmapped, with an error response
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
