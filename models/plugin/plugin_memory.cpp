// Memories behind the network of kind `plugin`: timing of a library's TLM-2.0 target (plugin.h), bytes stored here.
#include <fmt/format.h>

#include <utility>

#include "models/interconnect/bus/transport.h"
#include "models/memory/fixed_memory/fixed_memory.h"
#include "models/memory/memory.h"
#include "models/memory/storage/contents.h"
#include "models/plugin/foreign_memory.h"
#include "models/sim/endless.h"

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
  PluginMemory(sc_core::sc_module_name name, const ModuleContext& site, const std::string& library,
               std::uint64_t size_bytes, FixedMemory::Energy energy)
      : Memory(name, site.context),
        read_words(*this, "read_words", "16-bit words", "words read", {energy.component, "read", energy.optional}),
        write_words(*this, "write_words", "16-bit words", "words written",
                    {energy.component, "write", energy.optional}),
        size_bytes_(size_bytes),
        contents_(site.base, size_bytes),
        foreign_(
            library, told(site, size_bytes),
            {site.context, site.base,
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
  static PluginContext told(const ModuleContext& site, std::uint64_t size_bytes) {
    PluginContext told = plugin_site(site);
    told.size_bytes = size_bytes;
    return told;
  }

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override {
    if (!contents_.accepts(payload)) return true;
    const std::uint64_t bytes = payload.get_data_length();
    (payload.is_read() ? read_words : write_words).add_bytes(bytes);
    contents_.serve(payload);
    ForeignMemory::Access& access = foreign_.begin([this, &payload, response](const ForeignMemory::Access& ended) {
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

const bool kDramKind =
    add_kind(plugin_kind<OfDram, MemoryPlugin, Memory>(kMemoryMeaning, {"attnvp.dram"}, [](const ModuleContext& site) {
      return std::make_unique<PluginMemory>(site.name, site, library_of<OfDram>(site), site.machine.dram.size_bytes,
                                            FixedMemory::Energy{"attnvp.dram", false});
    }));
const bool kL2Kind =
    add_kind(plugin_kind<OfL2, MemoryPlugin, Memory>(kMemoryMeaning, {"attnvp.l2"}, [](const ModuleContext& site) {
      return std::make_unique<PluginMemory>(site.name, site, library_of<OfL2>(site), site.machine.l2.size_bytes,
                                            FixedMemory::Energy{"attnvp.l2", true});
    }));
const bool kMailboxKind =
    add_kind(plugin_kind<OfMailbox, MemoryPlugin, Memory>(kMemoryMeaning, {}, [](const ModuleContext& site) {
      return std::make_unique<PluginMemory>(site.name, site, library_of<OfMailbox>(site), site.size_bytes,
                                            FixedMemory::Energy{nullptr, true});
    }));

}  // namespace

}  // namespace attnvp
