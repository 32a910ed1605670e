#include "platform/workload/attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/engine/descriptor_check.h"

namespace attnvp::workload {

std::uint64_t Attention::key_elements() const {
  std::uint64_t rows = 0;
  for (std::uint32_t b = 0; b < batch; ++b) rows += context(b);
  return rows * heads_of_kv() * emb;
}

std::uint64_t Attention::query_elements() const {
  if (requests.empty()) return std::uint64_t{batch} * heads * seq_q * emb;
  std::uint64_t rows = 0;
  for (std::uint32_t b = 0; b < batch; ++b) rows += queries_of(b);
  return rows * heads * emb;
}

hal::Mask Attention::mask_of(std::uint32_t b) const {
  hal::Mask m = mask;
  if (requests.empty()) {
    if (ragged() && bias != Bias::kNone) m.history = contexts[b] - m.queries;
    return m;
  }
  m.queries = requests[b].new_tokens;
  m.history = requests[b].cached_tokens;
  return m;
}

std::vector<std::uint32_t> Attention::page_table() const {
  std::vector<std::uint32_t> table;
  for (std::uint32_t b = 0; page > 0 && b < batch; ++b) {
    const std::uint32_t needed = (context(b) + page - 1) / page;
    const bool given = !requests.empty() && !requests[b].pages.empty();
    for (std::uint32_t i = 0; i < needed; ++i) {
      table.push_back(given ? requests[b].pages[i] : static_cast<std::uint32_t>(table.size()));
    }
  }
  return table;
}

std::uint32_t Attention::pages() const {
  if (page == 0 || cache_pages > 0) return cache_pages;
  std::uint32_t needed = 0;
  for (std::uint32_t b = 0; b < batch; ++b) needed += (context(b) + page - 1) / page;
  return needed;
}

bool Attention::shares_pages() const {
  std::vector<std::uint32_t> table = page_table();
  std::sort(table.begin(), table.end());
  return std::adjacent_find(table.begin(), table.end()) != table.end();
}

std::uint64_t Attention::appended_rows() const {
  std::uint64_t rows = 0;
  for (std::uint32_t b = 0; append && b < batch; ++b) rows += new_tokens(b);
  return rows * heads_of_kv();
}

std::uint64_t Attention::block_scales() const {
  const auto blocks = [&](std::uint64_t tokens) { return (tokens + scale_block - 1) / scale_block; };
  const std::uint64_t queries = std::uint64_t{seq_q} * (heads / heads_of_kv());
  return std::uint64_t{batch} * heads_of_kv() * (blocks(queries) + 2 * blocks(seq_kv));
}

std::uint64_t Attention::visible_scores() const {
  if (requests.empty() && mask.by_key()) {
    std::uint64_t scores = 0;
    for (std::uint32_t b = 0; b < batch; ++b) {
      for (std::uint32_t t = 0; t < mask.queries; ++t) scores += visible_keys(b, t);
    }
    return scores * (seq_q / mask.queries) * heads;
  }
  if (!requests.empty()) {
    std::uint64_t scores = 0;
    for (std::uint32_t b = 0; b < batch; ++b) {
      const hal::Mask m = mask_of(b);
      for (std::uint32_t t = 0; t < requests[b].new_tokens; ++t) {
        scores += m.any() ? hal::visible_tokens(m, t, t, context(b)).count() : context(b);
      }
    }
    return scores * heads * group();
  }
  if (!mask.any()) return key_elements() / emb * (heads / heads_of_kv()) * seq_q;
  std::uint64_t scores = 0;
  for (std::uint32_t t = 0; t < mask.queries; ++t) scores += hal::visible_tokens(mask, t, t, seq_kv).count();
  return scores * (seq_q / mask.queries) * batch * heads;
}

std::string Attention::rules() const {
  std::string text;
  const auto add = [&](const char* key, std::uint32_t value) {
    if (value > 0) text += fmt::format(" {}={}", key, value);
  };
  add("causal", mask.causal);
  add("window", mask.window);
  if (mask.any()) add("history", mask.history);
  add("sinks", mask.sinks);
  add("prefix", mask.prefix);
  for (const hal::MaskKindInfo& kind : hal::kMaskKinds) {
    if (kind.hides != nullptr) add(kind.name, (mask.bits & kind.bit) != 0 ? 1 : 0);
  }
  if (mask.block != 0) {
    text += fmt::format(" block_mask={}x{} of {}:", hal::map_rows(mask), hal::map_columns(mask, seq_kv), mask.block);
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
    for (const std::uint32_t word : map) hash = (hash ^ word) * 0x100000001B3U;
    text += fmt::format("{:016x}", hash);
  }
  if (!valid.empty()) text += fmt::format(" valid={}", fmt::join(valid, "+"));
  if (bias == Bias::kTensor) {
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
    for (const arith::Half x : bias_tensor->numbers) hash = (hash ^ x) * 0x100000001B3U;
    text += fmt::format(" bias={}:{:016x}", fmt::join(bias_tensor->extent, "x"), hash);
  } else if (bias != Bias::kNone) {
    text += bias == Bias::kAlibi ? " alibi=1" : " relative=1";
    if (!mask.any()) add("history", mask.history);
  }
  if (scale_block > 0) text += fmt::format(" scale_block={}", scale_block);
  if (append) text += " append=on";
  if (scale != 1) text += fmt::format(" scale={:.9g}", scale);
  if (soft_cap > 0) text += fmt::format(" softcap={:.9g}", soft_cap);
  if (sink) text += " sink=1";
  if (!softmax) text += " softmax=none";
  if (type != hal::ElementType::kFp16) text += " type=" + attnvp::name_of(type);
  if (out != hal::ElementType::kFp16) text += " out=" + attnvp::name_of(out);
  if (value_emb > 0) text += fmt::format(" value_emb={}", value_emb);
  return text;
}

std::string Attention::identity() const {
  std::string all;
  for (const Request& r : requests)
    all += fmt::format(" {}+{}[{}]", r.new_tokens, r.cached_tokens, fmt::join(r.pages, " "));
  if (page > 0) all += fmt::format(" page={} of {}", page, pages());
  return all + fmt::format("{} {} {} {} {} {} {}{}", batch, heads, heads_of_kv(), seq_q, seq_kv,
                           fmt::join(contexts, "+"), emb, rules());
}

Attention Attention::folded() const {
  Attention n = *this;
  n.heads = heads_of_kv();
  n.seq_q = seq_q * (heads / n.heads);
  n.folded_group = group() * (heads / n.heads);
  n.kv_heads = 0;
  return n;
}

}  // namespace attnvp::workload
