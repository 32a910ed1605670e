// Engines and DMA controllers of kind `plugin`: a library's module (plugin.h) between the platform's sockets.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "models/engine/dma_controller/dma_controller.h"
#include "models/engine/engine.h"
#include "models/plugin/burst_stream.h"
#include "models/plugin/foreign_control.h"
#include "models/plugin/foreign_initiator.h"
#include "models/plugin/library.h"
#include "models/sim/endless.h"

namespace attnvp {

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
  PluginEngine(sc_core::sc_module_name name, const ModuleContext& site, const std::string& library)
      : Engine(name, site.context),
        plugin_(make_plugin<EnginePlugin>(library, plugin_site(site))),
        l1_("l1_port"),
        events_("events"),
        from_l1_("from_l1", ctx_, l1_),
        from_events_("from_events", ctx_, events_) {
    of_library(site.place, library, [&] {
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
  PluginDma(sc_core::sc_module_name name, const ModuleContext& site)
      : DmaController(name, site.context),
        plugin_(make_plugin<DmaPlugin>(library_of<OfDma>(site), plugin_site(site))),
        bus_("bus"),
        l1_("l1"),
        from_bus_("from_bus", ctx_, bus_),
        from_l1_("from_l1", ctx_, l1_) {
    of_library(site.place, library_of<OfDma>(site), [&] {
      control_ = std::make_unique<ForeignControl>(
          "control", ctx_, plugin_->control(), descriptors,
          [this](std::uint64_t address, std::string what) { fault(FaultCode::kNone, address, std::move(what)); });
      plugin_->bus().bind(from_bus_.in);
      plugin_->l1().bind(from_l1_.in);
    });
    for (std::uint32_t i = 0; i < site.machine.dma.channels; ++i) {
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
    add_kind(plugin_kind<OfMac, EnginePlugin, Engine>(kEngineMeaning, {}, [](const ModuleContext& site) {
      return std::make_unique<PluginEngine>(site.name, site, library_of<OfMac>(site));
    }));
const bool kVecKind =
    add_kind(plugin_kind<OfVec, EnginePlugin, Engine>(kEngineMeaning, {}, [](const ModuleContext& site) {
      return std::make_unique<PluginEngine>(site.name, site, library_of<OfVec>(site));
    }));
const bool kDmaKind = add_kind(plugin_kind<OfDma, DmaPlugin, DmaController>(
    kEngineMeaning, {}, [](const ModuleContext& site) { return std::make_unique<PluginDma>(site.name, site); }));

}  // namespace

}  // namespace attnvp
