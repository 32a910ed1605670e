#include "platform/schedule/append.h"

#include <algorithm>
#include <cstring>

namespace attnvp::schedule {

hal::Append append_of(const Job& job) {
  hal::Append from{};
  if (const Job::Table* table = job.table_at(hal::kAppendAddress)) {
    std::memcpy(&from, table->words.data(), sizeof from);
  }
  return from;
}

std::vector<Bytes> appended(const Job& job) {
  std::vector<Bytes> all;
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
  std::sort(all.begin(), all.end(), [](const Bytes& a, const Bytes& b) { return a.low < b.low; });
  std::vector<Bytes> joined;
  for (const Bytes& bytes_of : all) {
    if (!joined.empty() && joined.back().high == bytes_of.low) {
      joined.back().high = bytes_of.high;
    } else {
      joined.push_back(bytes_of);
    }
  }
  return joined;
}

}  // namespace attnvp::schedule
