#include "platform/workload/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "models/engine/descriptor_check.h"
#include "platform/base/npy/npy.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"

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

// Inputs of attention beside its tensors: biases of scores (ALiBi, T5 relative positions, or values from a .npy file),
// and block masks.

using namespace config;

// With n the greatest power of two of the heads: 2^(-8/n), its square, ...; the other heads take every second slope of
// 2 n heads.
float alibi_slope(std::uint32_t head, std::uint32_t heads) {
  std::uint32_t n = 1;
  while (2 * n <= heads) n *= 2;
  const double step = head < n ? 8.0 / n : 4.0 / n;
  const std::uint32_t place = head < n ? head + 1 : 2 * (head - n) + 1;
  return static_cast<float>(std::exp2(-step * place));
}

namespace {

// Magnitudes of learned numbers, different for every index: multiples of 1/16 between -4 and 4.
arith::Half learned(std::uint32_t index) {
  std::uint32_t x = (index + 1) * 2654435761U;
  x ^= x >> 15;
  x *= 2246822519U;
  x ^= x >> 13;
  return arith::half_from_double((static_cast<double>(x % 129) - 64) / 16);
}

}  // namespace

arith::Half relative_bias(std::uint32_t head, std::uint32_t bucket) { return learned(head * hal::kBuckets + bucket); }

arith::Half sink_of(std::uint32_t head) { return learned(head); }

double bias_of(const Attention& n, std::uint32_t head, std::uint32_t query, std::uint32_t key) {
  const std::uint32_t heads = n.heads * n.group(), batch = head / heads;
  head -= batch * heads;
  if (n.bias == Bias::kAlibi) {
    const std::uint32_t distance = key > query ? key - query : query - key;
    return -static_cast<double>(alibi_slope(head, heads)) * distance;
  }
  if (n.bias == Bias::kTensor) {
    return static_cast<double>(arith::float_from_half(n.bias_tensor->at(batch, head, query - n.mask.history, key)));
  }
  if (n.bias == Bias::kNone) return 0;
  const std::uint32_t bucket = hal::relative_bucket(query, key, n.mask.causal == 0);
  return static_cast<double>(arith::float_from_half(relative_bias(head, bucket)));
}

namespace {

// -inf masks a key. A query whose keys are all masked has no softmax.
void check_bias(const Attention& n, const std::string& what) {
  const BiasTensor& bias = *n.bias_tensor;
  const auto finite = [](arith::Half x) { return arith::is_finite(x); };
  if (std::all_of(bias.numbers.begin(), bias.numbers.end(), finite)) return;
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    const hal::Mask m = n.mask_of(b);
    for (std::uint32_t t = 0; t < n.seq_q; ++t) {
      std::vector<std::uint32_t> seen;
      for (std::uint32_t key = 0; key < n.valid_keys(b); ++key) {
        if (hal::sees(m, n.block_mask(), t % m.queries, key, n.seq_kv)) seen.push_back(key);
      }
      for (std::uint32_t h = 0; h < n.heads; ++h) {
        const auto at = [&](std::uint32_t key) { return arith::is_finite(bias.at(b, h, t, key)); };
        if (std::any_of(seen.begin(), seen.end(), at)) continue;
        throw ConfigError(
            fmt::format("{}: has -inf for all keys that token {} of batch {} attends to, head {}; every "
                        "query needs one",
                        what, t, b, h));
      }
    }
  }
}

}  // namespace

void read_bias(Attention& n, const std::string& path) {
  const tensors::Array array = tensors::read_npy(path);
  const auto refuse = [&](const std::string& sentence) { fail({shown_path(path)}, sentence); };
  const std::uint32_t all[4] = {n.batch, n.heads, n.seq_q, n.seq_kv};
  BiasTensor bias;
  const std::size_t dimensions = array.shape.size(), missing = 4 - std::min<std::size_t>(dimensions, 4);
  bool fits = dimensions >= 2 && dimensions <= 4;
  for (std::size_t d = missing; fits && d < 4; ++d) {
    const std::size_t extent = array.shape[d - missing];
    fits = extent == 1 || extent == all[d];
    bias.extent[d] = static_cast<std::uint32_t>(extent);
  }
  if (!fits) {
    refuse(
        fmt::format("has shape {}; allowed is {}, its last three or its last two, with 1 for what is the same for all",
                    tensors::shape_text(array.shape), tensors::shape_text({all[0], all[1], all[2], all[3]})));
  }
  for (std::size_t i = 0; i < array.half.size(); ++i) {
    const arith::Half x = array.half[i];
    if (!arith::is_nan(x) && x != arith::kHalfInfinity) continue;
    refuse(fmt::format("element {} is {}; allowed are finite numbers and -inf, which hides a key", i,
                       arith::is_nan(x) ? "NaN" : "inf"));
  }
  bias.numbers = array.half;
  n.bias = Bias::kTensor;
  n.bias_tensor = std::make_shared<const BiasTensor>(std::move(bias));
  check_bias(n, shown_path(path));
}

