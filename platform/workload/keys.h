// Keys of a network (`--net`): schema, parser of network texts, completion and checks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/machine/document.h"
#include "platform/machine/provenance.h"
#include "platform/machine/schema.h"
#include "platform/workload/workload.h"

namespace attnvp::workload {

// Inference phase: prompt processing, or one new token of each request.
enum class Phase : std::uint8_t { kPrefill, kDecode };

// Whether K and V of new tokens are appended to the cache; kAuto: if there is a cache.
enum class AppendKind : std::uint8_t { kAuto, kOff, kOn };

// kAuto: by whether the feed-forward network is gated.
enum class NormKind : std::uint8_t { kAuto, kLayerNorm, kRmsNorm, kNone };
enum class ActivationKind : std::uint8_t { kAuto, kRelu, kSilu, kGelu, kGeluTanh };

// Operation between the two matrix products.
enum class Between : std::uint8_t { kSoftmax, kNothing };

// Keys of a network file. `seq` sets both lengths; seq_q and seq_kv override it.
struct NetworkKeys {
  Attention attention;
  Model model;
  Scope scope = Scope::kAttention;
  std::uint32_t seq = 0;
  std::string contexts;
  std::uint32_t causal = 0, history = kNoHistory, alibi = 0, relative = 0, sink = 0;
  std::string blocks, expert_skew, expert_capacity;
  NormKind norm = NormKind::kAuto;
  ActivationKind activation = ActivationKind::kAuto;
  std::string scale, soft_cap, block_mask, valid, bias;
  AppendKind append = AppendKind::kAuto;
  Phase phase = Phase::kPrefill;
  Between between = Between::kSoftmax;
  std::string type = "fp16", out = "auto";                // names; "auto": by the layer's type
  std::string weights = "auto", expert_weights = "auto";  // names; "auto": by `type`, by `weights`
  std::uint32_t weight_group = kOwnGroup;
  static constexpr std::uint32_t kOwnGroup = 0xFFFF'FFFF;
  static constexpr std::uint32_t kNoHistory = 0xFFFF'FFFF;
};
const config::Schema<NetworkKeys>& network_schema();
std::vector<config::Key<NetworkKeys>> model_keys();  // those of the model around attention

// Short names of inline shapes and their keys: {"B", "batch"}, {"H", "heads"}, ...
const std::vector<std::pair<std::string, std::string>>& inline_names();

// Prefix of the path of a Hugging Face config.json.
inline constexpr std::string_view kHuggingFace = "hf:";

// Parts of a network text: a name, path or "hf:" path (`base`) with keys behind it (`words`), or an inline shape.
struct NetworkText {
  bool inline_shape = false;  // "H=12,N=512,E=64"; `words` holds all of it
  std::string base;
  std::string layer_type;  // layer type selected in a model file; empty: none
  std::string words;       // "batch=4,cache=99"
  bool hugging_face() const { return base.compare(0, kHuggingFace.size(), kHuggingFace) == 0; }
};
NetworkText split_network(const std::string& text);

// True for texts that can only be networks: with keys, a model file or an operation.
bool is_network_text(const std::string& text);

// Source of each value of load(text), by key. Keys without an entry have the program's default.
config::Provenances network_provenance(const std::string& text);

// Lengths of a batch of requests.
struct Lengths {
  std::uint32_t batch = 0, seq_q = 0, seq_kv = 0;
};
Workload load(const std::string& text, const Lengths& lengths);
// As load(), but refuses graph files: an operation of one cannot be another graph, or itself.
Workload load_operation(const std::string& text);

// Fills the lengths from `seq`; throws ConfigError for missing or inconsistent keys. `lengths` (may be nullptr)
// override the layer's own. `name_of` maps a key to its name in the caller's notation.
using NameOf = std::function<std::string(const std::string&)>;
Workload complete(NetworkKeys keys, const config::Origin& origin, const NameOf& name_of, const Lengths* lengths);

// Completes the model; throws ConfigError for inconsistent keys.
void complete_model(Model& model, const NetworkKeys& keys, const config::Origin& origin, const NameOf& name_of);

// Reads a block mask: a line "block N", then a row of 0 and 1 for each block of new tokens. Throws ConfigError.
void read_block_mask(Attention& attention, const std::string& path);
// Reads a bias from a .npy file. Throws ConfigError.
void read_bias(Attention& attention, const std::string& path);
// Throws ConfigError naming the first query that attends to no key.
void check_visible(const Attention& attention, const std::string& what);

}  // namespace attnvp::workload
