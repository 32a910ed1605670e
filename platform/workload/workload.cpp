#include "platform/workload/workload.h"

#include <fmt/format.h>

#include "models/engine/descriptor_check.h"
#include "platform/machine/error.h"

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

const std::string& Workload::name() const {
  return std::visit([](const auto& o) -> const std::string& { return o.name; }, operation);
}

Extents Workload::extents() const {
  if (const Gemm* g = gemm()) return {1, 1, g->rows, g->columns, g->depth};
  if (const RowOperation* r = rows()) return {1, 1, r->rows, r->columns, r->head};
  const Attention& a = attention();
  return {a.batch, a.heads, a.seq_q, a.seq_kv, a.emb};
}

hal::ElementType Workload::type() const {
  if (const Gemm* g = gemm()) return g->type;
  return is_attention() ? attention().type : hal::ElementType::kFp16;
}

hal::ElementType Workload::out() const {
  if (const Gemm* g = gemm()) return g->out();
  return is_attention() ? attention().out : hal::ElementType::kFp16;
}

bool Workload::has_softmax() const { return is_attention() ? attention().softmax : gemm() == nullptr; }

std::uint64_t Workload::result_elements() const {
  if (const Gemm* g = gemm()) return std::uint64_t{g->rows} * g->columns;
  return is_attention() ? attention().output_elements() : rows()->result_elements();
}

Workload Workload::folded() const {
  Workload w = *this;
  if (is_attention()) w.attention() = attention().folded();
  return w;
}

std::string Workload::rules() const {
  if (is_attention()) return attention().rules();
  std::string text;
  if (type() != hal::ElementType::kFp16) text += " type=" + attnvp::name_of(type());
  if (out() != hal::ElementType::kFp16) text += " out=" + attnvp::name_of(out());
  return text;
}

std::string Workload::identity() const {
  if (is_attention()) return attention().identity();
  if (const Gemm* g = gemm()) {
    return fmt::format("gemm {}x{}x{} {} {}", g->rows, g->columns, g->depth, attnvp::name_of(g->type),
                       attnvp::name_of(g->out()));
  }
  const RowOperation& r = *rows();
  return fmt::format("{} {}x{}x{}{}", r.word(), r.rows, r.columns, r.head, r.has_residual ? " residual" : "");
}

void refuse_scope(const Workload& w) {
  if (w.scope == Scope::kAttention) return;
  throw config::ConfigError(
      fmt::format("{}: scope=layer and scope=model are for `run`; this takes attention", w.name()));
}

}  // namespace attnvp::workload
