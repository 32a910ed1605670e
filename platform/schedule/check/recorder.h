// Recorder of one cluster's command stream into a trace, in program order, with the memory accesses of each command.
#pragma once

#include <memory>
#include <vector>

#include "models/engine/dma_controller/transfer.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/vec_plan.h"
#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

// Memory accesses of a command by its engine's own planner, or the reason why the engine refuses it.
class Accesses {
 public:
  explicit Accesses(const MachineConfig& machine);
  // Accesses of a cluster's next command in a queue; call in queue order, as tiles stay in an array between commands.
  Refusal of(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& command, TraceStep& step,
             std::vector<Access>& accesses);

 private:
  Refusal of_copy(std::uint32_t cluster, const hal::Descriptor& command, TraceStep& step,
                  std::vector<Access>& accesses) const;
  Refusal of_engine(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& command, TraceStep& step,
                    std::vector<Access>& accesses);
  Refusal check_events(const hal::Descriptor& command) const;

  struct ClusterUnits {
    std::uint64_t l1_bytes;
    std::vector<MacPlanner> mac;  // one for each core
    std::vector<VecPlanner> vec;  // one for each core, or one if cores are equal
  };

  const MachineConfig& machine_;
  AddressMap memories_;
  std::vector<ClusterUnits> clusters_;
};

class TraceRecorder final : public Reader {
 public:
  // Queue levels reported to firmware: those of engines without latency, or always full. Not used when a simulation is
  // recorded.
  enum class Levels : std::uint8_t { kFast, kFull };
  TraceRecorder(Trace& trace, Accesses& accesses, std::uint32_t cluster, Levels levels);

  void command(const Queue& queue, const hal::Descriptor& descriptor) override;
  void replace(const Queue& queue, const hal::Descriptor& descriptor) override;
  void give(std::uint32_t event, std::uint32_t tokens) override;
  void take(std::uint32_t event, std::uint32_t tokens) override;
  void tagged(std::uint32_t tag) override { tag_ = tag; }
  void allocated(std::uint64_t bytes) override;
  std::uint32_t level(const Queue& queue) override;

  void end();                            // end of the firmware's program
  bool asked() const { return asked_; }  // firmware has read a queue level
  std::uint64_t held() const { return held_; }
  std::uint64_t held_at_first() const { return held_at_first_; }  // at the first command

 private:
  bool has(std::uint32_t event);  // otherwise reports a complaint
  TraceStep processor_step(TraceStep::StepKind kind) const;
  void add_processor_step(const TraceStep& step);
  void add_events(LineId line, const hal::Descriptor& descriptor, TraceStep& step);
  void check_space(LineId line, const TraceStep& step);
  void complain(Complaint::ComplaintKind kind, LineId line, std::uint64_t low, std::uint64_t high, std::string text);

  Trace& trace_;
  Accesses& accesses_;
  std::uint32_t cluster_;
  Levels levels_;
  std::unique_ptr<Progress> progress_;  // created when firmware reads a level
  std::uint32_t tag_ = 0;
  std::uint64_t held_ = 0, held_at_first_ = 0;
  bool stacked_ = true;  // space is freed in reverse order of allocation
  bool first_ = true;
  bool asked_ = false;
};

}  // namespace attnvp::schedule::check
