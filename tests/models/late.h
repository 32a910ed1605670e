// Kinds that take time of their own, for tests: an interconnect and memories, behind what they stand for. Those called
// "late" annotate it, those called "waiting" let their initiators wait.
#pragma once

#include <gtest/gtest.h>

#include "models/bus/stream.h"
#include "models/control_processor/cpu.h"
#include "models/interconnect/interconnect.h"
#include "models/processor.h"
#include "models/register_file/register_file.h"
#include "models/registry.h"
#include "models/scratchpad/scratchpad.h"

namespace attnvp::bench {

struct LateConfig {
  std::uint32_t before_cycles = 0, after_cycles = 5;  // of the target

  static void describe(config::Keys<LateConfig>& key) {
    using namespace config;
    key(number("before_cycles", Unit::kCycles, 0, 100, "annotated on the way to the target"),
        &LateConfig::before_cycles);
    key(number("after_cycles", Unit::kCycles, 0, 100, "annotated on the way back"), &LateConfig::after_cycles);
  }
};

template <bool kWaits>
void pass(std::uint64_t cycles, const Clock& clock, sc_core::sc_time& delay) {
  delay += clock.cycles(cycles);
  if (!kWaits) return;
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
}

template <bool kWaits>
class LateInterconnect : public Interconnect {
 public:
  LateInterconnect(sc_core::sc_module_name name, const Site& site)
      : Interconnect(name, site.context), config_(site.machine.own<LateConfig>()) {}
  bool never_waits() const override { return !kWaits; }

 private:
  void carry(int /*initiator*/, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    pass<kWaits>(config_.before_cycles, ctx_.clock, delay);
    send(target, payload, delay);
    pass<kWaits>(config_.after_cycles, ctx_.clock, delay);
  }
  LateConfig config_;
};

constexpr std::uint64_t kLateMemoryCycles = 7;

template <class Inner, bool kWaits>
class LateMemory : public Memory {
 public:
  LateMemory(sc_core::sc_module_name name, const Site& site) : Memory(name, site.context), inner_("inner", site) {
    for (std::uint32_t i = 0; i < site.initiators; ++i) {
      const int tag = static_cast<int>(i);
      in_.push_back(std::make_unique<Target>(("in" + std::to_string(i)).c_str()));
      in_.back()->register_b_transport(this, &LateMemory::b_transport, tag);
      in_.back()->register_get_direct_mem_ptr(this, &LateMemory::get_direct_mem_ptr, tag);
      in_.back()->register_transport_dbg(this, &LateMemory::transport_dbg, tag);
      out_.push_back(std::make_unique<Initiator>(("out" + std::to_string(i)).c_str()));
      out_.back()->bind(inner_.in(i));
    }
  }
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *in_.at(initiator); }
  tlm::tlm_target_socket<>* control() override { return inner_.control(); }
  bool never_waits() const override { return !kWaits; }

 private:
  using Target = tlm_utils::simple_target_socket_tagged<LateMemory>;
  using Initiator = tlm_utils::simple_initiator_socket<LateMemory>;

  Initiator& out(int initiator) { return *out_[static_cast<std::size_t>(initiator)]; }
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    out(initiator)->b_transport(payload, delay);
    pass<kWaits>(kLateMemoryCycles, ctx_.clock, delay);
  }
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return out(initiator)->get_direct_mem_ptr(payload, dmi);
  }
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload) {
    return out(initiator)->transport_dbg(payload);
  }

  Inner inner_;
  std::vector<std::unique_ptr<Target>> in_;
  std::vector<std::unique_ptr<Initiator>> out_;
};

template <bool kWaits>
bool add_late_kinds(const char* name) {
  Kind<Interconnect> network("interconnect", name, "takes time", {},
                             [](const Site& s) { return std::make_unique<LateInterconnect<kWaits>>(s.name, s); });
  return (kWaits ? add_kind(std::move(network)) : add_kind(std::move(network).with_keys<LateConfig>())) &&
         add_kind<Memory>(
             {"l1",
              name,
              "takes time",
              {"attnvp.l1"},
              [](const Site& s) { return std::make_unique<LateMemory<Scratchpad, kWaits>>(s.name, s); }}) &&
         add_kind<Memory>({"l0", name, "takes time", {"attnvp.l0"}, [](const Site& s) {
                             return std::make_unique<LateMemory<RegisterFile, kWaits>>(s.name, s);
                           }});
}
// A processor that knows SystemC's time only: every access waits by itself, before and after.
class WaitingProcessor : public Processor, private hal::Cpu {
 public:
  WaitingProcessor(sc_core::sc_module_name name, const Site& site)
      : Processor(name, site.context), config_(site.machine.control), firmware_(*site.firmware) {
    SC_HAS_PROCESS(WaitingProcessor);
    SC_THREAD(run);
    sensitive << start_;
    dont_initialize();
  }
  void start() override {
    finished_ = false;
    start_.notify(sc_core::SC_ZERO_TIME);
  }
  bool finished() const override { return finished_; }
  std::uint64_t finish_cycle() const override { return finish_cycle_; }

 private:
  void run() {
    firmware_(*this, 0);
    finish_cycle_ = ctx_.clock.now();
    finished_ = true;
  }
  bool access(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
    sc_core::wait(ctx_.clock.cycles((bytes + config_.bus_bytes - 1) / config_.bus_bytes * config_.access_cycles));
    tlm::tlm_generic_payload payload;
    fill_payload(payload, command, address, data, bytes);
    sc_core::sc_time delay;
    bus->b_transport(payload, delay);
    EXPECT_EQ(sc_core::sc_time_stamp().value(), ctx_.clock.now_fs());
    sc_core::wait(delay);
    return payload.is_response_ok();
  }
  bool read(std::uint64_t address, void* data, std::size_t bytes) override {
    return access(tlm::TLM_READ_COMMAND, address, data, bytes);
  }
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override {
    return access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes);
  }

  ControlConfig config_;
  Firmware firmware_;
  bool finished_ = true;
  std::uint64_t finish_cycle_ = 0;
  sc_core::sc_event start_;
};
inline const bool kWaitingProcessor =
    add_kind<Processor>({"control", "waiting", "waits by itself", {}, [](const Site& site) {
                           return std::make_unique<WaitingProcessor>(site.name, site);
                         }});

inline const bool kLateKinds = add_late_kinds<false>("late") && add_late_kinds<true>("waiting");

}  // namespace attnvp::bench
