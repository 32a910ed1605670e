#include "platform/trace/waits.h"

#include <algorithm>

#include "platform/trace/reason.h"

namespace attnvp::trace {

std::map<std::size_t, std::string> wait_reasons(const Journal& journal, const Givers& givers) {
  Givers one;
  one.ranges = givers.ranges;
  std::map<std::size_t, const Journal::Arrow*> last;
  for (const Journal::Arrow& a : journal.arrows()) {
    const Journal::Arrow*& known = last[a.to - 1];
    if (known == nullptr || a.given >= known->given) known = &a;
  }
  std::map<std::size_t, std::string> reasons;
  for (const auto& [to, arrow] : last) {
    one.gave(0, journal.entries()[arrow->from - 1].descriptor);
    reasons[to] = reason(one.cause(0, journal.entries()[to].descriptor));
  }
  return reasons;
}

std::vector<std::string> wait_words() {
  constexpr std::uint8_t kTags = 7;  // Q, K, V, C, P, O, partial results
  std::vector<std::string> words;
  const auto add = [&words](const Cause& cause) {
    const std::string word = reason(cause);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  add({Cause::kOrder, Operation::kNone, 0});
  add({Cause::kSpace, Operation::kNone, 0});
  for (std::uint8_t tag = 0; tag <= kTags; ++tag) add({Cause::kOperand, Operation::kLoad, tag});
  for (auto by = static_cast<std::uint8_t>(Operation::kNone); by <= static_cast<std::uint8_t>(Operation::kUnknown);
       ++by) {
    add({Cause::kOperand, static_cast<Operation>(by), 0});
  }
  return words;
}

}  // namespace attnvp::trace
