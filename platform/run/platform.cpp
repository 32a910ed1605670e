#include "platform/run/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "firmware/hal/registers.h"
#include "firmware/runtime/dataflow.h"
#include "models/interconnect/bus/payload.h"
#include "models/registry.h"
#include "models/sim/module.h"

namespace attnvp {

namespace {

AddressRange events_range(std::uint32_t c) {
  return {hal::events_base(c), hal::kEventsSize, fmt::format("cluster{}.events", c)};
}
AddressRange dma_range(std::uint32_t c) { return {hal::dma_base(c), hal::kDmaSize, fmt::format("cluster{}.dma", c)}; }
AddressRange l1_control_range(std::uint32_t c) {
  return {hal::l1_control_base(c), hal::kL1ControlSize, fmt::format("cluster{}.l1 control", c)};
}
AddressRange mac_range(std::uint32_t c, std::uint32_t k) {
  return {hal::mac_base(c, k), hal::kEngineSize, fmt::format("cluster{}.core{}.mac", c, k)};
}
AddressRange vec_range(std::uint32_t c, std::uint32_t k) {
  return {hal::vec_base(c, k), hal::kEngineSize, fmt::format("cluster{}.core{}.vec", c, k)};
}
// One page for each concurrent job.
AddressRange mailbox_range(std::uint64_t pages = 1) {
  return {hal::kMailboxBase, pages * hal::kMailboxSize, "mailbox"};
}
std::uint64_t mailbox_pages(const std::vector<Partition>& partitions) {
  std::uint64_t last = 0;
  for (const Partition& p : partitions) last = std::max(last, p.mailbox / hal::kMailboxSize);
  return last + 1;
}
AddressRange l1_range(const MachineConfig& m, std::uint32_t c) {
  return {hal::l1_base(c), m.l1.size_bytes, fmt::format("cluster{}.l1", c), true};
}
AddressRange dram_range(const MachineConfig& m) { return {hal::kDramBase, m.dram.size_bytes, "dram", true}; }
AddressRange l2_range(const MachineConfig& m) { return {hal::kL2Base, m.l2.size_bytes, "l2", true}; }

// Base-protocol sockets of a cluster's L1.
constexpr std::uint32_t kL1SocketOfDma = 0, kL1SocketOfBus = 1, kL1Sockets = 2;

// True for a clock below an object; clocks always have pending events.
bool has_clock(const sc_core::sc_object& object) {
  const auto& children = object.get_child_objects();
  return std::any_of(children.begin(), children.end(), [](const sc_core::sc_object* child) {
    return dynamic_cast<const sc_core::sc_clock*>(child) != nullptr || has_clock(*child);
  });
}

}  // namespace

AddressMap address_map(const MachineConfig& m) {
  AddressMap map;
  for (std::uint32_t c = 0; c < m.clusters; ++c) {
    map.add(events_range(c));
    map.add(dma_range(c));
    map.add(l1_control_range(c));
    for (std::uint32_t k = 0; k < m.cores; ++k) {
      map.add(mac_range(c, k));
      map.add(vec_range(c, k));
    }
    map.add(l1_range(m.with_cluster(c), c));
  }
  map.add(mailbox_range());
  map.add(dram_range(m));
  if (m.has_l2()) map.add(l2_range(m));
  return map;
}

Bindings::Bindings(Context& context, const MachineConfig& machine)
    : context_(context),
      are_checked_(machine.simulation.protocol_check == "on" || std::getenv("ATTNVP_PROTOCOL_CHECK") != nullptr) {}

tlm::tlm_target_socket<>& Bindings::to(tlm::tlm_target_socket<>& target, bool is_approximately_timed) {
  tlm::tlm_target_socket<>* socket = &target;
  if (are_checked_) {
    const char* const name = sc_core::sc_gen_unique_name("checker");
    socket = &checkers_.emplace_back(std::make_unique<ProtocolChecker>(name, context_, target))->in;
  }
  if (is_approximately_timed) return *socket;
  LtAdaptor& adaptor =
      *adaptors_.emplace_back(std::make_unique<LtAdaptor>(sc_core::sc_gen_unique_name("lt_adaptor"), context_));
  adaptor.out.bind(*socket);
  return adaptor.in;
}

Core::Core(sc_core::sc_module_name name, Context& context, const MachineConfig& m, std::uint32_t cluster,
           std::uint32_t core)
    : sc_module(name),
      l0(make<Memory>({.slot = "l0",
                       .name = "l0",
                       .context = context,
                       .machine = m,
                       .initiators = 0,
                       .engines = 2,
                       .cluster = cluster,
                       .core = core})),
      mac(make<Engine>({.slot = "mac",
                        .name = "mac",
                        .context = context,
                        .machine = m,
                        .base = hal::mac_base(cluster, core),
                        .cluster = cluster,
                        .core = core})),
      vec(make<Engine>({.slot = "vec",
                        .name = "vec",
                        .context = context,
                        .machine = m,
                        .base = hal::vec_base(cluster, core),
                        .cluster = cluster,
                        .core = core})) {
  mac->l0().bind(l0->stream(0));
  vec->l0().bind(l0->stream(1));
}

Cluster::Cluster(sc_core::sc_module_name name, Context& context, const MachineConfig& m, std::uint32_t cluster,
                 Interconnect& bus, const Firmware& firmware)
    : sc_module(name),
      l1(make<Memory>({.slot = "l1",
                       .name = "l1",
                       .context = context,
                       .machine = m,
                       .base = hal::l1_base(cluster),
                       .initiators = kL1Sockets,
                       .engines = 2 * m.cores,
                       .cluster = cluster})),
      events(make<EventUnit>({.slot = "events",
                              .name = "events",
                              .context = context,
                              .machine = m,
                              .base = hal::events_base(cluster),
                              .cluster = cluster})),
      dma(make<DmaController>({.slot = "dma",
                               .name = "dma",
                               .context = context,
                               .machine = m,
                               .base = hal::dma_base(cluster),
                               .map = &bus.map(),
                               .cluster = cluster})),
      cpu(make<Processor>({.slot = "control",
                           .name = "cpu",
                           .context = context,
                           .machine = m,
                           .cluster = cluster,
                           .firmware = &firmware})),
      bindings_(context, m) {
  const std::string at = fmt::format("cluster{}_", cluster);
  const int here = static_cast<int>(cluster);
  bus.add_target(events_range(cluster), here).bind(bindings_.to(events->in(), events->is_approximately_timed()));
  bus.add_target(dma_range(cluster), here).bind(bindings_.to(dma->control(), dma->is_approximately_timed()));
  if (l1->control() != nullptr) bus.add_target(l1_control_range(cluster), here).bind(bindings_.to(*l1->control()));
  cpu->listen(*events);
  const auto of_l1 = [this](std::uint32_t socket) -> tlm::tlm_target_socket<>& {
    return bindings_.to(l1->in(socket), l1->is_approximately_timed());
  };
  const auto on_bus = [&](const std::string& initiator) -> tlm::tlm_target_socket<>& {
    return bindings_.to(bus.add_initiator(initiator, here), bus.is_approximately_timed());
  };
  cpu->bus().bind(on_bus(Platform::processor_name(cluster)));
  bus.add_target(l1_range(m, cluster), here).bind(of_l1(kL1SocketOfBus));
  dma->bus().bind(on_bus(Platform::dma_name(cluster)));
  dma->l1().bind(of_l1(kL1SocketOfDma));
  for (std::uint32_t i = 0; i < m.dma.channels; ++i) {
    dma->events(i).bind(on_bus(fmt::format("{}dma{}_events", at, i)));
  }
  for (std::uint32_t k = 0; k < m.cores; ++k) {
    cores.push_back(std::make_unique<Core>(fmt::format("core{}", k).c_str(), context, m.with_core(k), cluster, k));
    Core& core = *cores.back();
    const std::string of_core = fmt::format("{}core{}_", at, k);
    bus.add_target(mac_range(cluster, k), here)
        .bind(bindings_.to(core.mac->control(), core.mac->is_approximately_timed()));
    bus.add_target(vec_range(cluster, k), here)
        .bind(bindings_.to(core.vec->control(), core.vec->is_approximately_timed()));
    core.mac->l1().bind(l1->stream(2 * k));
    core.vec->l1().bind(l1->stream(2 * k + 1));
    core.mac->events().bind(on_bus(of_core + "mac_events"));
    core.vec->events().bind(on_bus(of_core + "vec_events"));
  }
}

Platform::Platform(sc_core::sc_module_name name, const MachineConfig& m, bool full_data, const Firmware& firmware,
                   std::vector<Partition> partitions)
    : sc_module(name),
      context_(m.clock_hz, full_data, std::move(partitions)),
      machine_(m),
      bus(make<Interconnect>({.slot = "interconnect", .name = "bus", .context = context_, .machine = machine_})),
      mailbox(make<Memory>({.slot = "mailbox",
                            .name = "mailbox",
                            .context = context_,
                            .machine = machine_,
                            .base = hal::kMailboxBase,
                            .size_bytes = mailbox_range(mailbox_pages(context_.partitions)).bytes})),
      dram(make<Memory>(
          {.slot = "dram", .name = "dram", .context = context_, .machine = machine_, .base = hal::kDramBase})),
      l2(m.has_l2() ? make<Memory>(
                          {.slot = "l2", .name = "l2", .context = context_, .machine = machine_, .base = hal::kL2Base})
                    : nullptr) {
  context_.event_queue.set_run_ahead(m.simulation.run_ahead == "on");
  context_.cycle_limit.set_by_user(m.simulation.max_cycles);
  context_.l1_tags.assign(std::begin(firmware::kL1RegionNames), std::end(firmware::kL1RegionNames));
  bus->add_target(mailbox_range(mailbox_pages(context_.partitions)))
      .bind(bindings_.to(mailbox->in(0), mailbox->is_approximately_timed()));
  bus->add_target(dram_range(m)).bind(bindings_.to(dram->in(0), dram->is_approximately_timed()));
  if (l2 != nullptr) bus->add_target(l2_range(m)).bind(bindings_.to(l2->in(0), l2->is_approximately_timed()));
  host_.bind(bus->add_initiator("host"));
  for (std::uint32_t c = 0; c < m.clusters; ++c) {
    const MachineConfig& own =
        m.cluster_overrides.empty()
            ? machine_
            : *cluster_machines_.emplace_back(std::make_unique<MachineConfig>(m.with_cluster(c)));
    clusters.push_back(
        std::make_unique<Cluster>(fmt::format("cluster{}", c).c_str(), context_, own, c, *bus, firmware));
  }
  for_each_module(*this, [this](Module& module) {
    modules_.push_back(&module);
    if (dynamic_cast<Endless*>(&module) != nullptr) foreign_.push_back(&module);
  });
  is_endless_ = !foreign_.empty() || has_clock(*this);
  steady_state_ = std::make_unique<SteadyState>(context_, modules_, dram->size_bytes());
}

// The last cluster first: SystemC searches a list of all ports for each that goes, from its end.
Platform::~Platform() {
  while (!clusters.empty()) clusters.pop_back();
}

std::string Platform::processor_name(std::uint32_t cluster) { return fmt::format("cluster{}_cpu", cluster); }

std::string Platform::dma_name(std::uint32_t cluster) { return fmt::format("cluster{}_dma", cluster); }

void Platform::write(std::uint64_t address, const void* data, std::size_t bytes) {
  // Payload lengths are 32 bits wide.
  constexpr std::size_t kPiece = 1U << 30;
  for (std::size_t done = 0; done < bytes; done += kPiece) {
    const std::size_t piece = std::min(kPiece, bytes - done);
    tlm::tlm_generic_payload payload;
    fill_payload(payload, tlm::TLM_WRITE_COMMAND, address + done,
                 const_cast<char*>(static_cast<const char*>(data) + done), piece);
    if (host_->transport_dbg(payload) != piece) throw std::out_of_range("the host wrote outside every memory");
  }
}

void Platform::read(std::uint64_t address, void* data, std::size_t bytes) {
  constexpr std::size_t kPiece = 1U << 30;
  for (std::size_t done = 0; done < bytes; done += kPiece) {
    const std::size_t piece = std::min(kPiece, bytes - done);
    tlm::tlm_generic_payload payload;
    fill_payload(payload, tlm::TLM_READ_COMMAND, address + done, static_cast<char*>(data) + done, piece);
    if (host_->transport_dbg(payload) != piece) throw std::out_of_range("the host read outside every memory");
  }
}

namespace {

// Module that contains a process; nullptr: none of `modules`.
Module* module_of(const std::vector<Module*>& modules, const std::string& process) {
  for (Module* module : modules) {
    if (process.rfind(std::string(module->name()) + ".", 0) == 0) return module;
  }
  return nullptr;
}

}  // namespace

// A plug-in ended the run: reports `what` for `module`, or for the first plug-in.
void Platform::stop_by(const Module* module, const std::string& what) {
  if (module == nullptr) module = foreign_.empty() ? dram.get() : foreign_.front();
  context_.faults.report({module->name(), context_.cycles(), FaultCode::kNone, 0, what});
}

// Runs until firmware has ended and no module waits, or an error is found: a fault, no pending events, or unchanged
// counters for longer than any command takes.
void Platform::simulate_endless() {
  const sc_core::sc_time least(10, sc_core::SC_US);
  constexpr int kQuietSteps = 10'000;  // a tenth of a second
  std::uint64_t counted = 0;
  for (int quiet = 0; quiet < kQuietSteps; ++quiet) {
    if (quiet > 0 && all_finished() && waiting().empty()) return;
    const sc_core::sc_time left = sc_core::sc_max_time() - sc_core::sc_time_stamp();
    // Before the first sc_start no process has run and pending activity is unknown.
    const bool has_begun = sc_core::sc_get_status() != sc_core::SC_ELABORATION;
    const sc_core::sc_time next = has_begun ? sc_core::sc_time_to_pending_activity() : sc_core::SC_ZERO_TIME;
    sc_core::sc_start(std::min(left, std::max(least, next)));
    if (sc_core::sc_get_status() == sc_core::SC_STOPPED) {
      return stop_by(nullptr, "its plug-in called sc_stop(), which ends the simulation; allowed is an error response");
    }
    if (context_.faults.any() || !sc_core::sc_pending_activity()) return;
    std::uint64_t now = 0;
    for (const Module* module : modules_) {
      for (const Counter* counter : module->counters()) now += counter->value();
    }
    const bool ends_later = std::any_of(foreign_.begin(), foreign_.end(), [](const Module* module) {
      const auto* const endless = dynamic_cast<const Endless*>(module);
      return endless != nullptr && endless->ends_later();
    });
    if (now != counted || ends_later) quiet = -1;
    counted = now;
  }
}

// Runs until no events are pending.
void Platform::simulate() {
  if (!is_endless_) return sc_core::sc_start();
  try {
    simulate_endless();
  } catch (const sc_core::sc_report& e) {
    const std::string process = e.get_process_name() == nullptr ? "" : e.get_process_name();
    const Module* const module = module_of(foreign_, process);
    if (!process.empty() && module == nullptr) throw;
    stop_by(module, fmt::format("its plug-in threw an exception \"{}\"", e.get_msg()));
  } catch (const std::exception& e) {  // at the end of elaboration
    if (foreign_.empty()) throw;
    stop_by(nullptr, fmt::format("its plug-in threw an exception \"{}\"", e.what()));
  }
}

std::uint64_t Platform::run() {
  std::vector<std::uint32_t> all(clusters.size());
  std::iota(all.begin(), all.end(), 0);
  return run(all);
}

// Traces and random delays need every command, and data must move.
bool Platform::may_have_steady_state() const {
  if (machine_.simulation.steady_state != "on" || machine_.clusters != 1 || context_.full_data ||
      context_.jitter != nullptr || context_.command_trace != nullptr) {
    return false;
  }
  const bool is_traced = std::any_of(modules_.begin(), modules_.end(), [](const Module* module) {
    const auto& signals = module->signals();
    return std::any_of(signals.begin(), signals.end(), [](const Signal* signal) { return signal->on(); });
  });
  return !is_traced && steady_state_->is_possible();
}

// A job starts at a clock edge, as the first one does. A processor with a clock of its own may have ended between two.
void Platform::await_edge() {
  const std::uint64_t period = context_.clock.period_fs(), now = context_.clock.now_fs();
  if (now % period == 0) return;
  const std::uint64_t edge = now - now % period + period;
  sc_core::sc_start(sc_core::sc_time::from_value(edge) - sc_core::sc_time_stamp());
}

std::uint64_t Platform::run(const std::vector<std::uint32_t>& booted) {
  await_edge();
  for (Module* module : modules_) {
    for (Counter* counter : module->counters()) counter->reset();
    module->reset();
  }
  context_.faults.clear();
  context_.signallers.clear();
  context_.skipped_cycles = 0;
  context_.steady_state = may_have_steady_state() ? steady_state_.get() : nullptr;
  context_.signallers.keeps_shapes = context_.steady_state != nullptr;
  start_ = context_.clock.now();
  for (const std::uint32_t c : booted) clusters[c]->cpu->start();
  simulate();
  std::uint64_t cycles = 0;
  for (const std::uint32_t c : booted) cycles = std::max(cycles, cycles_of(c));
  return cycles;
}

bool Platform::all_finished() const {
  return std::all_of(clusters.begin(), clusters.end(), [](const auto& c) { return c->cpu->finished(); });
}

std::vector<std::string> Platform::waiting() const {
  std::vector<std::string> clauses;
  for (const Module* module : modules_) {
    const std::string what = module->waiting_for();
    if (!what.empty()) clauses.push_back(fmt::format("{}: {}", module->name(), what));
  }
  return clauses;
}

}  // namespace attnvp
