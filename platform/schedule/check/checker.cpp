#include "platform/schedule/check/checker.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/control/riscv/elf_file.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/check/examiner.h"
#include "platform/schedule/check/recorder.h"
#include "platform/schedule/programs.h"

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

const char* to_string(FindingKind kind) { return kKinds[static_cast<std::size_t>(kind)].first; }
const char* meaning(FindingKind kind) { return kKinds[static_cast<std::size_t>(kind)].second; }

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

namespace {

// L1 bytes that a schedule allocates before it computes.
std::uint64_t held_by_dry_run(const Job& job, std::uint32_t cluster) {
  struct HeldReader final : Reader {
    void command(const Queue&, const hal::Descriptor&) override {}
    void allocated(std::uint64_t bytes) override { held = bytes; }
    std::uint64_t held = 0;
  } reader;
  Job dry = job;
  dry.block.flags |= hal::kDryRun;
  read_stream(dry, cluster, reader);
  return reader.held;
}

struct Pass {
  explicit Pass(const MachineConfig& machine) : trace(machine) {}
  Trace trace;
  bool asked = false;
  std::uint64_t held = 0;
};

// Changes commands between firmware and a recorder.
class Changing final : public Reader {
 public:
  Changing(TraceRecorder& to, std::uint32_t cluster, const CommandMutation& change, const TokenMutation& of_processor)
      : to_(to), cluster_(cluster), change_(change), of_processor_(of_processor) {}
  void command(const Queue& queue, const hal::Descriptor& d) override {
    hal::Descriptor changed = d;
    if (change_) change_(cluster_, queue, ++numbers_[{queue.unit, queue.index}], changed);
    to_.command(queue, changed);
  }
  void replace(const Queue& queue, const hal::Descriptor& d) override { to_.replace(queue, d); }
  void give(std::uint32_t event, std::uint32_t tokens) override {
    if (of_processor_) of_processor_(cluster_, ++events_, false, event, tokens);
    to_.give(event, tokens);
  }
  void take(std::uint32_t event, std::uint32_t tokens) override {
    if (of_processor_) of_processor_(cluster_, ++events_, true, event, tokens);
    to_.take(event, tokens);
  }
  void tagged(std::uint32_t tag) override { to_.tagged(tag); }
  void allocated(std::uint64_t bytes) override { to_.allocated(bytes); }
  std::uint32_t level(const Queue& queue) override { return to_.level(queue); }

 private:
  TraceRecorder& to_;
  std::uint32_t cluster_;
  const CommandMutation& change_;
  const TokenMutation& of_processor_;
  std::uint64_t events_ = 0;
  std::map<std::pair<Unit, std::uint32_t>, std::uint64_t> numbers_;
};

void record(Pass& pass, const Job& job, const MachineConfig& machine, TraceRecorder::Levels levels,
            const CommandMutation& change, const TokenMutation& of_processor) {
  Accesses accesses(machine);
  for (std::uint32_t c = 0; c < machine.clusters; ++c) {
    TraceRecorder recorder(pass.trace, accesses, c, levels);
    Changing changing(recorder, c, change, of_processor);
    read_stream(job, c, change || of_processor ? static_cast<Reader&>(changing) : recorder);
    recorder.end();
    pass.asked = pass.asked || recorder.asked();
    pass.held = std::max(pass.held, recorder.held());
    if (recorder.held() <= recorder.held_at_first()) continue;
    const std::uint64_t dry = std::max(held_by_dry_run(job, c), recorder.held_at_first());
    if (recorder.held() <= dry) continue;
    pass.trace.complaints.push_back(
        {Complaint::ComplaintKind::kHeld, pass.trace.processor(c), 0xFFFF'FFFF, 0, 0,
         fmt::format("cluster {} holds {} bytes of L1 at its end; its buffers take {}", c, recorder.held(), dry)});
  }
}

}  // namespace

Report examine(const Job& job, Trace& trace, const CheckOptions& options) {
  trace.settle();
  return Examiner(job, trace, options).run();
}

Report check(const Job& job, const MachineConfig& machine, const CheckOptions& options) {
  return check_changed(job, machine, options, {});
}

Report check_changed(const Job& job, const MachineConfig& machine, const CheckOptions& options,
                     const CommandMutation& change, const TokenMutation& of_processor) {
  Pass fast(machine);
  record(fast, job, machine, TraceRecorder::Levels::kFast, change, of_processor);
  Report report = examine(job, fast.trace, options);
  report.held_at_end = fast.held;
  if (!fast.asked || !report.findings.empty()) return report;
  Pass full(machine);
  record(full, job, machine, TraceRecorder::Levels::kFull, change, of_processor);
  Report other = examine(job, full.trace, options);
  other.held_at_end = std::max(full.held, fast.held);
  return other;
}

