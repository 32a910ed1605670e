#include "models/engine/pipelined_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/interconnect/bus/initiator.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/operation.h"

namespace attnvp {

namespace {
enum FrontState : std::uint64_t { kFrontIdle, kFrontWait, kFrontLoad, kFrontReady, kFrontFault };
const char* const kFrontNames[] = {"idle", "wait_event", "load", "ready", "fault", nullptr};
// blocked: computation has ended, but the previous descriptor is still storing its result
enum PipelineState : std::uint64_t { kIdle, kRun, kLastTile, kHalted, kBlocked, kFault };
const char* const kPipelineStateNames[] = {"idle", "run", "last_tile", "halted", "blocked", "fault", nullptr};
}  // namespace

PipelinedEngine::PipelinedEngine(sc_core::sc_module_name name, const ModuleContext& module_context,
                                 std::uint32_t queue_depth, std::uint32_t pipeline_cycles)
    : Engine(name, module_context.context),
      events_("events", ctx_, hal::events_base(module_context.cluster), module_context.machine.events.events),
      control_base_(module_context.base),
      pipeline_cycles_(pipeline_cycles),
      technology_(module_context.machine.technology),
      gated_(technology_.gating != "none"),
      pushed_(ctx_.event_queue),
      load_possible_(ctx_.event_queue),
      fetched_ready_(ctx_.event_queue),
      woken_(ctx_.event_queue),
      resumed_(ctx_.event_queue),
      drain_has_room_(ctx_.event_queue),
      drain_due_(ctx_.event_queue),
      queue_(ctx_, queue_depth, ctx_.partition_of(module_context.cluster), pushed_),
      fetch_path_(ctx_),
      execute_path_(ctx_),
      drain_path_(ctx_),
      state_(*this, "state", kPipelineStateNames),
      front_state_(*this, "fetch_state", kFrontNames) {
  queue_.show_level_in(&queue_level_);
  events_.show_waiting_in(&waits_for_);
  events_.attribute_in(stalls_);
  halts_.sparse();
  control_.register_b_transport(this, &PipelinedEngine::control_transport);
  control_.register_transport_dbg(this, &PipelinedEngine::control_peek);
  execute_path_.transaction.withdrawal = &halt_;
  for (Path* const path : {&fetch_path_, &execute_path_, &drain_path_}) path->process = carry_streams(*path);
  fetch_process_ = fetch_stage();
  execute_process_ = execute_stage();
  drain_process_ = drain_stage();
}

void PipelinedEngine::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - control_base_;
  if (!CommandQueue::builds(payload, offset)) arrive(ctx_.event_queue, delay);
  if (!control_access(payload, offset)) queue_.access(payload, offset);
}

