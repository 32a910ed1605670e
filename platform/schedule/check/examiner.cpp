#include "platform/schedule/check/examiner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "firmware/hal/registers.h"
#include "firmware/runtime/dataflow.h"
#include "models/sim/stall_attribution.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/programs.h"

namespace attnvp::schedule::check {

Examiner::Examiner(const Job& job, const Trace& trace, const CheckOptions& options)
    : job_(job),
      trace_(trace),
      options_(options),
      clocks_(trace),
      order_(trace, Progress::Queues::kAsDeep),
      appended_(appended(job)),
      given_end_(end_of_given(job)) {
  freed_.resize(trace.machine().clusters);
}

Report Examiner::run() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t c = 0; c < trace_.machine().clusters; ++c) all.push_back(c);
  order_.begin(all);
  report_.commands = trace_.descriptors.size();
  complaints();
  deadlock();
  tokens();
  memories();
  return std::move(report_);
}

// Reports the first finding of a kind between two queues and counts further ones.
void Examiner::add(Finding finding, LineId first, LineId second) {
  const auto [known, fresh] = known_.try_emplace({finding.kind, first, second}, report_.findings.size());
  if (fresh) {
    report_.findings.push_back(std::move(finding));
  } else {
    ++report_.findings[known->second].alike;
  }
}

std::string Examiner::place(std::uint32_t cluster, std::uint64_t address) const {
  std::string text = place_text(job_, cluster, address);
  for (auto b = trace_.tags.rbegin(); b != trace_.tags.rend(); ++b) {
    if (address < b->low || address >= b->high) continue;
    if (b->tag < std::size(firmware::kL1RegionNames)) text += fmt::format(" ({})", firmware::kL1RegionNames[b->tag]);
    break;
  }
  return text;
}

Party Examiner::party(LineId id, std::uint32_t step, const char* access, std::uint64_t address) const {
  const TraceLine& line = trace_.lines[id];
  Party p;
  p.cluster = line.cluster;
  p.queue = trace_.line_name(id);
  p.access = access;
  if (address != 0) p.place = place(line.cluster, address);
  if (line.processor) return p;
  const hal::Descriptor& d = trace_.descriptors[line.commands[step]];
  p.number = step + 1;
  p.operation = operation_text(d);
  p.head = d.head;
  p.row_block = d.row_block;
  return p;
}

Party Examiner::party(const Touch& t) const {
  return party(t.line, t.step, t.write ? "writes" : "reads", t.region.address);
}

Finding Examiner::about(FindingKind kind, const Touch& touch, Interval bytes, const char* detail) const {
  Finding f;
  f.kind = kind;
  f.parties.push_back(party(touch));
  f.detail = detail;
  f.low = bytes.low;
  f.high = bytes.high;
  return f;
}

void Examiner::tell(FindingKind kind, const Touch& touch, Interval bytes, const char* detail) {
  add(about(kind, touch, bytes, detail), touch.line, touch.line);
}

void Examiner::complaints() {
  for (const Complaint& c : trace_.complaints) {
    Finding f;
    f.low = c.low;
    f.high = c.high;
    f.detail = c.text;
    if (c.step < trace_.lines[c.line].steps.size()) {
      f.parties.push_back(party(c.line, c.step, "", 0));
      f.parties.back().place = c.low == 0 ? "" : place(f.parties.back().cluster, c.low);
    }
    switch (c.kind) {
      case Complaint::ComplaintKind::kRefused:
        f.kind = FindingKind::kRefused;
        break;
      case Complaint::ComplaintKind::kOutside:
        f.kind = c.text.front() == 'c' ? FindingKind::kCrossing : FindingKind::kFreed;
        break;
      case Complaint::ComplaintKind::kHeld:
        f.kind = FindingKind::kHeld;
        break;
      case Complaint::ComplaintKind::kHalted:
        f.kind = FindingKind::kUnknown;
        break;
      case Complaint::ComplaintKind::kContended:
        f.kind = FindingKind::kContended;
        f.event = trace_.event_name(c.event, trace_.lines[c.line].cluster);
        f.detail =
            fmt::format("takes tokens of {}, as {} does", event_text(c.event, trace_.lines[c.line].cluster), c.text);
        break;
    }
    add(std::move(f), c.line, c.line);
  }
}

