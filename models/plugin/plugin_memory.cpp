// Memories of kind `plugin`: timing of a library's TLM-2.0 target (plugin.h), bytes stored here. First those behind the
// network, then L1.
#include <fmt/format.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/stream.h"
#include "models/interconnect/bus/transport.h"
#include "models/memory/fixed_memory/fixed_memory.h"
#include "models/memory/memory.h"
#include "models/memory/storage/contents.h"
#include "models/plugin/foreign_memory.h"
#include "models/sim/module.h"

namespace attnvp {

namespace {

struct OfDram {
  static constexpr const char* kPlace = "dram";
};
struct OfL2 {
  static constexpr const char* kPlace = "l2";
};
struct OfMailbox {
  static constexpr const char* kPlace = "mailbox";
};

class PluginMemory : public Memory, public Endless, private Target {
 public:
  // `energy`: energy table entry of reads and writes, per word; without a component: none.
  PluginMemory(sc_core::sc_module_name name, const ModuleContext& module_context, const std::string& library,
               std::uint64_t size_bytes, FixedMemory::Energy energy)
      : Memory(name, module_context.context),
        read_words(*this, "read_words", "16-bit words", "words read", {energy.component, "read", energy.optional}),
        write_words(*this, "write_words", "16-bit words", "words written",
                    {energy.component, "write", energy.optional}),
        size_bytes_(size_bytes),
        contents_(module_context.base, size_bytes),
        foreign_(
            library, told(module_context, size_bytes),
            {module_context.context, module_context.base,
             [this](std::uint64_t address, std::string what) { fault(FaultCode::kNone, address, std::move(what)); },
             pieces, busy_cycles}) {}
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  bool ends_later() const override { return foreign_.ends_later(); }
  std::string waiting_for() const override { return foreign_.waiting_for(); }

  Counter read_words, write_words;
  Counter pieces{*this, "pieces", "pieces", "accesses made to the plug-in"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one access under way"};

 private:
  static PluginContext told(const ModuleContext& module_context, std::uint64_t size_bytes) {
    PluginContext told = plugin_context(module_context);
    told.size_bytes = size_bytes;
    return told;
  }

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override {
    if (!contents_.accepts(payload)) return true;
    const std::uint64_t bytes = payload.get_data_length();
    (payload.is_read() ? read_words : write_words).add_bytes(bytes);
    contents_.serve(payload);
    ForeignMemory::ForeignAccess& access =
        foreign_.begin([this, &payload, response](const ForeignMemory::ForeignAccess& ended) {
          if (!ended.is_ok) payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
          const std::uint64_t now = ctx_.clock.now();
          response.send(ctx_.clock.cycles(ended.end_cycle - std::min(ended.end_cycle, now)));
        });
    foreign_.add(access, port, payload.is_read(), contents_.offset(payload), bytes, delay.value());
    foreign_.end(access);
    return false;
  }
  unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) override { return contents_.peek(payload); }

  std::uint64_t size_bytes_;
  Contents contents_;
  ForeignMemory foreign_;
  const ExitGuard exit_guard_{*this, ctx_.clock};
  TargetSocket in_{"in", ctx_.event_queue, *this};
};

constexpr const char* kMemoryMeaning = "takes as long as a library's TLM-2.0 target";

const bool kDramKind = add_kind(
    plugin_kind<OfDram, MemoryPlugin, Memory>(kMemoryMeaning, {"attnvp.dram"}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginMemory>(module_context.name, module_context, library_of<OfDram>(module_context),
                                            module_context.machine.dram.size_bytes,
                                            FixedMemory::Energy{"attnvp.dram", false});
    }));
const bool kL2Kind = add_kind(
    plugin_kind<OfL2, MemoryPlugin, Memory>(kMemoryMeaning, {"attnvp.l2"}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginMemory>(module_context.name, module_context, library_of<OfL2>(module_context),
                                            module_context.machine.l2.size_bytes,
                                            FixedMemory::Energy{"attnvp.l2", true});
    }));
const bool kMailboxKind =
    add_kind(plugin_kind<OfMailbox, MemoryPlugin, Memory>(kMemoryMeaning, {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginMemory>(module_context.name, module_context, library_of<OfMailbox>(module_context),
                                            module_context.size_bytes, FixedMemory::Energy{nullptr, true});
    }));

}  // namespace