// Reading registers has no side effects.
unsigned PipelinedEngine::control_peek(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  const std::uint64_t offset = payload.get_address() - control_base_;
  if (!control_access(payload, offset)) queue_.access(payload, offset);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

bool PipelinedEngine::control_access(tlm::tlm_generic_payload& payload, std::uint64_t offset) {
  if (offset != hal::kEngineControl && offset != hal::kEngineState && offset != hal::kEngineCurrent) return false;
  const bool write = offset == hal::kEngineControl;
  std::uint32_t value = offset == hal::kEngineState ? state_register() : current_register();
  if (payload.get_data_length() != sizeof value || payload.is_write() != write ||
      payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return true;
  }
  if (write) {
    std::memcpy(&value, payload.get_data_ptr(), sizeof value);
    command(value);
  } else {
    std::memcpy(payload.get_data_ptr(), &value, sizeof value);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

std::uint32_t PipelinedEngine::state_register() const {
  if (halted_) return hal::kEngineHalted;
  return in_flight_ > 0 || !queue_.empty() ? hal::kEngineBusy : hal::kEngineIdle;
}

std::uint32_t PipelinedEngine::current_register() const {
  const hal::Descriptor& d = executing_->descriptor;
  return executing_now_ ? static_cast<std::uint32_t>(d.opcode) | std::uint32_t{d.flags} << 8 : 0;
}

void PipelinedEngine::command(std::uint32_t value) {
  if (value == hal::kHalt && executing_now_) halt_.request();
  if (!halted_ || (value != hal::kResume && value != hal::kReplace)) return;
  if (value == hal::kReplace) executing_->descriptor = queue_.built();
  halt_.requested = false;
  resumed_.notify_delta();
}

std::string PipelinedEngine::waiting_for() const {
  if (events_.waiting_for() >= 0) {
    const hal::Descriptor& d = queue_.front();
    return fmt::format("head {}, row block {}: waits for event {}; {} descriptors queued", d.head, d.row_block,
                       events_.waiting_for(), queue_.level());
  }
  if (!queue_.empty() || in_flight_ > 0) return fmt::format("{} descriptors queued", queue_.level());
  return {};
}

void PipelinedEngine::reset() {
  queue_.reset();
  taken_ = bank_cycles_ = bank_stall_cycles_ = 0;
  stalls_.reset(ctx_.clock.now());
  idle_since_ = ctx_.clock.now();
  halts_.set(0);
  waits_for_.set_none();
  shown_.show_none();
}

std::vector<StallCounts> PipelinedEngine::stall_counts() const {
  const std::uint64_t worked = busy_cycles.value() - stall_cycles.value();
  return {{"", busy_cycles.value(), stall_cycles.value(), bank_stall_cycles_, std::min(ragged_cycles(), worked), 0,
           stalls_.lines()}};
}

void PipelinedEngine::stop_with(Refusal refusal) {
  stopped_ = true;
  queue_.set_fault(refusal.code, refusal.address);
  front_state_.set(kFrontFault);
  state_.set(kFault);
  fault(refusal.code, refusal.address, std::move(refusal.detail));
}

void PipelinedEngine::begin(PipelinePhase phase, const hal::Descriptor& /*descriptor*/, const Plan& plan) {
  cross(phase, phase == kBody ? plan.body : phase == kLast ? plan.last : phase == kDrain ? plan.drain : plan.fill);
}

void PipelinedEngine::cross(PipelinePhase phase, const Stream& stream) {
  if (stream.regions == 0 && stream.pace_cycles == 0) return crossed(phase);
  Path& path = path_of(phase);
  path.phase = phase;
  path.stream = &stream;
  path.requested.release();
}

// Sends the streams of a stage, one at a time.
sim::Process PipelinedEngine::carry_streams(Path& path) {
  const bool executes = &path == &execute_path_;
  for (;;) {
    co_await path.requested;
    if (path.stream->regions == 0) {  // minimum duration only
      if (executes) halt_.end = &path.paced;
      co_await path.paced.at(ctx_.clock.after(path.stream->pace_cycles));
      if (executes) halt_.end = nullptr;
    } else {
      const bool is_ok = co_await path.access.transport(l1_, path.transaction.carry(*path.stream));
      if (!is_ok) co_return refused(path.transaction);
      if (executes) bank_cycles_ += path.transaction.bank_cycles;
    }
    crossed(path.phase);
  }
}

bool PipelinedEngine::check(const Stream& stream) {
  StreamTransaction transaction;
  Stream checked = stream;
  checked.pace_cycles = 0;
  for (Region& region : checked.region) region.traffic_bytes = 0;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time none = sc_core::SC_ZERO_TIME;
  l1_->nb_transport_fw(transaction.carry(checked), phase, none);  // ends immediately; no data are moved
  if (!transaction.is_response_ok()) refused(transaction);
  return transaction.is_response_ok();
}

void PipelinedEngine::refused(const StreamTransaction& answer) {
  for (int i = 0; i < answer.stream->regions; ++i) {
    const Region& r = answer.stream->region[static_cast<std::size_t>(i)];
    if (r.address != answer.fault_address) continue;
    return stop_with({answer.fault, r.address,
                      fmt::format("L1 {} of {} rows of {} bytes, {} bytes apart", r.write ? "write" : "read", r.rows,
                                  r.row_bytes, r.row_stride)});
  }
  stop_with({FaultCode::kUnmapped, answer.stream->region[0].address, "L1 access failed"});
}

void PipelinedEngine::ended(PipelinePhase phase) { path_of(phase).done.complete(); }

sim::Completion::Awaiter PipelinedEngine::perform(PipelinePhase phase) {
  sim::Completion& done = path_of(phase).done;
  done.begin();
  const EngineJob& job = job_of(phase);
  begin(phase, job.descriptor, job.plan);
  return done.end();
}

const PipelinedEngine::EngineJob& PipelinedEngine::job_of(PipelinePhase phase) const {
  return phase == kFill ? *fetching_ : phase == kDrain ? *draining_.front() : *executing_;
}
const hal::Descriptor& PipelinedEngine::descriptor_of(PipelinePhase phase) const { return job_of(phase).descriptor; }
const Plan& PipelinedEngine::plan_of(PipelinePhase phase) const { return job_of(phase).plan; }

std::uint64_t PipelinedEngine::result_cycles(const Plan& plan) const { return pipeline_cycles_ + plan.latency_cycles; }

bool PipelinedEngine::accept(Refusal refusal) {
  if (!refusal.any()) return true;
  stop_with(std::move(refusal));
  return false;
}

bool PipelinedEngine::make_plan(EngineJob& job) {
  job.plan.clear();
  return accept(plan(job.descriptor, job.plan));
}

void PipelinedEngine::stop_for_registers(const Path& path) {
  const std::uint64_t needed = path.l0_transaction.fault_address;
  stop_with({FaultCode::kL0TooSmall, needed, fmt::format("the descriptor's working set needs {} bytes of L0", needed)});
}

// Takes the events of a descriptor, checks it and loads its first sub-tile.
sim::Process PipelinedEngine::fetch_stage() {
  for (;;) {
    while (queue_.empty()) co_await pushed_;
    EngineJob& job = *(fetching_ = &jobs_[next_job_++ % kJobs]);
    job.descriptor = queue_.front();
    job.plan.clear();
    job.drain_at = 0;
    job.number = ++taken_;
    job.id = ctx_.command_trace == nullptr ? CommandTrace::kNone
                                           : ctx_.command_trace->open(name(), job.descriptor, ctx_.clock.now());
    if (!accept(events_.check(job.descriptor))) co_return;

    front_state_.set(kFrontWait);
    stalls_.waits({StallReason::kPending}, ctx_.clock.now());
    co_await events_.take(job.descriptor, job.id);
    if (CommandTrace::TracedCommand* entry = traced(job)) entry->ready = ctx_.clock.now();

    if (!job.is_nop()) {
      if (!make_plan(job)) co_return;
      const bool fits = co_await fetch_path_.l0_access.transport(l0_, fetch_path_.l0_transaction.carry(job.plan.l0));
      if (!fits) co_return stop_for_registers(fetch_path_);
    }

    stalls_.waits({StallReason::kDrain}, ctx_.clock.now());
    while (!buffer_free_ || (job.plan.after_previous && in_flight_ > 0)) co_await load_possible_;
    buffer_free_ = false;
    front_state_.set(kFrontLoad);
    stalls_.waits({StallReason::kFill}, ctx_.clock.now());
    co_await perform(kFill);

    queue_.pop();
    ++in_flight_;
    fetched_ = std::exchange(fetching_, nullptr);
    if (fetched_ready_.has_waiter()) fetched_ready_.notify_delta();
    front_state_.set(kFrontIdle);
    stalls_.waits({StallReason::kProcessor}, ctx_.clock.now());
  }
}

// Executes the body and the last sub-tile. After a halt it restarts from the fill.
sim::Process PipelinedEngine::execute_stage() {
  for (;;) {
    while (fetched_ == nullptr) co_await fetched_ready_;
    executing_ = std::exchange(fetched_, nullptr);
    executing_now_ = !executing_->is_nop();
    if (const std::uint64_t cycles = wake_up(); cycles > 0) co_await woken_.at(ctx_.clock.after(cycles));
    busy_since_ = ctx_.clock.now();
    stalls_.unit(StallAttribution::kBusy, busy_since_);
    if (CommandTrace::TracedCommand* entry = traced(*executing_)) entry->start = busy_since_;

    for (;;) {
      run_since_ = ctx_.clock.now();
      run_bank_cycles_ = bank_cycles_;
      if (executing_now_) {
        state_.set(kRun);
        shown_.show(executing_->descriptor, executing_->number);
        co_await perform(kBody);
      }
      if (!executing_now_ || !halt_.requested) {
        if (executing_now_) state_.set(kLastTile);
        buffer_free_ = true;
        if (load_possible_.has_waiter()) load_possible_.notify_delta();
        co_await perform(kLast);
        if (stopped_) co_return;
        if (!halt_.requested) break;
      }
      halted_ = true;
      halts += 1;
      halts_.set(halts.value());
      state_.set(kHalted);
      co_await resumed_;
      halted_ = false;
      if (CommandTrace::TracedCommand* entry = traced(*executing_)) entry->descriptor = executing_->descriptor;
      if (!accept(events_.check(executing_->descriptor)) || !make_plan(*executing_)) co_return;
      const bool fits =
          co_await execute_path_.l0_access.transport(l0_, execute_path_.l0_transaction.carry(executing_->plan.l0));
      if (!fits) co_return stop_for_registers(execute_path_);
      abandon();
      co_await perform(kRefill);
    }

    count_executed();
    stalls_.unit(StallAttribution::kBlocked, ctx_.clock.now());
    while (draining_.full()) co_await drain_has_room_;
    stalls_.unit(StallAttribution::kIdle, ctx_.clock.now());
    state_.set(kIdle);
    shown_.show_none();
    if (draining_.empty()) drain_due_.notify_at(ctx_.clock.begin_of(executing_->drain_at));
    draining_.push_back(executing_);
  }
}

// Stores results in order, each no earlier than the pipeline delivers it.
sim::Process PipelinedEngine::drain_stage() {
  for (;;) {
    if (draining_.empty()) {
      co_await drain_due_;
    } else if (draining_.front()->drain_at > ctx_.clock.now()) {
      co_await drain_due_.at(ctx_.clock.begin_of(draining_.front()->drain_at));
    }
    const EngineJob& job = *draining_.front();
    co_await perform(kDrain);
    co_await events_.give(job.descriptor, job.id);
    if (CommandTrace::TracedCommand* entry = traced(job)) entry->done = ctx_.clock.now();
    descriptors += 1;
    queue_.count_done();
    --in_flight_;
    draining_.pop_front();
    if (load_possible_.has_waiter()) load_possible_.notify_delta();
    if (drain_has_room_.has_waiter()) drain_has_room_.notify_delta();
  }
}

// Switches on a gated engine; returns the cycles until it is on.
std::uint64_t PipelinedEngine::wake_up() {
  const std::uint64_t off_since = idle_since_ + technology_.gate_after;
  if (!gated_ || ctx_.clock.now() <= off_since) return 0;
  gated_cycles += ctx_.clock.now() - off_since;
  if (Activity* const activity = activity_of(ctx_)) {
    activity->done(gated_cycles, static_cast<double>(ctx_.clock.now() - off_since), off_since * ctx_.clock.period_fs(),
                   ctx_.clock.now_fs());
  }
  wakeups += 1;
  return technology_.wake_cycles;
}

// Reports counts and accesses to L0 of the executing descriptor, evenly over its computing time, which is at least the
// minimum of its units.
void PipelinedEngine::count_over_time(Activity& activity) {
  const Plan& p = executing_->plan;
  const std::uint64_t now = ctx_.clock.now(), needed = p.body.pace_cycles + p.last.pace_cycles;
  const std::uint64_t period = ctx_.clock.period_fs();
  const std::uint64_t from_fs = std::min(run_since_, now - std::min(now, needed)) * period, to_fs = now * period;
  std::vector<std::uint64_t> before;
  for (const Counter* counter : counters()) before.push_back(counter->value());
  count(executing_->descriptor);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Counter& counter = *counters()[i];
    if (counter.value() == before[i]) continue;
    activity.done(counter, static_cast<double>(counter.value() - before[i]), from_fs, to_fs);
  }
  double words[2] = {};
  for (int i = 0; i < p.l0.regions; ++i) {
    const Region& region = p.l0.region[static_cast<std::size_t>(i)];
    words[region.write ? 1 : 0] += static_cast<double>(region.traffic_bytes) / 2;
  }
  activity.accessed_l0(*this, words[0], words[1], from_fs, to_fs);
}

// Counts time and work of the descriptor that has left the execute stage.
void PipelinedEngine::count_executed() {
  const Plan& p = executing_->plan;
  const std::uint64_t now = ctx_.clock.now();
  const std::uint64_t stalled = now - run_since_ - (p.body.pace_cycles + p.last.pace_cycles);
  stall_cycles += stalled;
  bank_stall_cycles_ += std::min(bank_cycles_ - run_bank_cycles_, stalled);
  idle_since_ = now;
  busy_cycles += now - busy_since_;
  if (CommandTrace::TracedCommand* entry = traced(*executing_)) entry->end = now;
  if (!std::exchange(executing_now_, false)) return;
  state_.set(kBlocked);
  if (Activity* const activity = activity_of(ctx_)) {
    count_over_time(*activity);
  } else {
    count(executing_->descriptor);
  }
  if (ctx_.full_data) compute_values(executing_->descriptor);
  executing_->drain_at = now + result_cycles(p);
}

void PipelinedEngine::Path::visit_state(sim::StateVisitor& visitor) const {
  access.visit_state(visitor);
  l0_access.visit_state(visitor);
  visitor.waits(done);
  visitor.value(phase);
  if (!done.is_done()) visitor.value(transaction.bank_cycles);
}

bool PipelinedEngine::visit_state(sim::StateVisitor& visitor) {
  visit_counters(visitor);
  queue_.visit_state(visitor, in_flight_);
  events_.visit_state(visitor);
  stalls_.visit_state(visitor);
  for (const sim::Event* event :
       {&pushed_, &load_possible_, &fetched_ready_, &woken_, &resumed_, &drain_has_room_, &drain_due_}) {
    visitor.waits(*event);
  }
  for (const Path* path : {&fetch_path_, &execute_path_, &drain_path_}) path->visit_state(visitor);
  for (const bool flag : {fetching_ != nullptr, fetched_ != nullptr, buffer_free_, stopped_, halted_, executing_now_,
                          halt_.requested, halt_.end != nullptr}) {
    visitor.value(flag);
  }
  visitor.value(draining_.size());
  for (const EngineJob* job : draining_) visitor.at(job->drain_at);
  if (gated_) visitor.at(idle_since_);
  const bool is_busy = draining_.size() + (fetched_ != nullptr ? 1 : 0) < in_flight_;
  if (is_busy) {
    visitor.at(busy_since_);
    visitor.at(run_since_);
    visitor.value(bank_cycles_ - run_bank_cycles_);
    visitor.at(std::max(executing_->drain_at, ctx_.clock.now()));
  }
  for (std::uint64_t* total : {&bank_cycles_, &run_bank_cycles_, &bank_stall_cycles_}) visitor.sum(*total);
  return true;
}

unsigned char* PipelinedEngine::l1_bytes(std::uint64_t address) {
  if (dmi_.get_dmi_ptr() == nullptr) {
    StreamTransaction transaction;
    l1_->get_direct_mem_ptr(transaction, dmi_);
  }
  return dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
}

}  // namespace attnvp