// Describes what an unfinished line waits for; false if it only waits for its predecessor. `root`: the tokens never
// come.
bool Examiner::stuck(LineId id, Finding& f, bool& root) const {
  const TraceLine& line = trace_.lines[id];
  const std::uint32_t at = order_.taken(id);
  if (at == line.steps.size()) return false;
  const TraceStep& s = line.steps[at];
  f.kind = FindingKind::kDeadlock;
  f.parties = {party(id, at, "", 0)};
  const auto goes_on = [&](LineId giver) { return order_.taken(giver) < trace_.lines[giver].steps.size(); };
  for (std::uint32_t i = s.first_take; i < s.first_take + s.takes; ++i) {
    const Take& t = trace_.takes[i];
    if (order_.given(t.event) >= t.needed) continue;
    const TraceEvent& e = trace_.events[t.event];
    root = std::none_of(e.signallers.begin(), e.signallers.end(), goes_on);
    f.event = trace_.event_name(t.event, line.cluster);
    f.detail = fmt::format("waits for {}, which receives {} of the {} tokens taken up to then",
                           event_text(t.event, line.cluster), order_.given(t.event), t.needed);
    return true;
  }
  if (s.to == kNone || order_.level(s.to) < trace_.lines[s.to].depth) return false;
  root = false;
  f.detail = fmt::format("waits for room in the queue of {}, which holds {}", trace_.line_name(s.to),
                         trace_.lines[s.to].depth);
  return true;
}

// Reports lines whose tokens never come and that no other line blocks; in a circular wait, all of them.
void Examiner::deadlock() {
  for (const bool roots : {true, false}) {
    const std::size_t before = report_.findings.size();
    for (LineId id = 0; id < trace_.lines.size(); ++id) {
      Finding f;
      bool root = false;
      if (stuck(id, f, root) && (root || !roots)) add(std::move(f), id, id);
    }
    if (report_.findings.size() > before) return;
  }
}

void Examiner::tokens() {
  constexpr std::uint64_t kMostTokens = 0xFFFF'FFFF;  // maximum of a counter
  for (std::uint32_t e = 0; e < trace_.events.size(); ++e) {
    const TraceEvent& event = trace_.events[e];
    if (event.given == 0 && event.takers.empty()) continue;
    Finding f;
    const std::uint32_t cluster = e / trace_.machine().events.events;
    f.event = trace_.event_name(e, cluster);
    const std::string text = event_text(e, cluster);
    const LineId key = e;
    const auto tell_of = [&](FindingKind kind, LineId line, std::string detail) {
      Finding one = f;
      one.kind = kind;
      one.detail = std::move(detail);
      if (line != kNone) {
        Party p;
        p.cluster = trace_.lines[line].cluster;
        p.queue = trace_.line_name(line);
        one.parties.push_back(p);
      }
      add(std::move(one), key, kNone);
    };
    std::uint64_t taken = 0;
    for (const std::uint64_t by_one : event.taken) taken += by_one;
    // Tokens of resources that are free at the start remain at the end, as do those given last.
    std::uint64_t may_stay = event.given_by_processor;
    for (const std::uint32_t last : event.last) may_stay += last;
    if (event.given > taken + may_stay) {
      tell_of(FindingKind::kLeftOver, event.signallers.back(),
              fmt::format("{} receives {} tokens, {} of them from the processor, and {} are taken", text, event.given,
                          event.given_by_processor, taken));
    }
    if (event.given > kMostTokens) {
      tell_of(FindingKind::kOverflow, event.signallers.front(),
              fmt::format("{} receives {} tokens; its counter holds {}", text, event.given, kMostTokens));
    }
  }
}

std::uint32_t Examiner::event_between(const Touch& before, const Touch& now) const {
  const auto joins = [&](std::uint32_t event) {
    const TraceEvent& e = trace_.events[event];
    return std::find(e.takers.begin(), e.takers.end(), now.line) != e.takers.end() &&
           std::find(e.signallers.begin(), e.signallers.end(), before.line) != e.signallers.end();
  };
  const TraceStep &a = trace_.lines[before.line].steps[before.step], &b = trace_.lines[now.line].steps[now.step];
  for (std::uint32_t i = a.first_give; i < a.first_give + a.gives; ++i) {
    if (joins(trace_.gives[i].event)) return trace_.gives[i].event;
  }
  for (std::uint32_t i = b.first_take; i < b.first_take + b.takes; ++i) {
    if (joins(trace_.takes[i].event)) return trace_.takes[i].event;
  }
  for (std::uint32_t e = 0; e < trace_.events.size(); ++e) {
    if (joins(e)) return e;
  }
  return kNone;
}

