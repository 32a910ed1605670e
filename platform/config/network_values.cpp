#include "platform/config/network_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "platform/config/words.h"

namespace attnvp::config {

// "1000+777+64": keys of each batch.
void parse_contexts(Network& network, const NetworkKeys& keys, const Origin& origin, const std::string& name) {
  if (keys.contexts.empty()) return;
  const auto refuse = [&](const std::string& why) {
    fail(origin, fmt::format("key '{}': found {}; {}", name, in_quotes(keys.contexts), why));
  };
  const std::string_view all = keys.contexts;
  for (std::size_t start = 0; start <= all.size();) {
    const std::size_t end = std::min(all.find('+', start), all.size());
    const std::string_view part = trimmed(all.substr(start, end - start));
    start = end + 1;
    std::uint32_t length = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), length);
    if (error != std::errc{} || rest != part.data() + part.size() || length < 1 || length > kLongestSequence) {
      refuse(fmt::format("allowed are lengths of 1 to {:.0f} with '+' between them", kLongestSequence));
    }
    network.contexts.push_back(length);
  }
  if (network.contexts.size() > kMostContexts) refuse(fmt::format("allowed are at most {} batches", kMostContexts));
  if (network.batch != 1 && network.batch != network.contexts.size()) {
    refuse(fmt::format("that is {} batches, but batch is {}", network.contexts.size(), network.batch));
  }
  network.batch = static_cast<std::uint32_t>(network.contexts.size());
  network.seq_kv = *std::max_element(network.contexts.begin(), network.contexts.end());
}

// "0.125", "1/8" or "1/sqrt(E)".
void parse_scale(Network& network, const NetworkKeys& keys, const Origin& origin, const std::string& name) {
  if (keys.scale.empty()) return;
  const std::string_view text = trimmed(keys.scale);
  const auto number = [](std::string_view part, double& value) {
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && rest == part.data() + part.size();
  };
  double value = 0, over = 1;
  const std::size_t slash = text.find('/');
  bool good = false;
  if (slash != std::string_view::npos &&
      (text.substr(slash + 1) == "sqrt(E)" || text.substr(slash + 1) == "sqrt(emb)")) {
    good = number(text.substr(0, slash), value);
    over = std::sqrt(static_cast<double>(network.emb));
  } else if (slash != std::string_view::npos) {
    good = number(text.substr(0, slash), value) && number(text.substr(slash + 1), over) && over > 0;
  } else {
    good = number(text, value);
  }
  const auto scale = static_cast<float>(value / over);
  if (!good || !(scale >= 0x1p-24F && scale <= 0x1p10F)) {
    fail(origin, fmt::format("key '{}': found {}; allowed is a number of 2^-24 to 1024, a quotient such as 1/8, or "
                             "1/sqrt(E)",
                             name, in_quotes(keys.scale)));
  }
  network.scale = scale;
}

// The types' names; what has none is FP16.
void complete_types(Network& n, const NetworkKeys& keys) {
  constexpr hal::ElementType kTypes[] = {hal::ElementType::kFp16, hal::ElementType::kBf16, hal::ElementType::kFp8E4M3,
                                         hal::ElementType::kFp8E5M2, hal::ElementType::kInt8};
  n.type = kTypes[static_cast<std::size_t>(keys.type)];
  const bool bf16 = keys.out == OutputType::kBf16 || (keys.out == OutputType::kAuto && keys.type == TensorType::kBf16);
  n.out = bf16 ? hal::ElementType::kBf16 : hal::ElementType::kFp16;
}

// "50", the names' own or none.
void parse_soft_cap(Network& n, const NetworkKeys& keys, const Origin& origin, const std::string& name) {
  if (keys.soft_cap.empty()) return;
  const std::string_view text = trimmed(keys.soft_cap);
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size() || !(value >= 0x1p-10 && value <= 32768)) {
    fail(origin,
         fmt::format("key '{}': found {}; allowed is a number of 2^-10 to 32768", name, in_quotes(keys.soft_cap)));
  }
  n.soft_cap = static_cast<float>(value);
}

// "100+80": keys of each batch that count.
void parse_valid(Network& n, const NetworkKeys& keys, const Origin& origin, const std::string& name) {
  if (keys.valid.empty()) return;
  const auto refuse = [&](const std::string& why) {
    fail(origin, fmt::format("key '{}': found {}; {}", name, in_quotes(keys.valid), why));
  };
  const std::string_view all = keys.valid;
  for (std::size_t start = 0; start <= all.size();) {
    const std::size_t end = std::min(all.find('+', start), all.size());
    const std::string_view part = trimmed(all.substr(start, end - start));
    start = end + 1;
    std::uint32_t length = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), length);
    if (error != std::errc{} || rest != part.data() + part.size() || length < 1 || length > n.seq_kv) {
      refuse(fmt::format("allowed are lengths of 1 to {} with '+' between them", n.seq_kv));
    }
    n.valid.push_back(length);
  }
  if (n.valid.size() != n.batch) refuse(fmt::format("allowed is one length for each of {} batches", n.batch));
  n.mask.padded = 1;
}

}  // namespace attnvp::config
