#include "platform/trace/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "models/sim/trace/operation.h"
#include "platform/report/table.h"

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

namespace {

constexpr std::uint64_t kUnreached = CommandTrace::kNever;
constexpr std::size_t kNoEntry = SIZE_MAX;
constexpr const char* kEngineCause = "engine";

class Walker {
 public:
  Walker(const CommandTrace& trace, const SignallingDescriptors& signallers, std::uint64_t last)
      : entries_(trace.entries()), signallers_(signallers), last_(last), signal_(entries_.size(), nullptr) {
    for (const CommandTrace::Arrow& a : trace.arrows()) {
      const CommandTrace::Arrow*& known = signal_[a.to - 1];
      if (known == nullptr || a.given >= known->given) known = &a;
    }
    std::map<std::string, std::size_t> latest;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].descriptor.opcode == hal::Opcode::kNop) {
        before_.push_back(kNoEntry);
        continue;
      }
      const auto [known, is_first] = latest.try_emplace(entries_[i].track, i);
      before_.push_back(is_first ? kNoEntry : known->second);
      known->second = i;
    }
  }

  std::vector<PathStep> back(std::uint64_t from, std::uint64_t to) {
    std::vector<PathStep> steps;  // latest first
    std::size_t at = last_before(to);
    std::set<std::size_t> seen;
    std::uint64_t time = to;
    std::string cause;
    while (at != kNoEntry && time > from && seen.insert(at).second) {
      const CommandTrace::TracedCommand& e = entries_[at];
      const std::uint64_t start = std::min(started(e), time);
      add(steps, PathStep::PathStepKind::kWork, at, std::max(start, from), time, cause);
      if (start <= from) break;
      // The latest of three causes.
      const CommandTrace::Arrow* const arrow = signal_[at];
      const std::size_t other = before_[at];
      const std::uint64_t given = arrow == nullptr ? 0 : std::min(arrow->given, start);
      const std::uint64_t freed = other == kNoEntry ? 0 : std::min(ended(entries_[other]), start);
      const std::uint64_t fetched = std::min(e.fetched, start);
      const bool by_event = arrow != nullptr && given >= freed && given >= fetched;
      const bool by_queue = !by_event && fetched > freed;
      const std::uint64_t released = by_event ? given : std::max(freed, fetched);
      add(steps, PathStep::PathStepKind::kStart, at, std::max(released, from), start, "");
      time = released;
      if (by_event) {
        at = arrow->from - 1;
        cause = reason(signallers_.between(entries_[at].descriptor, e.descriptor));
      } else {
        if (by_queue) add(steps, PathStep::PathStepKind::kProcessor, at, std::max(freed, from), released, "");
        time = freed;
        at = other;
        cause = kEngineCause;
      }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

 private:
  static std::uint64_t started(const CommandTrace::TracedCommand& e) {
    return e.start != kUnreached ? e.start : std::min(e.ready, e.fetched);
  }
  std::uint64_t ended(const CommandTrace::TracedCommand& e) const {
    const std::uint64_t end = e.end != kUnreached ? e.end : e.done;
    return end != kUnreached ? end : last_;
  }

  // The command that is the last one to end by `to`, or that runs at that time.
  std::size_t last_before(std::uint64_t to) const {
    std::size_t best = kNoEntry;
    std::uint64_t latest = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (before_[i] == kNoEntry && entries_[i].descriptor.opcode == hal::Opcode::kNop) continue;
      const std::uint64_t start = started(entries_[i]);
      if (start >= to) continue;
      const std::uint64_t end = std::min(ended(entries_[i]), to);
      if (best == kNoEntry || end > latest) best = i, latest = end;
    }
    return best;
  }

  static void add(std::vector<PathStep>& steps, PathStep::PathStepKind kind, std::size_t entry, std::uint64_t from,
                  std::uint64_t to, const std::string& cause) {
    if (from < to) steps.push_back({kind, entry, from, to, cause});
  }

  const std::vector<CommandTrace::TracedCommand>& entries_;
  const SignallingDescriptors& signallers_;
  const std::uint64_t last_;
  std::vector<const CommandTrace::Arrow*> signal_;  // last token of each entry
  std::vector<std::size_t> before_;                 // the entry before it on its track
};

std::string tensor_of(const PathStep& step, const CommandTrace& trace) {
  const Operation operation = operation_of(trace.entries()[step.entry].descriptor);
  if (step.kind == PathStep::PathStepKind::kProcessor) return "processor";
  if (operation == kLoadOperation) {
    const bool is_named = step.cause.find(" from ") != std::string::npos;
    return is_named ? step.cause : "loads";
  }
  const Made made = made_by(operation);
  if (made.unit == hal::Unit::kDma) return "stores";
  return made.what == nullptr ? name_of(operation) : std::string(made.what);
}

const char* name_of_kind(PathStep::PathStepKind kind) {
  return kind == PathStep::PathStepKind::kWork    ? "work"
         : kind == PathStep::PathStepKind::kStart ? "start"
                                                  : "processor";
}

