// What `--net` takes, in parts: a name, a path or "hf:" and the path of a model's config.json, each with keys behind
// it, or an inline shape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnvp::config {

inline constexpr std::string_view kHuggingFace = "hf:";

struct NetworkText {
  bool inline_shape = false;  // "H=12,N=512,E=64", which is then all of `words`
  std::string base;
  std::string layer_type;  // of a model file whose layers differ: the kind that is asked for; empty: none
  std::string words;       // "batch=4,cache=99"
  bool hugging_face() const { return base.compare(0, kHuggingFace.size(), kHuggingFace) == 0; }
};
NetworkText split_network(const std::string& text);

// Paths of the keys that words set: {"batch", "history"}.
std::vector<std::string> keys_of_words(const std::string& words);

// Whether a text can be a network only: it has keys, names a model file or a step.
bool is_network_text(const std::string& text);

}  // namespace attnvp::config
