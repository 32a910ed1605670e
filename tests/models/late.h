// Test modules with added latency: an interconnect and memories around the standard ones. "late" kinds annotate the
// delay, "waiting" kinds block their initiators.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <vector>

#include "models/control/control_processor/cpu.h"
#include "models/control/processor.h"
#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/stream.h"
#include "models/interconnect/interconnect.h"
#include "models/keys/binding.h"
#include "models/memory/register_file/register_file.h"
#include "models/memory/scratchpad/scratchpad.h"
#include "models/registry.h"

namespace attnvp::bench {

struct LateConfig {
  std::uint32_t before_cycles = 0, after_cycles = 5;  // of the target

  static void describe(config::Keys<LateConfig>& key) {
    using namespace config;
    key(number("before_cycles", KeyUnit::kCycles, 0, 100, "annotated on the way to the target"),
        &LateConfig::before_cycles);
    key(number("after_cycles", KeyUnit::kCycles, 0, 100, "annotated on the way back"), &LateConfig::after_cycles);
  }
};

template <bool kWaits>
void pass(std::uint64_t cycles, const Clock& clock, sc_core::sc_time& delay) {
  delay += clock.cycles(cycles);
  if (!kWaits) return;
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
}

// Access in progress at a target; its response is forwarded a fixed time later.
struct LateAccess final : PendingAccess {
  void responded(bool /*is_ok*/, const sc_core::sc_time& delay) override {
    payload->set_extension(former);
    response.send(delay + more);
    delete this;
  }
  // True: completed, after `delay`.
  static bool begin(InitiatorSocket& out, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                    const sc_core::sc_time& more, const Response& response) {
    auto* const access = new LateAccess;
    access->payload = &payload;
    access->former = payload.get_extension<PendingAccess>();
    access->more = more;
    access->response = response;
    if (!out.begin(payload, *access, delay)) return false;
    payload.set_extension(access->former);
    delete access;
    delay += more;
    return true;
  }
  tlm::tlm_generic_payload* payload = nullptr;
  PendingAccess* former = nullptr;
  sc_core::sc_time more;
  Response response;
};

template <bool kWaits>
class LateInterconnect : public Interconnect {
 public:
  LateInterconnect(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Interconnect(name, module_context.context), config_(module_context.machine.own<LateConfig>()) {}
  bool is_approximately_timed() const override { return !kWaits; }

 private:
  void carry(int /*initiator*/, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    pass<kWaits>(config_.before_cycles, ctx_.clock, delay);
    send(target, payload, delay);
    pass<kWaits>(config_.after_cycles, ctx_.clock, delay);
  }
  bool begin(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    struct Back {
      LateInterconnect& owner;
      int initiator;
      tlm::tlm_generic_payload& payload;
    };
    auto* const back = new Back{*this, initiator, payload};
    const Response response(
        [](void* to, void* /*access*/, const sc_core::sc_time& after) {
          const std::unique_ptr<Back> it(static_cast<Back*>(to));
          it->owner.respond(it->initiator, it->payload, after);
        },
        back, nullptr);
    delay += ctx_.clock.cycles(config_.before_cycles);
    if (!LateAccess::begin(socket_at(target), payload, delay, ctx_.clock.cycles(config_.after_cycles), response)) {
      return false;
    }
    delete back;
    return true;
  }
  LateConfig config_;
};

constexpr std::uint64_t kLateMemoryCycles = 7;

template <class Inner, bool kWaits>
class LateMemory : public Memory, private Target, private StreamTarget {
 public:
  LateMemory(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Memory(name, module_context.context), inner_("inner", module_context) {
    for (std::uint32_t i = 0; i < module_context.engines; ++i) {
      streams_.push_back(std::make_unique<Streams>(("in" + std::to_string(i)).c_str(), *this, i));
      streams_.back()->out.bind(inner_.stream(i));
    }
    for (std::uint32_t i = 0; i < module_context.initiators; ++i) {
      ports_.push_back(std::make_unique<Port>("bus_in" + std::to_string(i), *this, i));
      ports_.back()->out.bind(inner_.in(i));
    }
  }
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return ports_.at(initiator)->in(); }
  StreamTargetSocket& stream(std::uint32_t engine) override { return streams_.at(engine)->in; }
  tlm::tlm_target_socket<>* control() override { return inner_.control(); }
  bool is_approximately_timed() const override { return !kWaits; }