// L1 of kind `plugin`: timing of a library's TLM-2.0 target (plugin.h), bytes stored here. A stream of an engine
// becomes bursts of the base protocol. Their number follows from its traffic, their addresses from its rows.

namespace {

struct OfL1 {
  static constexpr const char* kPlace = "l1";
};

class PluginL1 : public Memory, public Endless, private Target, private StreamTarget {
 public:
  PluginL1(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Memory(name, module_context.context),
        base_(module_context.base),
        size_bytes_(module_context.machine.l1.size_bytes),
        contents_(PluginL1::name(), base_, size_bytes_, ctx_.full_data),
        engines_(module_context.engines),
        foreign_(
            library_of<OfL1>(module_context), told(module_context),
            {module_context.context, module_context.base,
             [this](std::uint64_t address, std::string what) { fault(FaultCode::kNone, address, std::move(what)); },
             pieces, busy_cycles}) {
    control_.register_b_transport(this, &PluginL1::control_transport);
    for (std::uint32_t i = 0; i < module_context.engines; ++i) {
      streams_.push_back(std::make_unique<StreamTargetSocket>(("in" + std::to_string(i)).c_str(),
                                                              static_cast<StreamTarget&>(*this), i));
      stream_ends_.push_back(std::make_unique<StreamEnd>(*this));
    }
    for (std::uint32_t i = 0; i < module_context.initiators; ++i) {
      sockets_.push_back(std::make_unique<TargetSocket>(("in" + std::to_string(engines_ + i)).c_str(), ctx_.event_queue,
                                                        static_cast<Target&>(*this), i));
    }
  }
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *sockets_.at(initiator); }
  StreamTargetSocket& stream(std::uint32_t engine) override { return *streams_.at(engine); }
  tlm::tlm_target_socket<>* control() override { return &control_; }
  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  bool ends_later() const override { return foreign_.ends_later(); }
  std::string waiting_for() const override { return foreign_.waiting_for(); }
  void reset() override { contents_.clear(); }

