// Base class of the MAC and VEC engines: an in-order command queue and a three-stage pipeline with double-buffered
// operands in L0.
//
//   fetch    takes a descriptor's events, checks it, loads its first sub-tile from L1 into L0
//   execute  body: all sub-tiles but the last compute; meanwhile the next is loaded and the previous one stored
//            last: the last sub-tile computes; fetch may use the free half of the buffer for the next descriptor
//   drain    stores the last sub-tile's result, then signals the descriptor's events
//
// The descriptor in the execute stage can be halted, then restarted or replaced (firmware/hal/registers.h).
//
// The streams of all stages share L1's bandwidth with all other initiators. The duration of a stage is the longer of
// computation and stream. A derived class gives the needs of a descriptor in each stage (plan) and its values.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <boost/circular_buffer.hpp>
#include <string>

#include "models/engine/descriptor_check.h"
#include "models/engine/engine.h"
#include "models/engine/plan.h"
#include "models/engine/ports.h"
#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/stream.h"
#include "models/sim/module.h"
#include "models/sim/process.h"
#include "models/sim/stall_attribution.h"
#include "models/slot.h"

namespace attnvp {

class Activity;

class PipelinedEngine : public Engine {
 public:
  tlm::tlm_target_socket<>& control() override { return control_; }
  bool is_approximately_timed() const override { return true; }
  StreamInitiatorSocket& l1() override { return l1_; }
  StreamInitiatorSocket& l0() override { return l0_; }
  InitiatorSocket& events() override { return events_.out; }

  std::string waiting_for() const override;
  void reset() override;
  std::vector<StallCounts> stall_counts() const override;
  bool visit_state(sim::StateVisitor& visitor) override;

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors completed"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which the execute stage held a descriptor"};
  Counter gated_cycles{*this, "gated_cycles", "cycles", "idle cycles in which it was switched off (gating)"};
  Counter wakeups{*this, "wakeups", "times", "times it was switched on again", {"attnvp.gating", "wake", true}};
  Counter halts{*this, "halts", "halts", "descriptors interrupted and done again"};
  Counter stall_cycles{*this, "stall_cycles", "cycles", "busy cycles beyond what the units needed: waiting for L1"};

 protected:
  PipelinedEngine(sc_core::sc_module_name name, const ModuleContext& module_context, std::uint32_t queue_depth,
                  std::uint32_t pipeline_cycles);

  // Fills the plan, or returns why the descriptor is refused.
  virtual Refusal plan(const hal::Descriptor& descriptor, Plan& plan) = 0;
  // Computes the values, in full-data mode. Called when the last operand has been read.
  virtual void compute_values(const hal::Descriptor& descriptor) = 0;
  virtual void count(const hal::Descriptor& descriptor) = 0;

  // Busy cycles that were lost at ragged edges.
  virtual std::uint64_t ragged_cycles() const { return 0; }

  // Work of a stage; a datapath with its own clock overrides it. begin() is followed by ended(), immediately or later.
  // By default the streams determine the duration, and the last result follows the last operand by pipeline_cycles.
  enum PipelinePhase : std::uint8_t {
    kFill,
    kRefill,
    kBody,
    kLast,
    kDrain
  };  // refill: operands of a restarted descriptor
  virtual void begin(PipelinePhase phase, const hal::Descriptor& descriptor, const Plan& plan);
  virtual void crossed(PipelinePhase phase) { ended(phase); }   // the stream of cross() has ended
  virtual std::uint64_t result_cycles(const Plan& plan) const;  // minimum, from the last operand to the last result
  virtual void abandon() {}  // discards the work of the execute stage before a restart; a refill follows
  // Ends a phase. kBody and kLast may end early if a halt was requested.
  void ended(PipelinePhase phase);

  // Sends a stream over L1's port, one per phase at a time. `stream` must stay valid until crossed().
  void cross(PipelinePhase phase, const Stream& stream);
  // Checks the stream's regions without moving data. The engine stops if L1 refuses one.
  bool check(const Stream& stream);
  bool halt_requested() const { return halt_.requested; }
  // Descriptor and plan of the stage that runs the phase; kRefill: the restarted one.
  const hal::Descriptor& descriptor_of(PipelinePhase phase) const;
  const Plan& plan_of(PipelinePhase phase) const;
  // Host pointer to L1 bytes (DMI). L1 has checked the regions before.
  unsigned char* l1_bytes(std::uint64_t address);