std::string local_name(const std::string& track) {
  const std::size_t dot = track.find('.');
  return dot == std::string::npos ? track : track.substr(dot + 1);
}

void add_to(std::vector<std::pair<std::string, std::uint64_t>>& sums, const std::string& name, std::uint64_t cycles) {
  const auto known = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == name; });
  if (known == sums.end()) {
    sums.emplace_back(name, cycles);
  } else {
    known->second += cycles;
  }
}

std::string shares_text(const std::vector<std::pair<std::string, std::uint64_t>>& sums, std::uint64_t total) {
  std::string text;
  for (const auto& [name, cycles] : sums) {
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", name,
        report::percent(static_cast<double>(cycles) / static_cast<double>(std::max<std::uint64_t>(total, 1))));
  }
  return text;
}

// Consecutive steps of the text: the last ones, as they end the interval.
std::size_t first_shown(const CriticalPath& path, std::size_t most) {
  return path.steps.size() > most ? path.steps.size() - most : 0;
}

}  // namespace

std::string engine_of(const std::string& track) {
  std::string name = track;
  const std::size_t channel = name.find(".channel");
  if (channel != std::string::npos) name.resize(channel);
  return name.substr(name.rfind('.') + 1);
}

CriticalPath critical_path(const CommandTrace& trace, const SignallingDescriptors& signallers, std::uint64_t from,
                           std::uint64_t to, std::uint64_t last) {
  CriticalPath path{from, to, Walker(trace, signallers, last).back(from, to), {}, {}};
  for (const PathStep& step : path.steps) {
    const std::string engine =
        step.kind == PathStep::PathStepKind::kProcessor ? "processor" : engine_of(trace.entries()[step.entry].track);
    add_to(path.by_engine, engine, step.to - step.from);
    add_to(path.by_tensor, tensor_of(step, trace), step.to - step.from);
  }
  const auto by_cycles = [](const auto& a, const auto& b) { return a.second > b.second; };
  std::stable_sort(path.by_engine.begin(), path.by_engine.end(), by_cycles);
  std::stable_sort(path.by_tensor.begin(), path.by_tensor.end(), by_cycles);
  return path;
}

std::string to_text(const CriticalPath& path, const CommandTrace& trace, std::size_t most_steps) {
  const std::uint64_t total = path.to - path.from;
  std::string out = fmt::format("{:<13}cycles {} to {}: {} steps\n", "path", report::with_commas(path.from),
                                report::with_commas(path.to), report::with_commas(path.steps.size()));
  out += fmt::format("{:<13}{}\n{:<13}{}\n\n", "by engine", shares_text(path.by_engine, total), "by tensor",
                     shares_text(path.by_tensor, total));
  report::Table table;
  for (const char* title : {"from", "cycles"}) table.column(title);
  for (const char* title : {"engine", "command", "the next waits for"}) {
    table.column(title, report::Table::Align::kLeft);
  }
  table.column("head");
  table.column("rows");
  for (std::size_t i = first_shown(path, most_steps); i < path.steps.size(); ++i) {
    const PathStep& step = path.steps[i];
    const CommandTrace::TracedCommand& e = trace.entries()[step.entry];
    const std::string name = name_of(operation_of(e.descriptor));
    const std::string what = step.kind == PathStep::PathStepKind::kWork    ? name
                             : step.kind == PathStep::PathStepKind::kStart ? "wait before " + name
                                                                           : "processor, before " + name;
    table.row({report::with_commas(step.from), report::with_commas(step.to - step.from), local_name(e.track), what,
               step.cause, fmt::format("{}", e.descriptor.head), fmt::format("{}", e.descriptor.row_block)});
  }
  out += table.text(text::line_width());
  if (const std::size_t left = first_shown(path, most_steps); left > 0) {
    out += fmt::format("and {} before them\n", report::with_commas(left));
  }
  return out;
}

nlohmann::ordered_json to_json(const CriticalPath& path, const CommandTrace& trace, std::size_t most_steps) {
  nlohmann::ordered_json json{{"from", path.from}, {"to", path.to}, {"steps", path.steps.size()}};
  for (const auto& [name, cycles] : path.by_engine) json["by_engine"][name] = cycles;
  for (const auto& [name, cycles] : path.by_tensor) json["by_tensor"][name] = cycles;
  json["path"] = nlohmann::ordered_json::array();
  for (std::size_t i = first_shown(path, most_steps); i < path.steps.size(); ++i) {
    const PathStep& step = path.steps[i];
    const CommandTrace::TracedCommand& e = trace.entries()[step.entry];
    json["path"].push_back({{"kind", name_of_kind(step.kind)},
                            {"command", step.entry},
                            {"track", local_name(e.track)},
                            {"operation", name_of(operation_of(e.descriptor))},
                            {"head", e.descriptor.head},
                            {"row_block", e.descriptor.row_block},
                            {"from", step.from},
                            {"to", step.to},
                            {"cause", step.cause}});
  }
  return json;
}

}  // namespace attnvp::trace
