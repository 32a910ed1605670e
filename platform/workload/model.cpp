#include "platform/workload/model.h"

#include <fmt/format.h>

#include "platform/machine/error.h"
#include "platform/workload/workload.h"

namespace attnvp::workload {

std::uint64_t tokens_of(const Workload& w) {
  const Attention& a = w.attention();
  std::uint64_t tokens = 0;
  for (const Request& r : a.requests) tokens += r.new_tokens;
  return a.requests.empty() ? std::uint64_t{a.batch} * a.seq_q : tokens;
}

std::vector<LayerOperation> operations_of(const Workload& w) {
  const Model& m = w.model;
  if (m.hidden == 0 || m.ffn == 0) {
    throw config::ConfigError(
        fmt::format("{}: scope=layer and scope=model need the model's keys 'hidden' and 'ffn'", w.name()));
  }
  const Attention& a = w.attention();
  if (a.ragged() && a.requests.empty()) {
    throw config::ConfigError(
        fmt::format("{}: scope=layer takes requests, not contexts of different lengths", w.name()));
  }
  const auto rows = static_cast<std::uint32_t>(tokens_of(w));
  const std::uint32_t heads = a.heads + a.heads_of_kv();
  const std::uint32_t columns = heads * a.emb + a.heads_of_kv() * a.values();  // of Q, K and V
  const bool normed = !m.linear && m.norm != Norm::kNone;
  const bool before = normed && m.norm_place != NormPlace::kPost, behind = normed && m.norm_place == NormPlace::kPost,
             around = normed && m.norm_place == NormPlace::kBoth;
  Workload attention = w;
  attention.scope = Scope::kAttention;
  std::vector<LayerOperation> all;
  const auto norm = [&](bool is, const char* name) {
    if (is) all.push_back({name, norm_rows(m.norm, rows, m.hidden)});
  };
  const auto add = [&](const char* name) {
    if (!m.linear) all.push_back({name, elementwise_rows(hal::Opcode::kAdd, rows, m.hidden)});
  };
  norm(before, "attention norm");
  all.push_back({"qkv", gemm(rows, columns, m.hidden, a.type)});
  if (!m.linear && m.qk_norm) all.push_back({"q, k norm", norm_rows(m.norm, rows * heads, a.emb)});
  if (!m.linear && m.rotary) all.push_back({"rotary", rotate_rows(rows, heads * a.emb, a.emb)});
  all.push_back({"attention", attention});
  all.push_back({"out", gemm(rows, m.hidden, a.heads * a.values(), a.type)});
  norm(around, "attention out norm");
  add("attention sum");
  norm(behind, "attention norm");
  norm(before, "network norm");
  all.push_back({m.gated ? "gate, up" : "up", gemm(rows, (m.gated ? 2 : 1) * m.ffn, m.hidden, a.type)});
  if (!m.linear) all.push_back({"activation", activate_rows(m.activation, m.gated, rows, m.ffn)});
  all.push_back({"down", gemm(rows, m.hidden, m.ffn, a.type)});
  norm(around, "network out norm");
  add("network sum");
  norm(behind, "network norm");
  return all;
}

}  // namespace attnvp::workload
