// Engines and DMA controllers of kind `plugin`: a library's module (plugin.h) between the platform's sockets.
#include <fmt/format.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/engine/dma_controller/dma_controller.h"
#include "models/engine/engine.h"
#include "models/interconnect/bus/stream.h"
#include "models/interconnect/bus/transport.h"
#include "models/plugin/foreign_sockets.h"
#include "models/plugin/library.h"
#include "models/sim/module.h"

namespace attnvp {

// Register port of a plug-in engine or DMA controller: forwards accesses of processors by b_transport. Protocol
// violations are faults of the surrounding module.
class ForeignControl : public sc_core::sc_module {
 public:
  using FaultCallback = std::function<void(std::uint64_t address, std::string what)>;
  ForeignControl(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target, Counter& descriptors,
                 FaultCallback fault);

  tlm_utils::simple_target_socket<ForeignControl> in{"in"};

  std::string waiting_for() const;  // description of an access without response; empty: none

 private:
  struct ControlCall {
    std::string what;  // "a write of 4 bytes"
    std::uint64_t address;
    std::uint64_t cycle;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) { return out_->transport_dbg(payload); }

  Context& ctx_;
  Counter& descriptors_;
  FaultCallback fault_;
  std::deque<ControlCall> calls_;  // in progress
  tlm_utils::simple_initiator_socket<ForeignControl> out_{"out"};
};

ForeignControl::ForeignControl(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target,
                               Counter& descriptors, FaultCallback fault)
    : sc_module(name), ctx_(context), descriptors_(descriptors), fault_(std::move(fault)) {
  in.register_b_transport(this, &ForeignControl::b_transport);
  in.register_transport_dbg(this, &ForeignControl::transport_dbg);
  out_.bind(target);
}

void ForeignControl::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::string what =
      fmt::format("a {} of {} bytes", payload.is_read() ? "read" : "write", payload.get_data_length());
  if (payload.is_write() && address % hal::kQueueStride == hal::kQueueDoorbell) descriptors_ += 1;
  calls_.push_back({what, address, ctx_.clock.now()});
  try {
    out_->b_transport(payload, delay);
  } catch (const sc_core::sc_unwind_exception&) {  // this process is being terminated
    throw;
  } catch (...) {
    fault_(address, fmt::format("its plug-in threw an exception {} ({})", exception_text(), what));
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    delay = sc_core::SC_ZERO_TIME;
    return;
  }
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const ControlCall& c) { return c.address == address && c.what == what; });
  calls_.erase(found);
  if (delay.value() > UINT64_MAX - ctx_.clock.now_fs() - ctx_.clock.period_fs()) {
    fault_(address, fmt::format("its plug-in annotated a delay of {}; simulated time ends after 2^64 fs ({})",
                                delay.to_string(), what));
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    delay = sc_core::SC_ZERO_TIME;
  } else if (!payload.is_response_ok() && !ctx_.faults.any()) {
    fault_(address, fmt::format("its plug-in answered {} to {}", payload.get_response_string(), what));
  }
}

std::string ForeignControl::waiting_for() const {
  if (calls_.empty()) return {};
  const ControlCall& call = calls_.front();
  return fmt::format("its plug-in has not answered {} at {:#x} since cycle {}", call.what, call.address, call.cycle);
}

// Adaptor from the base protocol to an engine's stream port of L1. Each burst becomes a stream of one row. Its bytes
// are moved by DMI at its end.
class BurstStream final : public Target {
 public:
  explicit BurstStream(const char* name) : out(name) {}
  StreamInitiatorSocket out;

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t port, tlm::tlm_generic_payload& payload) override;

 private:
  struct StreamedBurst final : PendingAccess {
    explicit StreamedBurst(BurstStream& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override;
    BurstStream& owner;
    tlm::tlm_generic_payload* payload = nullptr;
    Response response;
    Stream stream;
    StreamTransaction transaction;
  };
  void end(StreamedBurst& burst);
  unsigned move(tlm::tlm_generic_payload& payload);

  std::deque<StreamedBurst> bursts_;
  std::vector<StreamedBurst*> free_bursts_;
  tlm::tlm_dmi dmi_;
  bool has_dmi_ = false;
};

bool BurstStream::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                        const Response& response) {
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return true;
  }
  if (!payload.is_read() && !payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return true;
  }
  if (free_bursts_.empty()) free_bursts_.push_back(&bursts_.emplace_back(*this));
  StreamedBurst& burst = *free_bursts_.back();
  free_bursts_.pop_back();
  burst.payload = &payload;
  burst.response = response;
  burst.stream.regions = 0;
  const std::uint64_t bytes = payload.get_data_length();
  burst.stream.add({payload.get_address(), 1, bytes, 0, bytes, payload.is_write()});
  if (!out.begin(burst.transaction.carry(burst.stream), burst, delay)) return false;
  end(burst);
  return true;
}

void BurstStream::StreamedBurst::responded(bool /*is_ok*/, const sc_core::sc_time& delay) {
  const Response to = response;
  owner.end(*this);
  to.send(delay);
}

void BurstStream::end(StreamedBurst& burst) {
  burst.payload->set_response_status(burst.transaction.status);
  if (burst.transaction.is_response_ok()) move(*burst.payload);
  free_bursts_.push_back(&burst);
}

