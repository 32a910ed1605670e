// Interconnect of kind `plugin`: a library's network (plugin.h) between the platform's initiators and targets. It
// carries payloads of its own. The platform's payload is sent to the target when its counterpart leaves the plug-in.
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <vector>

#include "models/interconnect/interconnect.h"
#include "models/plugin/foreign_sockets.h"
#include "models/plugin/library.h"
#include "models/sim/module.h"

namespace attnvp {

namespace {

struct OfInterconnect {
  static constexpr const char* kPlace = "interconnect";
};

class PluginInterconnect : public Interconnect, public Endless, public ForeignTarget::Owner {
 public:
  PluginInterconnect(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Interconnect(name, module_context.context),
        library_(library_of<OfInterconnect>(module_context)),
        plugin_context_(plugin_context(module_context)) {}
  bool is_approximately_timed() const override { return true; }
  bool ends_later() const override { return false; }
  std::string waiting_for() const override {
    for (const ForwardedAccess& a : accesses_) {
      if (a.state == ForwardState::kAtTarget) continue;
      return fmt::format("its plug-in has not {} {} at {:#x} since cycle {}",
                         a.state == ForwardState::kSent ? "passed on" : "answered", text_of(a),
                         a.payload->get_address(), a.cycle);
    }
    return {};
  }

 private:
  enum class ForwardState : std::uint8_t { kSent, kAtTarget, kReturning };
  struct ForwardedAccess final : PendingAccess {
    explicit ForwardedAccess(PluginInterconnect& its_owner) : owner(its_owner) {}
    // The target has responded; the response returns into the plug-in.
    void responded(bool /*is_ok*/, const sc_core::sc_time& delay) override {
      returns();
      exit.send(delay);
    }
    void returns() {
      sent->set_extension(former);
      payload->set_response_status(sent->get_response_status());
      inner->set_response_status(payload->get_response_status());
      state = ForwardState::kReturning;
      cycle = owner.ctx_.clock.now();
    }
    PluginInterconnect& owner;
    ForwardState state = ForwardState::kSent;
    std::uint64_t cycle = 0;  // of the last change of state
    int initiator = 0, target = 0;
    tlm::tlm_generic_payload* payload = nullptr;  // payload of the initiator,
    tlm::tlm_generic_payload* sent = nullptr;     // payload for the target,
    OwnedPayload own;
    tlm::tlm_generic_payload* inner = nullptr;  // payload that left the plug-in
    PendingAccess* former = nullptr;            // extension of `sent`
    WaitingThread* thread = nullptr;            // LT initiator; nullptr: nb_transport
    Response exit;                              // response into the plug-in
    std::list<ForwardedAccess>::iterator place;
  };
  // Output of the plug-in to one target.
  struct Exit final : Target {
    Exit(PluginInterconnect& its_owner, int its_number) : owner(its_owner), number(its_number) {}
    bool begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& inner, sc_core::sc_time& delay,
               const Response& response) override {
      return owner.leave(number, inner, delay, response);
    }
    PluginInterconnect& owner;
    int number;
  };

  // All initiators and targets have been added.
  void before_end_of_elaboration() override {
    plugin_context_.initiators = initiators();
    for (const AddressRange& range : map().ranges()) plugin_context_.targets.push_back({range.base, range.bytes});
    plugin_ = make_plugin<InterconnectPlugin>(library_, plugin_context_);
    of_library(OfInterconnect::kPlace, library_, [&] {
      const auto style = plugin_->phases() ? ForeignTarget::Style::kPhases : ForeignTarget::Style::kBlockingAtOnce;
      for (std::uint32_t i = 0; i < plugin_context_.initiators; ++i) {
        entries_.push_back(
            std::make_unique<ForeignTarget>(fmt::format("entry{}", i).c_str(), ctx_, plugin_->in(i), style, *this));
      }
      for (std::uint32_t i = 0; i < plugin_context_.targets.size(); ++i) {
        exits_.push_back(std::make_unique<Exit>(*this, static_cast<int>(i)));
        outputs_.push_back(std::make_unique<ForeignInitiator>(fmt::format("exit{}", i).c_str(), ctx_, *exits_.back()));
        plugin_->out(i).bind(outputs_.back()->in);
      }
    });
  }

