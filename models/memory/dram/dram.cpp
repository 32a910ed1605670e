// DRAM with the `fixed` policy: one bus with its peak bandwidth.
#include "models/memory/dram/fixed.h"
#include "models/memory/fixed_memory/fixed_memory.h"
#include "models/registry.h"

namespace attnvp {

namespace {

std::unique_ptr<Memory> make_dram(const ModuleContext& site) {
  const DramConfig& dram = site.machine.dram;
  return std::make_unique<FixedMemory>(
      site.name, site, dram.size_bytes,
      FixedMemory::Timing{dram.bytes_per_second, dram.latency_seconds, site.machine.own<FixedDramConfig>().duplex},
      FixedMemory::Energy{"attnvp.dram", false});
}

const bool kRegistered =
    add_kind(Kind<Memory>("dram", "fixed", "is peak bandwidth plus latency", {"attnvp.dram"}, make_dram)
                 .with_keys<FixedDramConfig>());

}  // namespace

}  // namespace attnvp