namespace {

using Address = std::uintptr_t;
using Stack = std::vector<std::string>;  // source lines, innermost first

std::vector<Address> call_stack() {
  std::vector<Address> stack;
  const auto note = [](_Unwind_Context* context, void* to) {
    int before_call = 0;
    const Address at = _Unwind_GetIPInfo(context, &before_call);
    static_cast<std::vector<Address>*>(to)->push_back(before_call != 0 ? at : at - 1);
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(note, &stack);
  return stack;
}

// Debug information of this process, if any.
class OwnLines {
 public:
  OwnLines() : session_(dwfl_begin(&kCallbacks)) {
    if (session_ == nullptr) return;
    dwfl_report_begin(session_);
    if (dwfl_linux_proc_report(session_, getpid()) != 0) return;
    dwfl_report_end(session_, nullptr, nullptr);
  }
  ~OwnLines() { dwfl_end(session_); }
  OwnLines(const OwnLines&) = delete;
  OwnLines& operator=(const OwnLines&) = delete;

  Stack now() {
    Stack all;
    for (const Address at : call_stack()) {
      const auto known = known_.find(at);
      const Stack& lines = known != known_.end() ? known->second : known_[at] = lines_at(at);
      all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
  }

 private:
  Stack lines_at(Address at) const {
    Dwarf_Addr bias = 0;
    Dwfl_Module* module = session_ == nullptr ? nullptr : dwfl_addrmodule(session_, at);
    Dwarf_Die* unit = module == nullptr ? nullptr : dwfl_module_addrdie(module, at, &bias);
    return unit == nullptr ? Stack{} : riscv::source_lines(unit, at - bias);
  }

  static const Dwfl_Callbacks kCallbacks;
  Dwfl* session_;
  std::map<Address, Stack> known_;
};
const Dwfl_Callbacks OwnLines::kCallbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

// Path from the firmware's folder on; external dataflows are shown by file name.
std::string line_text(const std::string& line, std::size_t firmware) {
  return line.substr(firmware == std::string::npos ? line.rfind('/') + 1 : firmware);
}

// Innermost line of a dataflow, and the shared step between it and the push. In an ELF program all code around the
// shared steps belongs to the dataflow; in this process only code in the dataflows' folder does.
std::pair<std::string, std::string> dataflow_line(const Stack& stack, bool program) {
  std::string shared;
  bool within = false;  // inside shared code
  for (const std::string& line : stack) {
    const std::size_t firmware = line.rfind("firmware/");
    const auto in = [&](std::string_view folder) {
      return firmware != std::string::npos && line.compare(firmware, folder.size(), folder) == 0;
    };
    if (in("firmware/runtime/") || in("firmware/hal/") || in("firmware/riscv/")) {
      within = true;
      const bool step = in("firmware/runtime/") && !in("firmware/runtime/runtime.");
      if (step && shared.empty()) shared = line_text(line, firmware);
    } else if (in("firmware/dataflows/") || (program && within)) {
      return {line_text(line, firmware), shared};
    }
  }
  return {};
}

}  // namespace

void name_sources(Report& report, const Job& job, const MachineConfig& machine) {
  using CommandId = std::tuple<std::uint32_t, std::string, std::uint64_t>;
  std::map<CommandId, std::vector<Party*>> wanted;
  for (Finding& f : report.findings) {
    for (Party& p : f.parties) {
      if (p.number > 0) wanted[{p.cluster, p.queue, p.number}].push_back(&p);
    }
  }
  if (wanted.empty()) return;
  const ProgramCalls program(job, machine);
  std::optional<OwnLines> own;
  if (!program.any()) own.emplace();
  check_changed(program.job(), machine, {},
                [&](std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& d) {
                  const auto parties = wanted.find({cluster, name_of(queue), number});
                  if (parties == wanted.end()) return;
                  const std::string operation = operation_text(d);
                  const auto [line, shared] = dataflow_line(own ? own->now() : program.lines(), !own);
                  for (Party* p : parties->second) {
                    if (p->operation != operation) continue;
                    p->source = line;
                    p->step = shared;
                  }
                });
}

}  // namespace attnvp::schedule::check