  Counter read_words{*this, "read_words", "16-bit words", "words read through all ports", {"attnvp.l1", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written through all ports", {"attnvp.l1", "write"}};
  Counter peak_bytes{*this, "peak_bytes", "bytes", "most bytes that firmware had allocated at once"};
  Counter pieces{*this, "pieces", "pieces", "accesses made to the plug-in"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one access under way"};

 private:
  static PluginContext told(const ModuleContext& module_context) {
    PluginContext told = plugin_context(module_context);
    told.size_bytes = module_context.machine.l1.size_bytes;
    return told;
  }
  sc_core::sc_time until(std::uint64_t cycle) const {
    return ctx_.clock.cycles(cycle - std::min(cycle, ctx_.clock.now()));
  }

  // Access of the DMA controller or over the network.
  bool begin(std::uint32_t initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override {
    const std::uint64_t bytes = payload.get_data_length();
    const bool is_plain = payload.get_byte_enable_ptr() == nullptr && (payload.is_read() || payload.is_write());
    const Region run{payload.get_address(), 1, bytes, 0, bytes, payload.is_write()};
    if (!is_plain || check_region(run, base_, size_bytes_) != FaultCode::kNone) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return true;
    }
    (payload.is_read() ? read_words : write_words).add_bytes(bytes);
    ForeignMemory::ForeignAccess& access =
        foreign_.begin([this, &payload, response](const ForeignMemory::ForeignAccess& ended) {
          payload.set_response_status(ended.is_ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
          if (ended.is_ok) contents_.move(payload);
          response.send(until(ended.end_cycle));
        });
    foreign_.add(access, engines_ + initiator, payload.is_read(), run.address - base_, bytes, delay.value());
    foreign_.end(access);
    return false;
  }

  bool begin(std::uint32_t engine, StreamTransaction& transaction, sc_core::sc_time& delay,
             const Response& response) override {
    const Stream& stream = *transaction.stream;
    for (int i = 0; i < stream.regions; ++i) {
      const Region& region = stream.region[static_cast<std::size_t>(i)];
      const FaultCode fault = check_region(region, base_, size_bytes_);
      if (fault == FaultCode::kNone) continue;
      transaction.fault = fault;
      transaction.fault_address = region.address;
      transaction.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
      return true;
    }
    transaction.status = tlm::TLM_OK_RESPONSE;
    if (stream.traffic() == 0 && stream.pace_cycles == 0) return true;
    const std::uint64_t paced = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay) + stream.pace_cycles;
    ForeignMemory::ForeignAccess& access =
        foreign_.begin([this, &transaction, engine, response, paced](const ForeignMemory::ForeignAccess& ended) {
          Withdrawal* const withdrawal = transaction.withdrawal;
          const bool is_withdrawn = withdrawal != nullptr && withdrawal->requested;
          if (withdrawal != nullptr) {
            withdrawal->end = nullptr;
            stream_ends_[engine]->access = nullptr;
          }
          if (!ended.is_ok) transaction.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
          response.send(until(is_withdrawn ? ended.end_cycle : std::max(ended.end_cycle, paced)));
        });
    if (transaction.withdrawal != nullptr) {
      StreamEnd& end = *stream_ends_[engine];
      end.access = &access;
      transaction.withdrawal->end = &end.event;
    }
    for (int i = 0; i < stream.regions; ++i) {
      const Region& region = stream.region[static_cast<std::size_t>(i)];
      (region.write ? write_words : read_words).add_bytes(region.traffic_bytes);
      add(access, engine, region, delay.value());
    }
    foreign_.end(access);
    return false;
  }

  // Adds the pieces of a region; each byte as often as it crosses the port.
  void add(ForeignMemory::ForeignAccess& access, std::uint32_t engine, const Region& region, std::uint64_t after_fs) {
    const std::uint64_t piece = foreign_.piece_bytes(), row = std::min<std::uint64_t>(region.row_bytes, piece);
    std::uint64_t line = 0, column = 0;
    for (std::uint64_t crossed = 0; crossed < region.traffic_bytes;) {
      const std::uint64_t offset = region.address - base_ + line * region.row_stride + column;
      const std::uint64_t bytes =
          std::min({row, region.row_bytes - column, region.traffic_bytes - crossed, piece - offset % piece});
      foreign_.add(access, engine, !region.write, offset, bytes, after_fs);
      crossed += bytes;
      column += bytes;
      if (column < region.row_bytes) continue;
      column = 0;
      line = (line + 1) % region.rows;
    }
  }

  struct StreamEnd {
    explicit StreamEnd(PluginL1& owner) : event(owner.ctx_.event_queue), process(owner.await_withdrawals(*this)) {}
    ForeignMemory::ForeignAccess* access = nullptr;  // nullptr: ended
    sim::Event event;                                // withdrawal by the engine
    sim::Process process;
  };
  sim::Process await_withdrawals(StreamEnd& end) {
    for (;;) {
      co_await end.event;
      if (end.access != nullptr) foreign_.withdraw(*end.access);
    }
  }

  bool direct(std::uint32_t /*initiator*/, tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) override {
    return contents_.direct(dmi);
  }
  bool direct(std::uint32_t /*engine*/, tlm::tlm_dmi& dmi) override { return contents_.direct(dmi); }
  unsigned debug(std::uint32_t /*initiator*/, tlm::tlm_generic_payload& payload) override {
    return contents_.move(payload);
  }
  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    arrive(ctx_.event_queue, delay);
    const auto allocation = L1Contents::allocation_of(payload);
    if (!allocation) return;
    peak_bytes.raise_to(allocation->bytes);
    if (contents_.reserve(allocation->bytes)) return;
    fault(FaultCode::kHostMemory, base_, host_memory::refusal("what firmware allocated (l1.size)", allocation->bytes));
  }

  std::uint64_t base_, size_bytes_;
  L1Contents contents_;
  const std::uint32_t engines_;
  ForeignMemory foreign_;
  const ExitGuard exit_guard_{*this, ctx_.clock};
  tlm_utils::simple_target_socket<PluginL1> control_{"control"};
  std::vector<std::unique_ptr<StreamTargetSocket>> streams_;
  std::vector<std::unique_ptr<StreamEnd>> stream_ends_;
  std::vector<std::unique_ptr<TargetSocket>> sockets_;
};

const bool kL1Kind = add_kind(plugin_kind<OfL1, MemoryPlugin, Memory>(
    "takes as long as a library's TLM-2.0 target", {"attnvp.l1"}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginL1>(module_context.name, module_context);
    }));

}  // namespace

}  // namespace attnvp
