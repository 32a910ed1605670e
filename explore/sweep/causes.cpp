#include "explore/sweep/causes.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace attnvp::explore {

namespace {

std::string kind_of(const std::string& sentence) {
  const std::size_t colon = sentence.find(": ");
  const bool names_job = colon != std::string::npos && sentence.find(" with ") < colon;
  std::string kind;
  for (std::size_t i = names_job ? colon + 2 : 0; i < sentence.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(sentence[i])) != 0;
    if (!digit) kind += sentence[i];
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

}  // namespace

std::vector<Cause> causes_of(const std::vector<std::string>& sentences) {
  std::map<std::string, Cause> kinds;
  for (const std::string& sentence : sentences) {
    Cause& cause = kinds[kind_of(sentence)];
    if (cause.jobs++ == 0 || sentence < cause.example) cause.example = sentence;
  }
  std::vector<Cause> causes;
  for (auto& [kind, cause] : kinds) causes.push_back(std::move(cause));
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.jobs > b.jobs; });
  return causes;
}

}  // namespace attnvp::explore
