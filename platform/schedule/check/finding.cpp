#include "platform/schedule/check/finding.h"

#include <fmt/format.h>

#include <utility>

namespace attnvp::schedule::check {

namespace {
constexpr std::pair<const char*, const char*> kKinds[] = {
    {"refused", "a command that its engine refuses"},
    {"unwritten", "a read of memory that was never written"},
    {"torn", "a read of tensor rows of which some belong to another tile"},
    {"keys", "a product of probabilities with rows of V of other keys, or with another tensor"},
    {"scales", "a tile's sums added with the factor of another tile"},
    {"input", "a write to Q, K or V"},
    {"race", "a write and another access to the same bytes that are not ordered"},
    {"freed", "use of L1 space that firmware has freed or not allocated"},
    {"crossing", "an access beyond the end of a buffer"},
    {"unfinished", "firmware ends before the result is complete"},
    {"missing", "part of the result that is never written"},
    {"deadlock", "a wait without end"},
    {"left over", "tokens that are never taken"},
    {"contended", "an event of which two queues take tokens: which one gets a token depends on time"},
    {"overflow", "more tokens than an event's counter holds"},
    {"held", "L1 space allocated during the schedule and not freed"},
    {"unknown", "an action that the checker does not support"},
};

std::string source_text(const Party& p) {  // ", mas.cpp:87 by runtime/attention.cpp:12"
  if (p.source.empty()) return {};
  const std::string line = p.source.substr(p.source.rfind('/') + 1);
  return p.step.empty() ? ", " + line : fmt::format(", {} by {}", line, p.step.substr(p.step.find('/') + 1));
}
}  // namespace

const char* to_string(Kind kind) { return kKinds[static_cast<std::size_t>(kind)].first; }
const char* meaning(Kind kind) { return kKinds[static_cast<std::size_t>(kind)].second; }

std::string to_text(const Finding& f) {
  std::string text = fmt::format("{}: ", to_string(f.kind));
  for (std::size_t i = 0; i < f.parties.size(); ++i) {
    const Party& p = f.parties[i];
    text += i == 0 ? "" : p.access.empty() ? ", " : " while ";
    text += fmt::format("{}{}", p.cluster == 0 ? "" : fmt::format("c{}.", p.cluster), p.queue);
    if (p.number > 0) text += fmt::format(" #{}", p.number);
    if (!p.operation.empty()) text += " " + p.operation;
    if (p.number > 0) {
      text += fmt::format(" (head {}, block {}{})", p.head, p.row_block, source_text(p));
    }
    if (!p.access.empty()) text += fmt::format(" {} {}", p.access, p.place);
  }
  if (!f.detail.empty()) text += (f.parties.empty() ? "" : ": ") + f.detail;
  if (f.high > f.low) text += fmt::format(" [{:#x}, {:#x})", f.low, f.high);
  if (f.alike > 0) text += fmt::format("; and {} more like it", f.alike);
  return text;
}

}  // namespace attnvp::schedule::check
