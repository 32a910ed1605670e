#include "platform/machine/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "platform/base/text.h"

namespace attnvp::config {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  return fmt::format("'{}'", text::printable(text, kLongest));
}

Origin option_origin(std::string_view option, std::string_view value) {
  constexpr std::size_t kLongest = 200;
  return {fmt::format("{} {}", option, text::printable(value, kLongest))};
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = lower(a[i - 1]) == lower(b[j - 1]);
      next[j] = std::min({row[j - 1] + (equal ? 0 : 1), row[j] + 1, next[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, std::move(next));
  }
  return row.back();
}

namespace {

// Lower-case letters and digits only: "llama3.1-8b" is "llama318b".
std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += lower(c);
  }
  return out;
}

bool is_subsequence(std::string_view part, std::string_view whole) {
  std::size_t i = 0;
  for (const char c : whole) {
    if (i < part.size() && part[i] == c) ++i;
  }
  return i == part.size();
}

// Candidate abbreviated by the word: "edge16" for edge-16nm.
std::string abbreviated(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string letters = letters_and_digits(word);
  std::string best;
  for (const std::string& candidate : candidates) {
    const bool is_path = candidate.find('.') != std::string::npos && word.find('.') == std::string_view::npos;
    if (letters.size() < 3 || is_path || !starts_with(letters_and_digits(candidate), letters)) continue;
    if (best.empty() || candidate.size() < best.size()) best = candidate;
  }
  return best;
}

// Longest candidate contained in the word: h100 for "h100sxm", flash2 for "flashattention2", type for "dtype".
std::string contained(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string letters = letters_and_digits(word);
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::string own = letters_and_digits(candidate);
    if (own.size() < 3 || own.size() <= best.size() || own.size() >= letters.size()) continue;
    const bool begins = starts_with(letters, own);
    const bool ends = letters.substr(letters.size() - own.size()) == own;
    const bool spread = own.size() >= 5 && own.substr(0, 3) == letters.substr(0, 3) && own.back() == letters.back() &&
                        is_subsequence(own, letters);
    if (begins || ends || spread) best = candidate;
  }
  return best;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 64;  // longer words are not treated as mistyped names
  if (word.empty() || word.size() > kLongestWord) return {};
  const auto same_last_part = [&]() -> std::string {
    for (const std::string& candidate : candidates) {
      if (last_part(candidate) == last_part(word)) return candidate;
    }
    return {};
  };
  // A key without section matches the first of that name, not that of the shortest section.
  if (const std::string key = same_last_part(); word.find('.') == std::string_view::npos && !key.empty()) return key;
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < word.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best_distance <= 1) return best;
  if (const std::string whole = abbreviated(word, candidates); !whole.empty()) return whole;
  if (!best.empty()) return best;
  if (const std::string part = contained(word, candidates); !part.empty()) return part;
  return same_last_part();
}

std::string allowed_names(std::string_view word, const std::vector<std::string>& names, std::string_view command) {
  constexpr std::size_t kLongestList = 110;  // characters
  constexpr std::size_t kShown = 5;
  std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (all.size() <= kLongestList || names.size() <= kShown) return "; allowed: " + all;
  const std::string_view start = word.substr(0, 64);  // limits the cost of the distances
  std::vector<std::pair<std::size_t, std::size_t>> by_distance;
  for (std::size_t i = 0; i < names.size(); ++i) {
    by_distance.emplace_back(word.empty() ? 0 : edit_distance(start, names[i]), i);
  }
  std::sort(by_distance.begin(), by_distance.end());
  std::vector<std::string_view> shown;
  for (std::size_t i = 0; i < kShown; ++i) shown.push_back(names[by_distance[i].second]);
  return fmt::format("; allowed: {}, ...{}", fmt::join(shown, ", "),
                     command.empty() ? "" : fmt::format(" (all: {})", command));
}

std::string hint(std::string_view word, const std::vector<std::string>& candidates, std::string_view command) {
  const std::string near = nearest(word, candidates);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  return allowed_names(word, candidates, command);
}

std::vector<std::string> with_sections(const std::vector<std::string>& known) {
  std::vector<std::string> all;
  for (const std::string& path : known) {
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      const std::string section = path.substr(0, dot);
      if (std::find(all.begin(), all.end(), section) == all.end()) all.push_back(section);
    }
    all.push_back(path);
  }
  return all;
}

std::vector<std::string> siblings(const std::string& path, const std::vector<std::string>& all) {
  const std::size_t dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot + 1);
  std::vector<std::string> found;
  for (const std::string& candidate : all) {
    if (starts_with(candidate, section) && candidate.find('.', section.size()) == std::string::npos) {
      found.push_back(candidate);
    }
  }
  return found;
}

std::string unknown_path(const std::string& path, const std::vector<std::string>& known, bool sections) {
  const std::vector<std::string> all = with_sections(known);
  const std::string near = nearest(path, sections ? all : known);
  if (!near.empty()) return fmt::format("key {} is unknown; did you mean '{}'?", in_quotes(path), near);
  const bool is_section = std::find(all.begin(), all.end(), path) != all.end();
  const std::vector<std::string> inside = siblings(is_section ? path + "." : path, all);
  return fmt::format("key {} is {}{}", in_quotes(path), is_section ? "a section" : "unknown",
                     allowed_names(path, inside.empty() ? siblings("", all) : inside, "attnvp describe keys"));
}

}  // namespace attnvp::config