 private:
  struct Port {
    Port(const std::string& name, LateMemory& its_owner, std::uint32_t number)
        : owner(its_owner),
          late((name + "_late").c_str(), owner.ctx_.event_queue, static_cast<Target&>(owner), number),
          waiting((name + "_waiting").c_str()),
          out((name + "_out").c_str()) {
      waiting.register_b_transport(this, &Port::b_transport);
      waiting.register_transport_dbg(this, &Port::debug);
      unused.bind(kWaits ? static_cast<tlm::tlm_target_socket<>&>(late) : waiting);
    }
    tlm::tlm_target_socket<>& in() { return kWaits ? static_cast<tlm::tlm_target_socket<>&>(waiting) : late; }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
      out->b_transport(payload, delay);
      pass<true>(kLateMemoryCycles, owner.ctx_.clock, delay);
    }
    unsigned debug(tlm::tlm_generic_payload& payload) { return out->transport_dbg(payload); }
    LateMemory& owner;
    TargetSocket late;
    tlm_utils::simple_target_socket<Port> waiting;
    InitiatorSocket out;
    tlm_utils::simple_initiator_socket<Port> unused{sc_core::sc_gen_unique_name("unused")};
  };
  struct Streams {
    Streams(const char* name, LateMemory& its_owner, std::uint32_t number)
        : owner(its_owner),
          in(name, static_cast<StreamTarget&>(owner), number),
          out(sc_core::sc_gen_unique_name("out")) {}
    LateMemory& owner;
    StreamTargetSocket in;
    StreamInitiatorSocket out;
  };
  struct LateStream final : PendingAccess {
    void responded(bool /*is_ok*/, const sc_core::sc_time& delay) override {
      transaction->access = former;
      response.send(delay + more);
      delete this;
    }
    StreamTransaction* transaction = nullptr;
    PendingAccess* former = nullptr;
    sc_core::sc_time more;
    Response response;
  };

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override {
    return LateAccess::begin(ports_[port]->out, payload, delay, ctx_.clock.cycles(kLateMemoryCycles), response);
  }
  bool begin(std::uint32_t engine, StreamTransaction& transaction, sc_core::sc_time& delay,
             const Response& response) override {
    auto* const access = new LateStream;
    access->transaction = &transaction;
    access->former = transaction.access;
    access->more = ctx_.clock.cycles(kLateMemoryCycles);
    access->response = response;
    if (!streams_[engine]->out.begin(transaction, *access, delay)) return false;
    transaction.access = access->former;
    delay += access->more;
    delete access;
    return true;
  }
  bool direct(std::uint32_t engine, tlm::tlm_dmi& dmi) override {
    StreamTransaction transaction;
    return streams_[engine]->out->get_direct_mem_ptr(transaction, dmi);
  }
  bool direct(std::uint32_t port, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    return ports_[port]->out->get_direct_mem_ptr(payload, dmi);
  }
  unsigned debug(std::uint32_t port, tlm::tlm_generic_payload& payload) override {
    return ports_[port]->out->transport_dbg(payload);
  }

  Inner inner_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::unique_ptr<Streams>> streams_;
};

template <bool kWaits>
bool add_late_kinds(const char* name) {
  Kind<Interconnect> network("interconnect", name, "takes time", {}, [](const ModuleContext& s) {
    return std::make_unique<LateInterconnect<kWaits>>(s.name, s);
  });
  return (kWaits ? add_kind(std::move(network)) : add_kind(std::move(network).with_keys<LateConfig>())) &&
         add_kind<Memory>(
             {"l1",
              name,
              "takes time",
              {"attnvp.l1"},
              [](const ModuleContext& s) { return std::make_unique<LateMemory<Scratchpad, kWaits>>(s.name, s); }}) &&
         add_kind<Memory>({"l0", name, "takes time", {"attnvp.l0"}, [](const ModuleContext& s) {
                             return std::make_unique<LateMemory<RegisterFile, kWaits>>(s.name, s);
                           }});
}
// Processor without run-ahead: every access waits before and after it.
class WaitingProcessor : public Processor, private hal::Cpu {
 public:
  WaitingProcessor(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Processor(name, module_context.context),
        config_(module_context.machine.control),
        firmware_(*module_context.firmware) {
    SC_HAS_PROCESS(WaitingProcessor);
    SC_THREAD(run);
    sensitive << start_;
    dont_initialize();
  }
  tlm::tlm_initiator_socket<>& bus() override { return bus_; }
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
    bus_->b_transport(payload, delay);
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

  tlm_utils::simple_initiator_socket<WaitingProcessor> bus_{"bus"};
  ControlConfig config_;
  Firmware firmware_;
  bool finished_ = true;
  std::uint64_t finish_cycle_ = 0;
  sc_core::sc_event start_;
};
inline const bool kWaitingProcessor =
    add_kind<Processor>({"control", "waiting", "waits by itself", {}, [](const ModuleContext& module_context) {
                           return std::make_unique<WaitingProcessor>(module_context.name, module_context);
                         }});

inline const bool kLateKinds = add_late_kinds<false>("late") && add_late_kinds<true>("waiting");

}  // namespace attnvp::bench
