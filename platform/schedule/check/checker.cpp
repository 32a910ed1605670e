#include "platform/schedule/check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "firmware/hal/registers.h"
#include "platform/schedule/check/examiner.h"
#include "platform/schedule/check/recorder.h"

namespace attnvp::schedule::check {

namespace {

// L1 bytes that a schedule allocates before it computes.
std::uint64_t held_by_dry_run(const Job& job, std::uint32_t cluster) {
  struct Held final : Reader {
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
  Changing(Recorder& to, std::uint32_t cluster, const Change& change, const EventChange& of_processor)
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
  Recorder& to_;
  std::uint32_t cluster_;
  const Change& change_;
  const EventChange& of_processor_;
  std::uint64_t events_ = 0;
  std::map<std::pair<Unit, std::uint32_t>, std::uint64_t> numbers_;
};

void record(Pass& pass, const Job& job, const MachineConfig& machine, Recorder::Levels levels, const Change& change,
            const EventChange& of_processor) {
  Accesses accesses(machine);
  for (std::uint32_t c = 0; c < machine.clusters; ++c) {
    Recorder recorder(pass.trace, accesses, c, levels);
    Changing changing(recorder, c, change, of_processor);
    read_stream(job, c, change || of_processor ? static_cast<Reader&>(changing) : recorder);
    recorder.end();
    pass.asked = pass.asked || recorder.asked();
    pass.held = std::max(pass.held, recorder.held());
    if (recorder.held() <= recorder.held_at_first()) continue;
    const std::uint64_t dry = std::max(held_by_dry_run(job, c), recorder.held_at_first());
    if (recorder.held() <= dry) continue;
    pass.trace.complaints.push_back(
        {Complaint::Kind::kHeld, pass.trace.processor(c), 0xFFFF'FFFF, 0, 0,
         fmt::format("cluster {} holds {} bytes of L1 at its end; its buffers take {}", c, recorder.held(), dry)});
  }
}

}  // namespace

Report examine(const Job& job, Trace& trace, const Options& options) {
  trace.settle();
  return Examiner(job, trace, options).run();
}

Report check(const Job& job, const MachineConfig& machine, const Options& options) {
  return check_changed(job, machine, options, {});
}

Report check_changed(const Job& job, const MachineConfig& machine, const Options& options, const Change& change,
                     const EventChange& of_processor) {
  Pass fast(machine);
  record(fast, job, machine, Recorder::Levels::kFast, change, of_processor);
  Report report = examine(job, fast.trace, options);
  report.held_at_end = fast.held;
  if (!fast.asked || !report.findings.empty()) return report;
  Pass full(machine);
  record(full, job, machine, Recorder::Levels::kFull, change, of_processor);
  Report other = examine(job, full.trace, options);
  other.held_at_end = std::max(full.held, fast.held);
  return other;
}

}  // namespace attnvp::schedule::check
