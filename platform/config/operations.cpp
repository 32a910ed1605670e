#include "platform/config/operations.h"

#include <fmt/format.h>

#include "platform/config/error.h"
#include "platform/config/step.h"

namespace attnvp::config {

std::uint64_t tokens_of(const Network& n) {
  std::uint64_t tokens = 0;
  for (const Request& r : n.requests) tokens += r.new_tokens;
  return n.requests.empty() ? std::uint64_t{n.batch} * n.seq_q : tokens;
}

std::vector<Operation> operations_of(const Network& n) {
  if (n.hidden == 0 || n.ffn == 0) {
    throw ConfigError(fmt::format("{}: scope=layer and scope=model need the model's keys 'hidden' and 'ffn'", n.name));
  }
  if (n.ragged() && n.requests.empty()) {
    throw ConfigError(fmt::format("{}: scope=layer takes requests, not contexts of different lengths", n.name));
  }
  const auto rows = static_cast<std::uint32_t>(tokens_of(n));
  const std::uint32_t heads = n.heads + n.heads_of_kv();
  const std::uint32_t columns = heads * n.emb + n.heads_of_kv() * n.values();  // of Q, K and V
  Network attention = n;
  attention.scope = Scope::kAttention;
  const bool normed = !n.linear && n.norm != Norm::kNone;
  const bool before = normed && n.norm_place != NormPlace::kPost, behind = normed && n.norm_place == NormPlace::kPost,
             around = normed && n.norm_place == NormPlace::kBoth;
  std::vector<Operation> all;
  const auto norm = [&](bool is, const char* name) {
    if (is) all.push_back({name, norm_rows(n.norm, rows, n.hidden)});
  };
  const auto add = [&](const char* name) {
    if (!n.linear) all.push_back({name, add_rows(rows, n.hidden)});
  };
  norm(before, "attention norm");
  all.push_back({"qkv", gemm(rows, columns, n.hidden, n.type)});
  if (!n.linear && n.qk_norm) all.push_back({"q, k norm", norm_rows(n.norm, rows * heads, n.emb)});
  if (!n.linear && n.rotary) all.push_back({"rotary", rotate_rows(rows, heads * n.emb, n.emb)});
  all.push_back({"attention", attention});
  all.push_back({"out", gemm(rows, n.hidden, n.heads * n.values(), n.type)});
  norm(around, "attention out norm");
  add("attention sum");
  norm(behind, "attention norm");
  norm(before, "network norm");
  all.push_back({n.gated ? "gate, up" : "up", gemm(rows, (n.gated ? 2 : 1) * n.ffn, n.hidden, n.type)});
  if (!n.linear) all.push_back({"activation", activate_rows(n.activation, n.gated, rows, n.ffn)});
  all.push_back({"down", gemm(rows, n.hidden, n.ffn, n.type)});
  norm(around, "network out norm");
  add("network sum");
  norm(behind, "network norm");
  return all;
}

void refuse_scope(const Network& n) {
  if (n.scope == Scope::kAttention) return;
  throw ConfigError(fmt::format("{}: scope=layer and scope=model are for `run`; this takes attention", n.name));
}

}  // namespace attnvp::config
