#include "platform/trace/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace attnvp::trace {

namespace {

const char* const kTensors[] = {"data", "Q", "K", "V", "C", "P", "O", "partial results", "bias"};

std::string producer(const StallReason& cause) {
  if (cause.by == kLoadOperation) {
    if (cause.tag == kTagOfL2) return "data from L2";
    return std::string(kTensors[cause.tag]) + " from DRAM";
  }
  const Made made = made_by(cause.by);
  if (made.what == nullptr) return "order";
  if (made.unit == hal::Unit::kDma) return std::string(made.what) + " in DRAM";
  return std::string(made.what) + " from " + hal::name_of(made.unit);
}

}  // namespace

std::string reason(const StallReason& cause) {
  switch (cause.kind) {
    case StallReason::kProcessor:
      return "processor";
    case StallReason::kFill:
      return "fill";
    case StallReason::kDrain:
      return "drain";
    case StallReason::kOperand:
      return producer(cause);
    case StallReason::kSpace:
      return "space";
    case StallReason::kOrder:
    case StallReason::kPending:
      break;
  }
  return "order";
}

std::map<std::size_t, std::string> wait_reasons(const CommandTrace& command_trace,
                                                const SignallingDescriptors& signallers) {
  std::map<std::size_t, const CommandTrace::Arrow*> last;
  for (const CommandTrace::Arrow& a : command_trace.arrows()) {
    const CommandTrace::Arrow*& known = last[a.to - 1];
    if (known == nullptr || a.given >= known->given) known = &a;
  }
  std::map<std::size_t, std::string> reasons;
  for (const auto& [to, arrow] : last) {
    reasons[to] = reason(signallers.between(command_trace.entries()[arrow->from - 1].descriptor,
                                            command_trace.entries()[to].descriptor));
  }
  return reasons;
}

std::map<std::uint64_t, std::string> event_words(const CommandTrace& command_trace,
                                                 const SignallingDescriptors& signallers) {
  struct WaitUse {
    std::map<std::string, std::size_t> reasons;
    std::set<std::string> takers;
  };
  std::map<std::uint64_t, WaitUse> uses;
  for (const CommandTrace::Arrow& a : command_trace.arrows()) {
    if (a.from == CommandTrace::kNone || a.to == CommandTrace::kNone) continue;
    const CommandTrace::TracedCommand& taker = command_trace.entries()[a.to - 1];
    WaitUse& use = uses[a.event];
    ++use.reasons[reason(signallers.between(command_trace.entries()[a.from - 1].descriptor, taker.descriptor))];
    const std::size_t cluster = taker.track.find(".cluster");
    std::string name = taker.track.substr(cluster == std::string::npos ? 0 : taker.track.find('.', cluster + 1) + 1);
    std::replace(name.begin(), name.end(), '.', ' ');
    use.takers.insert(std::move(name));
  }
  std::map<std::uint64_t, std::string> words;
  for (const auto& [event, use] : uses) {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto most = std::max_element(use.reasons.begin(), use.reasons.end(), by_count);
    words[event] = fmt::format("{} to {}", most->first, *use.takers.begin());
    if (use.takers.size() > 1) words[event] += fmt::format(" and {} more", use.takers.size() - 1);
  }
  return words;
}

std::vector<std::string> wait_words() {
  constexpr std::uint8_t kTags = 8;  // Q, K, V, C, P, O, partial results, bias
  std::vector<std::string> words;
  const auto add = [&words](const StallReason& cause) {
    const std::string word = reason(cause);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  add({StallReason::kOrder, Operation::kNone, 0});
  add({StallReason::kSpace, Operation::kNone, 0});
  for (std::uint8_t tag = 0; tag <= kTags; ++tag) add({StallReason::kOperand, kLoadOperation, tag});
  for (auto by = static_cast<std::uint8_t>(Operation::kNone); by <= static_cast<std::uint8_t>(kUnknownOperation);
       ++by) {
    add({StallReason::kOperand, static_cast<Operation>(by), 0});
  }
  return words;
}

}  // namespace attnvp::trace