unsigned BurstStream::debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) { return move(payload); }

// Moves nothing if L1 stores no bytes.
unsigned BurstStream::move(tlm::tlm_generic_payload& payload) {
  if (!has_dmi_) {
    StreamTransaction none;
    has_dmi_ = out->get_direct_mem_ptr(none, dmi_);
    if (!has_dmi_) return 0;
  }
  const std::uint64_t bytes = payload.get_data_length(), address = payload.get_address();
  if (address < dmi_.get_start_address() || address + bytes - 1 > dmi_.get_end_address()) return 0;
  unsigned char* const here = dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
  if (payload.is_write()) std::memcpy(here, payload.get_data_ptr(), bytes);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), here, bytes);
  return static_cast<unsigned>(bytes);
}

namespace {

struct OfMac {
  static constexpr const char* kPlace = "mac";
};
struct OfVec {
  static constexpr const char* kPlace = "vec";
};
struct OfDma {
  static constexpr const char* kPlace = "dma";
};

class PluginEngine : public Engine, public Endless {
 public:
  PluginEngine(sc_core::sc_module_name name, const ModuleContext& module_context, const std::string& library)
      : Engine(name, module_context.context),
        plugin_(make_plugin<EnginePlugin>(library, plugin_context(module_context))),
        l1_("l1_port"),
        events_("events"),
        from_l1_("from_l1", ctx_, l1_),
        from_events_("from_events", ctx_, events_) {
    of_library(module_context.slot, library, [&] {
      control_ = std::make_unique<ForeignControl>(
          "control", ctx_, plugin_->control(), descriptors,
          [this](std::uint64_t address, std::string what) { fault(FaultCode::kNone, address, std::move(what)); });
      plugin_->l1().bind(from_l1_.in);
      plugin_->events().bind(from_events_.in);
    });
  }
  tlm::tlm_target_socket<>& control() override { return control_->in; }
  StreamInitiatorSocket& l1() override { return l1_.out; }
  StreamInitiatorSocket& l0() override { return l0_; }
  tlm::tlm_initiator_socket<>& events() override { return events_.out; }
  bool ends_later() const override { return false; }
  std::string waiting_for() const override { return control_->waiting_for(); }

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors that were pushed"};

 private:
  std::unique_ptr<EnginePlugin> plugin_;
  std::unique_ptr<ForeignControl> control_;
  BurstStream l1_;
  StreamInitiatorSocket l0_{"l0"};  // unused: the plug-in has its own registers
  Passage events_;
  ForeignInitiator from_l1_, from_events_;
  const ExitGuard exit_guard_{*this, ctx_.clock};
};

class PluginDma : public DmaController, public Endless {
 public:
  PluginDma(sc_core::sc_module_name name, const ModuleContext& module_context)
      : DmaController(name, module_context.context),
        plugin_(make_plugin<DmaPlugin>(library_of<OfDma>(module_context), plugin_context(module_context))),
        bus_("bus"),
        l1_("l1"),
        from_bus_("from_bus", ctx_, bus_),
        from_l1_("from_l1", ctx_, l1_) {
    of_library(module_context.slot, library_of<OfDma>(module_context), [&] {
      control_ = std::make_unique<ForeignControl>(
          "control", ctx_, plugin_->control(), descriptors,
          [this](std::uint64_t address, std::string what) { fault(FaultCode::kNone, address, std::move(what)); });
      plugin_->bus().bind(from_bus_.in);
      plugin_->l1().bind(from_l1_.in);
    });
    for (std::uint32_t i = 0; i < module_context.machine.dma.channels; ++i) {
      events_.push_back(std::make_unique<InitiatorSocket>(fmt::format("events{}", i).c_str()));
    }
  }
  tlm::tlm_target_socket<>& control() override { return control_->in; }
  tlm::tlm_initiator_socket<>& bus() override { return bus_.out; }
  tlm::tlm_initiator_socket<>& l1() override { return l1_.out; }
  tlm::tlm_initiator_socket<>& events(std::uint32_t channel) override { return *events_.at(channel); }
  bool ends_later() const override { return false; }
  std::string waiting_for() const override { return control_->waiting_for(); }

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors that were pushed"};

 private:
  std::unique_ptr<DmaPlugin> plugin_;
  std::unique_ptr<ForeignControl> control_;
  Passage bus_, l1_;
  ForeignInitiator from_bus_, from_l1_;
  std::vector<std::unique_ptr<InitiatorSocket>> events_;  // unused: the plug-in has one socket for all
  const ExitGuard exit_guard_{*this, ctx_.clock};
};

constexpr const char* kEngineMeaning = "is a library's module that takes the same commands";

const bool kMacKind =
    add_kind(plugin_kind<OfMac, EnginePlugin, Engine>(kEngineMeaning, {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginEngine>(module_context.name, module_context, library_of<OfMac>(module_context));
    }));
const bool kVecKind =
    add_kind(plugin_kind<OfVec, EnginePlugin, Engine>(kEngineMeaning, {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginEngine>(module_context.name, module_context, library_of<OfVec>(module_context));
    }));
const bool kDmaKind =
    add_kind(plugin_kind<OfDma, DmaPlugin, DmaController>(kEngineMeaning, {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginDma>(module_context.name, module_context);
    }));

}  // namespace

}  // namespace attnvp