 private:
  struct EngineJob {
    hal::Descriptor descriptor;
    Plan plan;
    std::uint64_t number = 0;  // position in the order of the queue, from 1
    CommandTrace::Id id = CommandTrace::kNone;
    std::uint64_t drain_at = 0;  // cycle in which the pipeline delivers the last result
    bool is_nop() const { return descriptor.opcode == hal::Opcode::kNop; }
  };

  // Path of one stage over L1's port, with its access to L0.
  struct Path {
    explicit Path(Context& context) : access(context), l0_access(context), paced(context.event_queue) {}
    void visit_state(sim::StateVisitor& visitor) const;
    AtInitiator access, l0_access;
    StreamTransaction transaction, l0_transaction;
    sim::Event paced;  // ends a phase without a stream
    sim::Semaphore requested;
    const Stream* stream = nullptr;
    sim::Completion done;
    PipelinePhase phase = kFill;
    sim::Process process;
  };

  sim::Process fetch_stage();
  sim::Process execute_stage();
  sim::Process drain_stage();
  sim::Process carry_streams(Path& path);
  sim::Completion::Awaiter perform(PipelinePhase phase);  // from begin() to ended()
  bool accept(Refusal refusal);                           // false: stops the engine
  bool make_plan(EngineJob& job);
  void stop_for_registers(const Path& path);
  std::uint64_t wake_up();
  void count_executed();
  void count_over_time(Activity& activity);

  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned control_peek(tlm::tlm_generic_payload& payload);
  bool control_access(tlm::tlm_generic_payload& payload, std::uint64_t offset);
  void command(std::uint32_t value);
  std::uint32_t state_register() const;
  std::uint32_t current_register() const;
  CommandTrace::TracedCommand* traced(const EngineJob& job) { return attnvp::traced(ctx_, job.id); }
  void stop_with(Refusal refusal);
  const EngineJob& job_of(PipelinePhase phase) const;
  void refused(const StreamTransaction& transaction);
  Path& path_of(PipelinePhase phase) {
    return phase == kFill ? fetch_path_ : phase == kDrain ? drain_path_ : execute_path_;
  }

  tlm_utils::simple_target_socket<PipelinedEngine> control_{"control"};
  StreamInitiatorSocket l1_{"l1"};
  StreamInitiatorSocket l0_{"l0"};
  EventPort events_;
  std::uint64_t control_base_;
  std::uint32_t pipeline_cycles_;
  const TechnologyConfig technology_;
  const bool gated_;              // clock or power gating is configured
  std::uint64_t idle_since_ = 0;  // cycle in which the execute stage became idle

  sim::Event pushed_;         // notified by the queue
  sim::Event load_possible_;  // the fetch stage may load
  sim::Event fetched_ready_;
  sim::Event woken_, resumed_;  // execute stage: switched on; resumed after a halt
  sim::Event drain_has_room_;
  sim::Event drain_due_;  // time of the oldest result
  CommandQueue queue_;

  static constexpr std::size_t kDrains = 8;
  static constexpr std::size_t kJobs = kDrains + 3;  // plus one fetching, one fetched and one executing
  std::array<EngineJob, kJobs> jobs_;                // used in turn
  std::size_t next_job_ = 0;
  EngineJob* fetching_ = nullptr;
  EngineJob* fetched_ = nullptr;  // ready for the execute stage
  EngineJob* executing_ = jobs_.data();
  boost::circular_buffer<EngineJob*> draining_{kDrains};  // results being stored, in order
  bool buffer_free_ = true;                               // fetch may load into the other half of L0
  std::uint32_t in_flight_ = 0;                           // fetched, not yet drained
  bool stopped_ = false;
  bool halted_ = false;  // execute has halted and waits for a command
  bool executing_now_ = false;
  Withdrawal halt_;  // a requested or executed halt
  std::uint64_t busy_since_ = 0, run_since_ = 0;
  std::uint64_t run_bank_cycles_ = 0;  // bank_cycles_ at that time
  Path fetch_path_, execute_path_, drain_path_;
  tlm::tlm_dmi dmi_;

  std::uint64_t taken_ = 0;  // descriptors removed from the queue
  // Bank conflict cycles of L1 in streams of the execute stage, and the part that stalled it.
  std::uint64_t bank_cycles_ = 0, bank_stall_cycles_ = 0;
  StallAttribution stalls_;

  // Signals of the execute stage, then of the fetch stage.
  Signal state_;
  CommandSignals shown_{*this, ""};
  Signal front_state_;
  Signal waits_for_{*this, "waits_for_event", 12};
  Signal queue_level_{*this, "queue_level", 16};
  Signal halts_{*this, "halts", 16};

  sim::Process fetch_process_, execute_process_, drain_process_;
};

}  // namespace attnvp