std::string Examiner::event_text(std::uint32_t event, std::uint32_t seen_from) const {
  const TraceEvent& e = trace_.events[event];
  const std::string name = trace_.event_name(event, seen_from);
  if (e.signalled_by == kNone) return e.given > 0 ? name + " (processor)" : name;
  const hal::Descriptor& by = trace_.descriptors[e.signalled_by];
  const Operation operation = operation_of(by);
  if (e.awaited_by != kNone) {
    const StallReason reason = SignallingDescriptors().between(by, trace_.descriptors[e.awaited_by]);
    if (reason.kind == StallReason::kSpace) return name + " (space)";
  }
  if (operation == kLoadOperation) {
    const std::string from = place_text(job_, seen_from, by.operand[0].address);
    return fmt::format("{} ({} from DRAM)", name, from.substr(0, from.find('+')));
  }
  const Made made = made_by(operation);
  if (made.what == nullptr) return name;
  return fmt::format("{} ({} {})", name, made.what,
                     made.unit == hal::Unit::kDma ? "in DRAM" : std::string("from ") + hal::name_of(made.unit));
}

// Order within a queue. An engine may read the operands of the next command, and store its first results, before the
// last results of the previous command are written. Running maxima and sums are forwarded.
bool Examiner::ordered_in_line(const Touch& before, const Touch& now) const {
  const std::vector<TraceStep>& steps = trace_.lines[now.line].steps;
  const CopyPath first = steps[before.step].copy_path, second = steps[now.step].copy_path;
  if (!now.write) return before.running && now.running;
  if (first == CopyPath::kEngine) return !before.write || (before.running && now.running);
  if (second == CopyPath::kRetired) return true;
  return first == CopyPath::kOutOfL1;
}

bool Examiner::ordered(const Touch& before, const Touch& now) const {
  if (before.line == now.line && (before.step == now.step || ordered_in_line(before, now))) return true;
  return clocks_.after(now.line, now.step, before.line, before.step);
}

void Examiner::race(const Touch& one, const Touch& other) {
  // The access that the processor pushed first comes first.
  const TraceLine &a = trace_.lines[one.line], &b = trace_.lines[other.line];
  const bool turned = a.cluster == b.cluster && b.steps[other.step].pushed < a.steps[one.step].pushed;
  const Touch &before = turned ? other : one, &now = turned ? one : other;
  Finding f;
  f.kind = FindingKind::kRace;
  f.parties = {party(before), party(now)};
  f.low = std::max(before.region.address, now.region.address);
  f.high = std::min(before.region.end(), now.region.end());
  const std::uint32_t event = event_between(before, now), cluster = trace_.lines[now.line].cluster;
  f.detail = "the two accesses are not ordered, and no event goes from the first queue to the second";
  if (event != kNone) {
    f.event = trace_.event_name(event, cluster);
    f.detail = fmt::format("the two accesses are not ordered; {} could order them", event_text(event, cluster));
  }
  add(std::move(f), before.line, now.line);
}

void Examiner::memories() {
  const hal::Layer& l = job_.block.layer;
  std::uint64_t low = l.q;  // the host writes Q, K and V, except rows that firmware appends
  for (const ByteRange& rows : appended_) {
    shadow_.initialise({low, rows.low});
    low = rows.high;
  }
  shadow_.initialise({low, given_end_});
  const firmware::Dataflow* const dataflow = dataflow_of(job_);
  if (dataflow != nullptr && dataflow->is(firmware::kOneStep) && l.c != 0) {  // C is the input of the step
    const std::uint64_t scores = std::uint64_t{l.batch} * l.heads * l.seq_q * l.seq_kv;
    shadow_.initialise({l.c, l.c + scores * hal::element_bytes(hal::ElementType::kFp16)});
  }
  for (const auto& [line, step] : order_.begun) {
    const TraceStep& s = trace_.lines[line].steps[step];
    if (s.kind == TraceStep::StepKind::kCommand) command(line, step);
    if (s.kind == TraceStep::StepKind::kSpace) space(line, step);
  }
  if (options_.output_bytes > 0) result({{l.o, l.o + options_.output_bytes}});
  if ((job_.block.flags & hal::kStoresCache) != 0) result(appended_);
}

bool Examiner::is_appended(const Region& region) const {
  for (std::uint64_t row = 0; row < region.rows; ++row) {
    const std::uint64_t low = region.address + row * region.row_stride, high = low + region.row_bytes;
    const auto next = std::upper_bound(appended_.begin(), appended_.end(), low,
                                       [](std::uint64_t address, const ByteRange& b) { return address < b.low; });
    if (next == appended_.begin() || std::prev(next)->high < high) return false;
  }
  return true;
}

