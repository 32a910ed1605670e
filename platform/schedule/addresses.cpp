#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/sim/trace/operation.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

hal::Append append_of(const Job& job) {
  hal::Append from{};
  if (const Job::MailboxTable* table = job.table_at(hal::kAppendAddress)) {
    std::memcpy(&from, table->words.data(), sizeof from);
  }
  return from;
}

namespace {

// In order of addresses, neighbours as one.
std::vector<ByteRange> joined(std::vector<ByteRange> all) {
  std::sort(all.begin(), all.end(), [](const ByteRange& a, const ByteRange& b) { return a.low < b.low; });
  std::vector<ByteRange> joined;
  for (const ByteRange& bytes_of : all) {
    if (!joined.empty() && joined.back().high == bytes_of.low) {
      joined.back().high = bytes_of.high;
    } else {
      joined.push_back(bytes_of);
    }
  }
  return joined;
}

// The last tokens of each head in the caches of a product.
std::vector<ByteRange> cached_rows(const Job& job) {
  const hal::CachedColumns c = cached_columns_of(job);
  const std::uint64_t stride = std::uint64_t{c.elements} * hal::element_bytes(job.types.out);
  const std::uint32_t tokens = job.block.layer.seq_q / c.sequences;
  std::vector<ByteRange> all;
  for (const std::uint64_t cache : {c.k, c.v}) {
    for (std::uint64_t head = 0; head < std::uint64_t{c.sequences} * c.heads; ++head) {
      const std::uint64_t end = cache + (head + 1) * c.context * stride;
      all.push_back({end - tokens * stride, end});
    }
  }
  return joined(std::move(all));
}

}  // namespace

std::vector<ByteRange> appended(const Job& job) {
  std::vector<ByteRange> all;
  if ((job.block.flags & hal::kStoresCache) != 0) return cached_rows(job);
  if ((job.block.flags & hal::kAppends) == 0) return all;
  const hal::Layer& l = job.block.layer;
  const hal::Append from = append_of(job);
  const std::uint32_t page = job.rules.page;
  const std::uint64_t bytes = hal::element_bytes(job.types.operand);
  const std::uint64_t k_stride = l.emb * bytes,
                      v_stride = (job.types.value_emb != 0 ? job.types.value_emb : l.emb) * bytes;
  std::uint64_t before = 0;  // keys of earlier batches, or their pages
  for (std::uint32_t b = 0; b < l.batch; ++b) {
    const std::uint32_t keys = l.ragged == 2 ? job.contexts[2 * b + 1] : l.seq_kv;
    const std::uint32_t count = l.ragged == 2 ? job.contexts[2 * b] : from.tokens;
    const std::uint32_t first = l.ragged == 2 ? keys - count : from.first;
    for (std::uint32_t head = 0; head < l.heads; ++head) {
      for (std::uint32_t key = first; key < first + count;) {
        std::uint32_t run = first + count - key;
        std::uint64_t row = before * l.heads + std::uint64_t{head} * keys + key;
        if (page != 0) {
          run = std::min(run, page - key % page);
          row = (std::uint64_t{job.pages[before + key / page]} * l.heads + head) * page + key % page;
        }
        for (const auto& [tensor, stride] : {std::pair{l.k, k_stride}, {l.v, v_stride}}) {
          all.push_back({tensor + row * stride, tensor + (row + run) * stride});
        }
        key += run;
      }
    }
    before += page != 0 ? (keys + page - 1) / page : keys;
  }
  return joined(std::move(all));
}

std::uint64_t end_of_given(const Job& job) {
  const hal::CachedColumns c = cached_columns_of(job);
  const std::uint64_t elements = std::uint64_t{c.sequences} * c.heads * c.context * c.elements;
  return c.v == 0 ? job.block.layer.o : c.v + elements * hal::element_bytes(job.types.out);
}

std::uint64_t addends_of(const Job& job) {
  hal::Addends addends{};
  if ((job.block.flags & hal::kAddedJob) == 0) return 0;
  std::memcpy(&addends, job.table_at(hal::kBiasAddress)->words.data(), sizeof addends);
  return addends.address;
}

hal::FusedProduct fused_of(const Job& job) {
  hal::FusedProduct what{};
  if ((job.block.flags & hal::kFused) != 0) {
    std::memcpy(&what, job.table_at(hal::kFusedAddress)->words.data(), sizeof what);
  }
  return what;
}

hal::SecondProduct second_of(const Job& job) {
  hal::SecondProduct second{};
  if ((job.block.flags & hal::kSecond) != 0) {
    std::memcpy(&second, job.table_at(hal::kSecondAddress)->words.data(), sizeof second);
  }
  return second;
}

hal::Weights weights_of(const Job& job) {
  hal::Weights weights{};
  if ((job.block.flags & hal::kQuantised) != 0) {
    std::memcpy(&weights, job.table_at(hal::kWeightsAddress)->words.data(), sizeof weights);
  }
  return weights;
}

hal::CachedColumns cached_columns_of(const Job& job) {
  hal::CachedColumns what{};
  if ((job.block.flags & hal::kStoresCache) != 0) {
    std::memcpy(&what, job.table_at(hal::kCachedColumnsAddress)->words.data(), sizeof what);
  }
  return what;
}

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
  const hal::FusedProduct fused = fused_of(job);
  const hal::CachedColumns cached = cached_columns_of(job);
  const std::pair<const char*, std::uint64_t> tensors[] = {{"Q", l.q},
                                                           {"new K", append.k},
                                                           {"new V", append.v},
                                                           {"K", l.k},
                                                           {"scales", weights_of(job).scales},
                                                           {"second B", second_of(job).b},
                                                           {"V", l.v},
                                                           {"O", l.o},
                                                           {"C", l.c},
                                                           {"P", l.p},
                                                           {"bias", addends_of(job)},
                                                           {"gamma", fused.gamma},
                                                           {"beta", fused.beta},
                                                           {"bias", fused.bias},
                                                           {"angles", fused.angles},
                                                           {"residual", fused.residual},
                                                           {"K cache", cached.k},
                                                           {"V cache", cached.v},
                                                           {"scratch", job.scratch.address}};
  const std::pair<const char*, std::uint64_t>* best = nullptr;
  for (const auto& t : tensors) {
    if (t.second != 0 && t.second <= address && (best == nullptr || t.second > best->second)) best = &t;
  }
  return best == nullptr ? fmt::format("{:#x}", address) : fmt::format("{}+{:#x}", best->first, address - best->second);
}

}  // namespace attnvp::schedule
