#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explore/serve/simulator.h"
#include "models/sim/trace/operation.h"
#include "platform/report/page/page.h"
#include "platform/trace/critical_path.h"

namespace attnvp::explore {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kNever = CommandTrace::kNever;
constexpr std::size_t kMostSlices = 4000;

struct GanttSpan {
  std::uint64_t from = 0, to = 0;
  bool is_empty() const { return from >= to; }
  bool overlaps(const GanttSpan& other) const { return from < other.to && other.from < to; }
};

// Times in which commands work. A DMA channel has several outstanding: the next one's time begins when this one ends.
std::vector<GanttSpan> spans_of(const CommandTrace& trace, std::uint64_t cycles) {
  std::vector<GanttSpan> spans;
  std::map<std::string, std::uint64_t> done;
  for (const CommandTrace::TracedCommand& e : trace.entries()) {
    GanttSpan span;
    if (e.start != kNever && e.descriptor.opcode != hal::Opcode::kNop) {
      std::uint64_t& before = done[e.track];
      span = {std::max(e.start, before), e.end == kNever ? cycles : e.end};
      before = span.to;
    }
    spans.push_back(span);
  }
  return spans;
}

std::vector<std::uint32_t> heads_of(const CommandTrace& trace, const std::vector<GanttSpan>& spans) {
  std::vector<std::uint32_t> heads;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].is_empty()) heads.push_back(trace.entries()[i].descriptor.head);
  }
  std::sort(heads.begin(), heads.end());
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  return heads;
}

std::string local_name(const std::string& track) {
  const std::size_t dot = track.find('.');
  return dot == std::string::npos ? track : track.substr(dot + 1);
}

}  // namespace

ordered_json gantt_json(const CommandTrace& trace, const SignallingDescriptors& signallers, std::int64_t head,
                        std::uint64_t cycles) {
  const std::vector<CommandTrace::TracedCommand>& entries = trace.entries();
  const std::vector<GanttSpan> spans = spans_of(trace, cycles);
  const std::vector<std::uint32_t> heads = heads_of(trace, spans);
  ordered_json out{{"heads", heads}, {"cycles", cycles}};
  if (heads.empty()) return out;
  const bool is_known = head >= 0 && std::binary_search(heads.begin(), heads.end(), static_cast<std::uint64_t>(head));
  const std::uint32_t chosen = is_known ? static_cast<std::uint32_t>(head) : heads[heads.size() / 2];
  GanttSpan window{kNever, 0};
  std::size_t own = 0, all = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].is_empty() || entries[i].descriptor.head != chosen) continue;
    window = {std::min(window.from, spans[i].from), std::max(window.to, spans[i].to)};
    ++own;
  }
  for (const GanttSpan& span : spans) all += !span.is_empty() && span.overlaps(window) ? 1 : 0;
  const bool is_own_only = all > kMostSlices;

  std::vector<std::string> tracks;
  const auto is_shown = [&](std::size_t i) {
    const bool in_window = spans[i].overlaps(window) && !spans[i].is_empty();
    return in_window && (!is_own_only || entries[i].descriptor.head == chosen);
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (is_shown(i)) tracks.push_back(local_name(entries[i].track));
  }
  std::sort(tracks.begin(), tracks.end());
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());

  const std::map<std::size_t, std::string> reasons = trace::wait_reasons(trace, signallers);
  report::TextTable operations, causes;
  ordered_json slices = ordered_json::array(), waits = ordered_json::array();
  for (std::size_t i = 0; i < spans.size() && slices.size() < kMostSlices; ++i) {
    if (!is_shown(i)) continue;
    const CommandTrace::TracedCommand& e = entries[i];
    const auto track = std::lower_bound(tracks.begin(), tracks.end(), local_name(e.track)) - tracks.begin();
    slices.push_back({track, spans[i].from, spans[i].to, operations.of(name_of(operation_of(e.descriptor))),
                      e.descriptor.head, e.descriptor.row_block, i});
    if (e.ready == kNever || e.fetched >= e.ready) continue;
    const auto reason = reasons.find(i);
    waits.push_back({track, e.fetched, e.ready, causes.of(reason == reasons.end() ? "order" : reason->second), i});
  }
  out["head"] = chosen;
  out["window"] = {window.from, window.to};
  out["own_only"] = is_own_only;
  out["left_out"] = (is_own_only ? own : all) - slices.size();
  out["tracks"] = tracks;
  out["operations"] = operations.texts();
  out["causes"] = causes.texts();
  out["slices"] = std::move(slices);
  out["waits"] = std::move(waits);
  return out;
}

}  // namespace attnvp::explore
