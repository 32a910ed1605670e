// L2 of kind `scratchpad`: SRAM beside DRAM, accessed by the DMA controllers of all clusters only. Firmware controls
// its contents.
#include "models/memory/fixed_memory/fixed_memory.h"
#include "models/registry.h"

namespace attnvp {

namespace {

std::unique_ptr<Memory> make_l2(const ModuleContext& site) {
  const L2Config& l2 = site.machine.l2;
  return std::make_unique<FixedMemory>(site.name, site, l2.size_bytes,
                                       FixedMemory::Timing{l2.bytes_per_second, l2.latency_seconds, false},
                                       FixedMemory::Energy{"attnvp.l2", true});
}

const bool kNone = add_kind(Kind<Memory>("l2", "none", "leaves the place empty", {}, [](const ModuleContext&) {
                              return std::unique_ptr<Memory>();
                            }).with_problem([](const MachineConfig& m) -> std::string {
  return m.l2.staging ? "key 'l2.staging': there is nothing to stage in with l2.kind none; allowed: false" : "";
}));

const bool kScratchpad =
    add_kind(Kind<Memory>("l2", "scratchpad", "is what firmware puts there, behind a bus of fixed bandwidth",
                          {"attnvp.l2"}, make_l2)
                 .with_problem([](const MachineConfig& m) -> std::string {
                   return m.dram.policy == "cached"
                              ? "key 'l2.kind': found 'scratchpad', but dram.policy cached has an "
                                "L2 of its own; allowed: none"
                              : "";
                 }));

}  // namespace

}  // namespace attnvp