// Reader of block masks.

using namespace config;

namespace {

constexpr std::uint32_t kLeastBlock = 8, kMostBlock = 4096;

// Parses "block 64".
std::uint32_t block_size(const std::string& line, const Origin& origin) {
  constexpr std::string_view kWord = "block";
  std::string_view text = trimmed(line);
  std::uint32_t size = 0;
  if (text.substr(0, kWord.size()) == kWord) {
    text = trimmed(text.substr(kWord.size()));
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || rest != text.data() + text.size()) size = 0;
  }
  if (size < kLeastBlock || size > kMostBlock || (size & (size - 1)) != 0) {
    fail(origin, fmt::format("found {}; allowed is a first line such as 'block 64', with a power of two of {} to {}",
                             in_quotes(line), kLeastBlock, kMostBlock));
  }
  return size;
}

}  // namespace

void read_block_mask(Attention& n, const std::string& path) {
  std::istringstream text(read_text_file(path));
  Origin origin{shown_path(path), 0};
  std::uint32_t rows = 0, columns = 0, row = 0;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (trimmed(line).empty() || line[0] == '#') continue;
    origin.line = number;
    if (n.mask.block == 0) {
      n.mask.block = static_cast<std::uint16_t>(block_size(line, origin));
      rows = hal::map_rows(n.mask);
      columns = hal::map_columns(n.mask, n.seq_kv);
      if (rows > hal::kMostBlocks || columns > hal::kMostBlocks) {
        fail(origin,
             fmt::format("{} new tokens and {} keys are {} x {} blocks of {}; allowed are {} x {}", n.mask.queries,
                         n.seq_kv, rows, columns, n.mask.block, hal::kMostBlocks, hal::kMostBlocks));
      }
      n.map.assign(std::size_t{rows} * hal::map_stride(n.mask, n.seq_kv), 0);
      continue;
    }
    std::uint32_t column = 0;
    for (const char c : line) {
      if (c == ' ' || c == ',' || c == '\t' || c == '\r') continue;
      if (c != '0' && c != '1')
        fail(origin, fmt::format("found {}; allowed are 0 and 1", in_quotes(std::string(1, c))));
      if (column < columns && row < rows && c == '1') {
        n.map[std::size_t{row} * hal::map_stride(n.mask, n.seq_kv) + column / 32] |= 1U << column % 32;
      }
      ++column;
    }
    if (column != columns) {
      fail(origin,
           fmt::format("found a row of {} blocks; {} keys are {} of {}", column, n.seq_kv, columns, n.mask.block));
    }
    ++row;
  }
  if (n.mask.block == 0 || row != rows) {
    throw ConfigError(fmt::format("{}: found {} rows; {} new tokens are {} blocks of {}", shown_path(path), row,
                                  n.mask.queries, rows, n.mask.block));
  }
  check_visible(n, shown_path(path));
}

void check_visible(const Attention& n, const std::string& what) {
  for (std::uint32_t b = 0; b < (n.valid.empty() ? 1 : n.batch); ++b) {
    for (std::uint32_t t = 0; t < n.mask.queries; ++t) {
      if (n.visible_keys(b, t) > 0) continue;
      throw ConfigError(fmt::format("{}: token {} of batch {} attends to no key; every query needs one", what, t, b));
    }
  }
}

std::uint32_t Attention::visible_keys(std::uint32_t b, std::uint32_t token) const {
  return hal::count_of_token(mask_of(b), block_mask(), token, valid_keys(b));
}

}  // namespace attnvp::workload
