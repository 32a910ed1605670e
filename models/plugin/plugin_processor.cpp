// Control processor of kind `plugin`: a library's processor (plugin.h) with its own instruction set, firmware and
// timing.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "models/control/processor.h"
#include "models/plugin/foreign_sockets.h"
#include "models/plugin/library.h"
#include "models/sim/module.h"

namespace attnvp {

namespace {

struct OfControl {
  static constexpr const char* kPlace = "control";
};

class PluginProcessor : public Processor, public Endless, private Target {
 public:
  PluginProcessor(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Processor(name, module_context.context),
        plugin_(make_plugin<ProcessorPlugin>(library_of<OfControl>(module_context), told(module_context))),
        bus_("bus"),
        from_bus_("from_bus", ctx_, *this) {
    SC_HAS_PROCESS(PluginProcessor);
    SC_THREAD(run);
    of_library(module_context.slot, library_of<OfControl>(module_context), [&] { plugin_->bus().bind(from_bus_.in); });
  }
  tlm::tlm_initiator_socket<>& bus() override { return bus_.out; }
  void start() override {
    finished_ = false;
    is_starting_ = true;
    start_cycle_ = ctx_.clock.now();
    ctx_.event_queue.notify(start_);
  }
  bool finished() const override { return finished_; }
  std::uint64_t finish_cycle() const override { return finish_cycle_; }
  bool ends_later() const override { return false; }
  std::string waiting_for() const override { return finished_ ? "" : "its plug-in has not ended"; }

  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles from its start to its end"};

 private:
  PluginContext told(const ModuleContext& module_context) {
    PluginContext told = plugin_context(module_context);
    told.finished = [this] {
      if (std::exchange(finished_, true)) return;
      finish_cycle_ = ctx_.clock.ceil_cycles(sc_core::sc_time_stamp());
      busy_cycles += finish_cycle_ - start_cycle_;
    };
    return told;
  }
  // Accesses after the cycle limit are refused, which ends the run.
  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override {
    if (ctx_.clock.now() - start_cycle_ < ctx_.cycle_limit.cycles()) return bus_.begin(port, payload, delay, response);
    if (!ctx_.faults.any()) fault(FaultCode::kNone, payload.get_address(), ctx_.cycle_limit.sentence());
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return true;
  }
  unsigned debug(std::uint32_t port, tlm::tlm_generic_payload& payload) override { return bus_.debug(port, payload); }
  void run() {
    while (true) {
      while (!is_starting_) sc_core::wait(start_);
      is_starting_ = false;
      try {
        plugin_->start();
      } catch (const sc_core::sc_unwind_exception&) {  // this process is being terminated
        throw;
      } catch (...) {
        fault(FaultCode::kNone, 0, fmt::format("its plug-in threw an exception {} in start()", exception_text()));
      }
    }
  }

  std::unique_ptr<ProcessorPlugin> plugin_;
  Passage bus_;
  ForeignInitiator from_bus_;
  bool finished_ = true, is_starting_ = false;
  std::uint64_t start_cycle_ = 0, finish_cycle_ = 0;
  sc_core::sc_event start_;
  const ExitGuard exit_guard_{*this, ctx_.clock};
};

const bool kProcessorKind = add_kind(plugin_kind<OfControl, ProcessorPlugin, Processor>(
    "is a library's processor, with firmware of its own", {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginProcessor>(module_context.name, module_context);
    }));

}  // namespace

}  // namespace attnvp
