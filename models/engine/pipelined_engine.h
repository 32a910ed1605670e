// What the MAC and the VEC engine of this program share: an in-order command queue and a three-stage pipeline with
// double-buffered operands in L0.
//
//   fetch    takes a descriptor's events, checks it, loads its first sub-tile from L1 into L0
//   execute  body: all sub-tiles but the last compute while the next is loaded and the one before is stored
//            last: the last sub-tile computes; its buffer half being free now, fetch may load for the next descriptor
//   drain    stores the last sub-tile's result, then gives the descriptor's events
//
// The descriptor in the execute stage can be halted, and then done again or replaced (hal/registers.h).
//
// The L1 traffic of every stage shares the scratchpad's bandwidth with everyone else's; whichever of compute and
// traffic takes longer sets the pace. A derived engine says what a descriptor needs in each stage (plan) and what
// it computes.
//
// Each stage is a process (models/sim/process.h): fetch_stage(), execute_stage() and drain_stage().
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <boost/circular_buffer.hpp>
#include <string>

#include "models/account/account.h"
#include "models/bus/at_initiator.h"
#include "models/bus/stream.h"
#include "models/engine/command_queue.h"
#include "models/engine/descriptor_check.h"
#include "models/engine/engine.h"
#include "models/engine/event_port.h"
#include "models/engine/plan.h"
#include "models/module.h"
#include "models/place.h"
#include "models/sim/process.h"

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
  std::vector<Ledger> ledgers() const override;

  Counter descriptors{*this, "descriptors", "descriptors", "descriptors completed"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which the execute stage held a descriptor"};
  Counter gated_cycles{*this, "gated_cycles", "cycles", "idle cycles in which it was switched off (gating)"};
  Counter wakeups{*this, "wakeups", "times", "times it was switched on again", {"attnvp.gating", "wake", true}};
  Counter halts{*this, "halts", "halts", "descriptors interrupted and done again"};
  Counter stall_cycles{*this, "stall_cycles", "cycles", "busy cycles beyond what the units needed: waiting for L1"};

 protected:
  PipelinedEngine(sc_core::sc_module_name name, const Site& site, std::uint32_t queue_depth,
                  std::uint32_t pipeline_cycles);

  // Fills the plan, or says what is wrong with the descriptor.
  virtual Refusal plan(const hal::Descriptor& descriptor, Plan& plan) = 0;
  // Full-data mode: computes the values. Called when the last operand was read.
  virtual void compute_values(const hal::Descriptor& descriptor) = 0;
  virtual void count(const hal::Descriptor& descriptor) = 0;

  // Cycles of work that were left unused at edges.
  virtual std::uint64_t ragged_cycles() const { return 0; }

  // What a stage does, for a datapath with a clock of its own. What is begun ends with ended(), now or later. Here the
  // streams set the pace, and the last result is there pipeline_cycles after the last operand.
  enum Phase : std::uint8_t { kFill, kRefill, kBody, kLast, kDrain };  // refill: of a descriptor that is done again
  virtual void begin(Phase phase, const hal::Descriptor& descriptor, const Plan& plan);
  virtual void crossed(Phase phase) { ended(phase); }           // what cross() has begun is over
  virtual std::uint64_t result_cycles(const Plan& plan) const;  // from the last operand on, at least
  virtual void abandon() {}  // what the execute stage has begun, to do it again: a refill is next
  // Of the body and the last sub-tile it may be before their end, where a halt is requested.
  void ended(Phase phase);

  // Sends a stream over L1's port, one of a phase at a time. It has to be there until it has crossed.
  void cross(Phase phase, const Stream& stream);
  // Whether L1 has what a stream moves; nothing moves. If not, the engine stops.
  bool check(const Stream& stream);
  bool halt_requested() const { return halt_.requested; }
  // Of the descriptor that the fetch stage loads, or that the execute stage loads again.
  const hal::Descriptor& descriptor_of(Phase phase) const;
  const Plan& plan_of(Phase phase) const;
  // Host pointer to L1 bytes (DMI); regions were checked by L1 before.
  unsigned char* l1_bytes(std::uint64_t address);

 private:
  struct Job {
    hal::Descriptor descriptor;
    Plan plan;
    std::uint64_t number = 0;  // in the order of the queue, from 1
    Journal::Id id = Journal::kNobody;
    std::uint64_t drain_at = 0;  // cycle at which the pipeline has delivered the last result
    bool is_nop() const { return descriptor.opcode == hal::Opcode::kNop; }
  };

  // A stage's path over L1's port, and its access to L0.
  struct Path {
    explicit Path(PipelinedEngine& its_engine)
        : engine(its_engine),
          access(engine.ctx_, sim::Callback::of<&Path::crossed>(this)),
          l0_access(engine.ctx_),
          paced(engine.ctx_.event_queue, sim::Callback::of<&Path::paced_out>(this)) {}
    void crossed() { engine.crossed_by(*this); }
    void paced_out();
    PipelinedEngine& engine;
    AtInitiator access, l0_access;
    StreamTransaction transaction, l0_transaction;
    sim::Event paced;  // where nothing crosses
    sim::Completion done;
    Phase phase = kFill;
  };

  sim::Process fetch_stage();
  sim::Process execute_stage();
  sim::Process drain_stage();
  sim::Completion::Awaiter perform(Phase phase);  // from begin() to ended()
  bool make_plan(Job& job);
  bool has_registers(const Path& path);
  bool check_header_of(const Job& job);
  std::uint64_t wake_up();
  void halt();
  void count_executed();
  void count_over_time(Activity& activity);

  void control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned control_peek(tlm::tlm_generic_payload& payload);
  bool control_access(tlm::tlm_generic_payload& payload, std::uint64_t offset);
  void command(std::uint32_t value);
  std::uint32_t state_register() const;
  void show_current(const Job* job);
  Journal::Entry* entry_of(const Job& job);
  void stop_with(FaultCode code, std::uint64_t address, std::string detail);
  void stop_with(Refusal&& refusal) { stop_with(refusal.code, refusal.address, std::move(refusal.detail)); }
  const Job& job_of(Phase phase) const;
  void crossed_by(Path& path);
  void refused(const StreamTransaction& transaction);
  Path& path_of(Phase phase) { return phase == kFill ? fetch_path_ : phase == kDrain ? drain_path_ : execute_path_; }

  tlm_utils::simple_target_socket<PipelinedEngine> control_{"control"};
  StreamInitiatorSocket l1_{"l1"};
  StreamInitiatorSocket l0_{"l0"};
  EventPort events_;
  std::uint64_t control_base_;
  std::uint32_t pipeline_cycles_;
  const TechnologyConfig technology_;
  const bool gated_;              // as it says
  std::uint64_t idle_since_ = 0;  // the execute stage

  sim::Event pushed_;         // into the queue
  sim::Event load_possible_;  // the fetch stage may load
  sim::Event fetched_ready_;
  sim::Event woken_, resumed_;  // the execute stage: switched on, told to go on
  sim::Event drain_has_room_;
  sim::Event drain_due_;  // the oldest result
  CommandQueue queue_;

  // Hand-over between stages.
  static constexpr std::size_t kDrains = 8;
  static constexpr std::size_t kJobs = kDrains + 3;  // and one in fetch, one fetched, one executing
  std::array<Job, kJobs> jobs_;                      // taken in turn
  std::size_t next_job_ = 0;
  Job* fetching_ = nullptr;
  Job* fetched_ = nullptr;  // execute has something to take
  Job* executing_ = jobs_.data();
  boost::circular_buffer<Job*> draining_{kDrains};  // results under way, in order
  bool buffer_free_ = true;                         // fetch may load into the other half of L0
  std::uint32_t in_flight_ = 0;                     // fetched but not yet drained
  bool stopped_ = false;
  bool halted_ = false;  // execute has stopped and waits for a command
  bool executing_now_ = false;
  Withdrawal halt_;  // requested: execute is to stop, or has
  std::uint64_t busy_since_ = 0, run_since_ = 0;
  std::uint64_t run_bank_cycles_ = 0;  // bank_cycles_ then
  Path fetch_path_, execute_path_, drain_path_;
  tlm::tlm_dmi dmi_;

  std::uint64_t taken_ = 0;  // descriptors out of the queue
  // Of what the execute stage moved, and of that what made it stall: cycles in which L1's banks were taken.
  std::uint64_t bank_cycles_ = 0, bank_stall_cycles_ = 0;
  Account account_;

  // What the execute stage holds, then the fetch stage.
  Signal state_;
  Signal operation_;
  Signal number_{*this, "descriptor", 32};
  Signal head_{*this, "head", 16};
  Signal row_block_{*this, "row_block", 32};
  Signal front_state_;
  Signal waits_for_{*this, "waits_for_event", 12};
  Signal queue_level_{*this, "queue_level", 16};
  Signal halts_{*this, "halts", 16};

  sim::Process fetch_process_, execute_process_, drain_process_;
};

}  // namespace attnvp
