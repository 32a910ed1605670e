// Attention layers: which shapes the machine computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/schema.h"

namespace attnvp::config {

// softmax(Q.K^T).V for `batch` x `heads` pairs of Q: seq_q x emb, K and V: seq_kv x emb, in elements (FP16).
struct Network {
  std::string name;
  std::uint32_t batch = 1;
  std::uint32_t heads = 0;
  std::uint32_t seq_q = 0;
  std::uint32_t seq_kv = 0;
  std::uint32_t emb = 0;  // per head
};

// The keys of a network file. `seq` stands for both lengths; seq_q and seq_kv override it.
struct NetworkKeys {
  Network network;
  std::uint32_t seq = 0;
};
const Schema<NetworkKeys>& network_schema();

// The short names of inline shapes with the keys they stand for: {"B", "batch"}, {"H", "heads"}, ...
const std::vector<std::pair<std::string, std::string>>& inline_names();

// A name under configs/networks, a path, or an inline shape "H=12,N=512,E=64" (B, NQ and NKV as well; NQ and
// NKV override N), whose name is its text. A file's default name is its file name. Throws ConfigError.
Network load_network(const std::string& text);

}  // namespace attnvp::config