  void enter(int initiator, int target, tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay,
             WaitingThread* thread) {
    ForwardedAccess& a = accesses_.emplace_back(*this);
    a.place = std::prev(accesses_.end());
    a.cycle = ctx_.clock.now();
    a.initiator = initiator;
    a.target = target;
    a.payload = &payload;
    a.thread = thread;
    entries_[static_cast<std::size_t>(initiator)]->send(
        {payload.is_read(), payload.get_address(), payload.get_data_ptr(), payload.get_data_length(), &a},
        delay.value());
  }
  void carry(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    WaitingThread thread(ctx_.event_queue);
    enter(initiator, target, payload, delay, &thread);
    delay = thread.wait();
  }
  bool begin(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    enter(initiator, target, payload, delay, nullptr);
    return false;
  }

  bool leave(int output, tlm::tlm_generic_payload& inner, sc_core::sc_time& delay, const Response& response) {
    auto* const a = static_cast<ForwardedAccess*>(ForeignTarget::access_of(inner));
    if (a == nullptr || a->state != ForwardState::kSent || a->target != output) {
      inner.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      if (a == nullptr) {
        broken(nullptr, fmt::format("sent a payload that it was not given to output {}", output));
      } else if (a->state != ForwardState::kSent) {
        fault_of(*a, "passed on twice");
      } else {
        fault_of(*a, fmt::format("sent to output {}; allowed is output {}:", output, a->target));
      }
      return true;
    }
    a->state = ForwardState::kAtTarget;
    a->inner = &inner;
    a->exit = response;
    a->sent = &managed(*a->payload, a->own);
    a->former = a->sent->get_extension<PendingAccess>();
    if (!socket_at(output).begin(*a->sent, *a, delay)) return false;
    a->returns();
    return true;
  }

  void answered(const ForeignTarget::TargetRequest& request, tlm::tlm_response_status status,
                std::uint64_t end_fs) override {
    ForwardedAccess& a = *static_cast<ForwardedAccess*>(request.access);
    if (a.state != ForwardState::kReturning) {
      if (!ctx_.faults.any())
        fault_of(a, a.state == ForwardState::kSent ? "answered without passing on" : "answered early");
      a.payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else if (status <= tlm::TLM_INCOMPLETE_RESPONSE && a.payload->is_response_ok()) {
      tlm::tlm_generic_payload named;
      named.set_response_status(status);
      fault_of(a, fmt::format("answered {} to", named.get_response_string()));
      a.payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    const std::uint64_t now = ctx_.clock.now();
    const std::uint64_t end = ctx_.clock.ceil_cycles(sc_core::sc_time::from_value(end_fs));
    const sc_core::sc_time delay = ctx_.clock.cycles(end - std::min(end, now));
    tlm::tlm_generic_payload& payload = *a.payload;
    WaitingThread* const thread = a.thread;
    const int initiator = a.initiator;
    accesses_.erase(a.place);
    if (thread != nullptr) return thread->end(delay);
    respond(initiator, payload, delay);
  }
  void broken(const ForeignTarget::TargetRequest* request, const std::string& what) override {
    fault(FaultCode::kNone, request == nullptr ? 0 : request->address,
          fmt::format("its plug-in {}{}", what, request == nullptr ? "" : fmt::format(" ({})", request->text())));
  }
  void fault_of(const ForwardedAccess& a, const std::string& what) {
    fault(FaultCode::kNone, a.payload->get_address(), fmt::format("its plug-in {} {}", what, text_of(a)));
  }
  static std::string text_of(const ForwardedAccess& a) {
    return fmt::format("a {} of {} bytes", a.payload->is_read() ? "read" : "write", a.payload->get_data_length());
  }

  const std::string library_;
  PluginContext plugin_context_;
  std::unique_ptr<InterconnectPlugin> plugin_;
  std::vector<std::unique_ptr<ForeignTarget>> entries_;
  std::vector<std::unique_ptr<Exit>> exits_;
  std::vector<std::unique_ptr<ForeignInitiator>> outputs_;
  std::list<ForwardedAccess> accesses_;  // in flight, oldest first
  const ExitGuard exit_guard_{*this, ctx_.clock};
};

const bool kInterconnectKind = add_kind(plugin_kind<OfInterconnect, InterconnectPlugin, Interconnect>(
    "is a library's network", {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginInterconnect>(module_context.name, module_context);
    }));

}  // namespace

}  // namespace attnvp
