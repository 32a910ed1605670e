#include "platform/workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <random>

#include "models/engine/descriptor_check.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {

const std::string& Workload::name() const {
  if (graph != nullptr) return graph->name;
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
  return is_attention() ? attention().out : rows()->type;
}

bool Workload::has_softmax() const { return is_attention() ? attention().softmax : gemm() == nullptr; }

std::uint64_t Workload::result_elements() const {
  if (const Gemm* g = gemm()) return std::uint64_t{g->rows} * g->result_columns();
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
  if (const WeightType w = weights(); w.any()) text += fmt::format(" weights={} group={}", w.format->name, w.group);
  return text;
}

std::string Workload::identity() const {
  if (is_attention()) return attention().identity();
  if (const Gemm* g = gemm()) {
    return fmt::format("gemm {}x{}x{} {} {}{}{}", g->rows, g->columns, g->depth, attnvp::name_of(g->type),
                       attnvp::name_of(g->out()), g->weights.text(), g->fusion.text());
  }
  const RowOperation& r = *rows();
  return fmt::format("{} {}x{}x{}{}{}", r.word(), r.rows, r.columns, r.head, r.has_residual ? " residual" : "",
                     rules());
}

void refuse_scope(const Workload& w) {
  if (w.scope == Scope::kAttention) return;
  if (w.graph != nullptr) throw config::ConfigError(w.name() + ": a graph is for `run`; this takes one operation");
  throw config::ConfigError(fmt::format(
      "{}: scope=layer and scope=model are for `run`, `compare` and `sweep`; this takes attention", w.name()));
}

namespace {

// Words of a block: the feature that they set, and its value.
struct BlockWord {
  const char* word;
  bool Block::*feature;
  bool is;
};
constexpr BlockWord kBlockWords[] = {{"window", &Block::has_window, true},   {"full", &Block::has_window, false},
                                     {"experts", &Block::has_experts, true}, {"dense", &Block::has_experts, false},
                                     {"rotary", &Block::is_rotary, true},    {"nope", &Block::is_rotary, false},
                                     {"encoder", &Block::is_encoder, true},  {"cross", &Block::has_cross, true}};

}  // namespace

std::vector<Block> Model::all_blocks() const {
  if (!blocks.empty()) return blocks;
  Block all;
  all.count = layers;
  return {all};
}

bool Model::has_cross() const {
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.has_cross; });
}

std::vector<Block> parse_blocks(const std::string& text, const std::function<void(const std::string&)>& refuse) {
  std::vector<Block> blocks;
  std::string words;
  for (const BlockWord& w : kBlockWords) words += (words.empty() ? "" : ", ") + std::string(w.word);
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('+', start), text.size());
    const std::string part(config::trimmed(std::string_view(text).substr(start, end - start)));
    start = end + 1;
    Block block;
    const std::size_t star = std::min(part.find('*'), part.size());
    const auto [rest, error] = std::from_chars(part.data(), part.data() + star, block.count);
    if (error != std::errc{} || rest != part.data() + star || block.count < 1 || star == part.size()) {
      refuse("allowed are blocks such as 3*dense+58*experts");
    }
    block.name.clear();
    std::vector<bool Block::*> set;
    for (std::size_t at = star + 1; at <= part.size();) {
      const std::size_t dot = std::min(part.find('.', at), part.size());
      const std::string word = part.substr(at, dot - at);
      at = dot + 1;
      const auto* const known = std::find_if(std::begin(kBlockWords), std::end(kBlockWords),
                                             [&](const BlockWord& w) { return w.word == word; });
      if (known == std::end(kBlockWords) || std::find(set.begin(), set.end(), known->feature) != set.end()) {
        refuse(fmt::format("allowed behind a count are {}, each once", words));
      }
      set.push_back(known->feature);
      block.*known->feature = known->is;
      block.name += (block.name.empty() ? "" : " ") + word;
    }
    blocks.push_back(block);
  }
  return blocks;
}

std::string Model::block_text() const {
  if (blocks.size() < 2) return {};
  std::uint32_t all = 0;
  for (const Block& b : blocks) all += b.count;
  std::string text = fmt::format("{}, {} of {} layers", blocks[block].name, blocks[block].count, all);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i != block) text += fmt::format("; block={} is {}", i + 1, blocks[i].name);
  }
  return text;
}

std::vector<std::uint32_t> expert_tokens(const Experts& e, std::uint64_t tokens) {
  std::mt19937_64 random(e.seed);
  std::vector<double> popularity(e.count);
  double all = 0;
  for (std::uint32_t i = 0; i < e.count; ++i) all += popularity[i] = std::pow(1.0 / (i + 1), e.skew);
  std::vector<std::uint32_t> chosen_by(e.count, 0);
  std::vector<char> is_taken(e.count);
  const double most = e.capacity > 0 ? std::ceil(e.capacity * static_cast<double>(tokens) * e.chosen / e.count) : 0;
  for (std::uint64_t t = 0; t < tokens; ++t) {
    double left = all;
    std::fill(is_taken.begin(), is_taken.end(), 0);
    for (std::uint32_t k = 0; k < std::min(e.chosen, e.count); ++k) {
      double at = static_cast<double>(random() >> 11) * 0x1p-53 * left;
      std::uint32_t pick = e.count;
      for (std::uint32_t i = 0; i < e.count; ++i) {
        if (is_taken[i] != 0) continue;
        pick = i;
        if (at < popularity[i]) break;
        at -= popularity[i];
      }
      is_taken[pick] = 1;
      left -= popularity[pick];
      if (most == 0 || chosen_by[pick] < most) ++chosen_by[pick];
    }
  }
  return chosen_by;
}

std::vector<ExpertGroup> expert_groups(std::vector<std::uint32_t> tokens, std::size_t most) {
  std::sort(tokens.begin(), tokens.end(), std::greater<>());
  tokens.erase(std::find(tokens.begin(), tokens.end(), 0U), tokens.end());
  std::map<std::uint32_t, std::uint32_t, std::greater<>> experts_with;  // by tokens
  for (const std::uint32_t t : tokens) ++experts_with[t];
  if (experts_with.size() > most) {
    experts_with.clear();
    const std::size_t parts = most / 2;
    for (std::size_t p = 0; p < parts; ++p) {
      const std::size_t first = tokens.size() * p / parts, last = tokens.size() * (p + 1) / parts;
      std::uint64_t sum = 0;
      for (std::size_t i = first; i < last; ++i) sum += tokens[i];
      const auto count = static_cast<std::uint32_t>(last - first), mean = static_cast<std::uint32_t>(sum / count),
                 above = static_cast<std::uint32_t>(sum % count);
      if (above > 0) experts_with[mean + 1] += above;
      experts_with[mean] += count - above;
    }
  }
  std::vector<ExpertGroup> groups;
  for (const auto& [each, experts] : experts_with) groups.push_back({experts, each});
  return groups;
}

}  // namespace attnvp::workload