void Examiner::command(LineId line, std::uint32_t step) {
  const TraceStep& s = trace_.lines[line].steps[step];
  const hal::Layer& l = job_.block.layer;
  if (s.accesses > 0 && job_.pages.empty()) keys(line, step);
  if (s.accesses > 0) scales(line, step);
  BlankRows blank;
  for (std::uint32_t i = s.first_access; i < s.first_access + s.accesses; ++i) {
    const Access& a = trace_.accesses[i];
    const Touch now{simplified(a.region), line, step, a.write, a.running};
    const Interval whole{now.region.address, now.region.end()};
    for (const Freed& freed : freed_[trace_.lines[line].cluster]) {
      const bool later = s.pushed > freed.step;
      if (!later && share_a_byte(now.region, {freed.bytes.low, 1, freed.bytes.high - freed.bytes.low, 0})) {
        tell(FindingKind::kFreed, now, whole, "firmware gives this space back without waiting for the command");
      }
    }
    if (a.write && whole.high > l.q && whole.low < given_end_ && !is_appended(now.region)) {
      tell(FindingKind::kInput, now, whole, "what the host has left there is to be read only");
    }
    if (!a.write) look_for_blanks(a, now, blank);
    shadow_.touch(now, [&](const Touch& before) {
      const bool is_over = ordered(before, now);
      if (!is_over) race(before, now);
      return is_over;
    });
    if (a.write) blanks_.write(a.region, blank);
  }
}

// A read of unwritten memory. If it affects only some rows, the same rows of the result become uninitialised.
void Examiner::look_for_blanks(const Access& a, const Touch& now, BlankRows& rows) {
  const bool engine = trace_.lines[now.line].steps[now.step].copy_path == CopyPath::kEngine;
  const hal::Opcode opcode = trace_.descriptors[trace_.lines[now.line].commands[now.step]].opcode;
  BlankRows mine;
  blanks_.find(a.region, mine);
  const bool handed_on = mine.any();
  // A copy may include row padding, and sums may be rescaled before they exist.
  const std::uint64_t least = engine ? 1 : a.region.row_bytes;
  const Interval hole = opcode == hal::Opcode::kRescale ? Interval{} : shadow_.unwritten(now.region, least);
  const Interval left = engine && !hole.any() ? torn(a.region) : Interval{};
  for (std::uint64_t row = 0; a.by_row && hole.any() && row < a.region.rows; ++row) {
    const Region one{a.region.address + row * a.region.row_stride, 1, a.region.row_bytes, 0};
    if (shadow_.unwritten(one).any()) mine.add(a.region.rows, row, row + 1, now.line, now.step);
  }
  if (a.by_row && left.any()) {
    mine.add(a.region.rows, (left.low - a.region.address) / a.region.row_stride, a.region.rows, now.line, now.step);
  }
  if (a.by_row && !mine.all()) {
    for (std::uint64_t row = 0; row < mine.row.size(); ++row) {
      if (mine.row[row]) rows.add(a.region.rows, row, row + 1, mine.line, mine.step);
    }
  } else if (hole.any()) {
    tell(FindingKind::kUnwritten, now, hole, "nothing has written these bytes");
  } else if (left.any()) {
    tell(FindingKind::kTorn, now, left, "these rows do not belong to those before them");
  } else if (handed_on) {
    Finding f = about(FindingKind::kUnwritten, now, {now.region.address, now.region.end()},
                      "the one makes rows of what nothing has written, the other uses them");
    f.parties.insert(f.parties.begin(), party(mine.line, mine.step, "", 0));
    add(std::move(f), mine.line, now.line);
  }
}

// Freed space: all commands that use it must have completed.
void Examiner::space(LineId line, std::uint32_t step) {
  const TraceStep& s = trace_.lines[line].steps[step];
  const Interval bytes{s.low, s.high};
  freed_[trace_.lines[line].cluster].push_back({step, bytes});
  shadow_.forget(bytes, [&](const Touch& t) {
    if (clocks_.after(line, step, t.line, t.step)) return;
    tell(FindingKind::kFreed, t, {std::max(bytes.low, t.region.address), std::min(bytes.high, t.region.end())},
         "firmware gives this space back without waiting for the command");
  });
}

// The host reads the result after all processors have ended.
void Examiner::result(const std::vector<ByteRange>& parts) {
  for (const ByteRange& part : parts) {
    const Interval hole = shadow_.unwritten({part.low, 1, part.high - part.low, 0});
    if (!hole.any()) continue;
    Finding f;
    f.kind = FindingKind::kMissing;
    f.detail = fmt::format("nothing writes {}", place_text(job_, 0, hole.low));
    f.low = hole.low;
    f.high = hole.high;
    add(std::move(f), kNone, kNone);
  }
  shadow_.forget({parts.front().low, parts.back().high}, [&](const Touch& t) {
    const LineId processor = trace_.processor(trace_.lines[t.line].cluster);
    const auto end = static_cast<std::uint32_t>(trace_.lines[processor].steps.size() - 1);
    if (!t.write || clocks_.after(processor, end, t.line, t.step)) return;
    tell(FindingKind::kUnfinished, t, {t.region.address, t.region.end()}, "firmware does not wait for it");
  });
}

}  // namespace attnvp::schedule::check
