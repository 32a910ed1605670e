#include "platform/config/operations.h"

#include <fmt/format.h>

#include "models/engine/descriptor_check.h"
#include "platform/config/error.h"
#include "platform/config/step.h"

namespace attnvp::config {

std::vector<Operation> operations_of(const Network& n) {
  if (n.hidden == 0 || n.ffn == 0) {
    throw ConfigError(fmt::format("{}: scope=layer and scope=model need the model's keys 'hidden' and 'ffn'", n.name));
  }
  if (n.ragged() && n.requests.empty()) {
    throw ConfigError(fmt::format("{}: scope=layer takes requests, not contexts of different lengths", n.name));
  }
  if (n.typed()) {
    throw ConfigError(fmt::format("{}: found type={}; a layer's products are of FP16 only, allowed is type=fp16",
                                  n.name, attnvp::name_of(n.type)));
  }
  std::uint64_t tokens = std::uint64_t{n.batch} * n.seq_q;
  if (!n.requests.empty()) {
    tokens = 0;
    for (const Request& r : n.requests) tokens += r.new_tokens;
  }
  const auto rows = static_cast<std::uint32_t>(tokens);
  const std::uint32_t queries = n.heads * n.emb, keys = n.heads_of_kv() * n.emb;
  Network attention = n;
  attention.scope = Scope::kAttention;
  return {{"qkv", gemm(rows, queries + 2 * keys, n.hidden)},
          {"attention", attention},
          {"out", gemm(rows, n.hidden, queries)},
          {n.gated ? "gate, up" : "up", gemm(rows, (n.gated ? 2 : 1) * n.ffn, n.hidden)},
          {"down", gemm(rows, n.hidden, n.ffn)}};
}

void refuse_scope(const Network& n) {
  if (n.scope == Scope::kAttention) return;
  throw ConfigError(fmt::format("{}: scope=layer and scope=model are for `run`; this takes attention", n.name));
}

}  // namespace attnvp::config
