#include "platform/schedule/names.h"

#include <fmt/format.h>

#include <utility>

#include "firmware/hal/registers.h"
#include "models/sim/trace/operation.h"
#include "platform/schedule/addends.h"
#include "platform/schedule/append.h"

namespace attnvp::schedule {

std::string name_of(const Queue& queue) {
  if (queue.unit == Unit::kDma) return fmt::format("dma{}", queue.index);
  return fmt::format("core{}.{}", queue.index, queue.unit == Unit::kMac ? "mac" : "vec");
}

std::string operation_text(const hal::Descriptor& d) {
  std::string text = kOperationNames[static_cast<std::size_t>(operation_of(d))];
  if (hal::is_product(d)) {
    const hal::Product p = hal::product_of(d);
    text += fmt::format(" {}x{}x{}", p.m, p.n, p.k);
  }
  return text;
}

std::string place_text(const Job& job, std::uint32_t cluster, std::uint64_t address) {
  if (address >= hal::kL1Base) {
    const std::uint64_t offset = address - hal::kL1Base;
    const std::uint64_t owner = offset / hal::kL1Stride;
    return fmt::format("{}L1+{:#x}", owner == cluster ? "" : fmt::format("c{}.", owner), offset % hal::kL1Stride);
  }
  if (address >= hal::kL2Base) return fmt::format("L2+{:#x}", address - hal::kL2Base);
  const hal::Layer& l = job.block.layer;
  const hal::Append append = append_of(job);
  const std::pair<const char*, std::uint64_t> tensors[] = {{"Q", l.q},
                                                           {"new K", append.k},
                                                           {"new V", append.v},
                                                           {"K", l.k},
                                                           {"V", l.v},
                                                           {"O", l.o},
                                                           {"C", l.c},
                                                           {"P", l.p},
                                                           {"bias", addends_of(job)},
                                                           {"scratch", job.scratch.address}};
  const std::pair<const char*, std::uint64_t>* best = nullptr;
  for (const auto& t : tensors) {
    if (t.second != 0 && t.second <= address && (best == nullptr || t.second > best->second)) best = &t;
  }
  return best == nullptr ? fmt::format("{:#x}", address) : fmt::format("{}+{:#x}", best->first, address - best->second);
}

}  // namespace attnvp::schedule
