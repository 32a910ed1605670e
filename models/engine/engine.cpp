#include "models/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"
#include "models/trace/operation.h"

namespace attnvp {

namespace {
enum Front : std::uint64_t { kFrontIdle, kFrontWait, kFrontLoad, kFrontReady, kFrontFault };
const char* const kFrontNames[] = {"idle", "wait_event", "load", "ready", "fault", nullptr};
// blocked: done computing, but the descriptor before is still storing its result
enum State : std::uint64_t { kIdle, kRun, kLastTile, kHalted, kBlocked, kFault };
const char* const kStateNames[] = {"idle", "run", "last_tile", "halted", "blocked", "fault", nullptr};
}  // namespace

Engine::Engine(sc_core::sc_module_name name, const Site& site, std::uint32_t queue_depth, std::uint32_t pipeline_cycles)
    : Module(name, site.context),
      events("events", hal::events_base(site.cluster), site.machine.events.events),
      control_base_(site.base),
      pipeline_cycles_(pipeline_cycles),
      technology_(site.machine.technology),
      gated_(technology_.gating != "none"),
      queue_(ctx_, queue_depth, ctx_.partition_of(site.cluster)),
      state_(*this, "state", kStateNames),
      operation_(*this, "operation", kOperationNames),
      front_state_(*this, "fetch_state", kFrontNames) {
  queue_.show_level_in(&queue_level_);
  events.show_waiting_in(&waits_for_);
  events.account_in(ctx_.givers, [this](std::uint64_t event, const hal::Descriptor& descriptor) {
    if (account_.pends(ctx_.clock.now())) account_.resolve(ctx_.givers.cause(event, descriptor));
  });
  halts_.sparse();
  control.register_b_transport(this, &Engine::control_transport);
  control.register_transport_dbg(this, &Engine::control_peek);
  SC_HAS_PROCESS(Engine);
  SC_THREAD(fetch);
  SC_THREAD(execute);
  SC_THREAD(drain);
}

void Engine::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - control_base_;
  if (!CommandQueue::builds(payload, offset)) arrive(delay);
  if (!control_access(payload, offset)) queue_.access(payload, offset);
}

// Reading registers has no effects.
unsigned Engine::control_peek(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  const std::uint64_t offset = payload.get_address() - control_base_;
  if (!control_access(payload, offset)) queue_.access(payload, offset);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

bool Engine::control_access(tlm::tlm_generic_payload& payload, std::uint64_t offset) {
  if (offset != hal::kEngineControl && offset != hal::kEngineState && offset != hal::kEngineCurrent) return false;
  const bool write = offset == hal::kEngineControl;
  std::uint32_t value = 0;
  if (payload.get_data_length() != sizeof value || payload.is_write() != write ||
      payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return true;
  }
  if (write) {
    std::memcpy(&value, payload.get_data_ptr(), sizeof value);
    command(value);
  } else {
    const hal::Descriptor& d = executing_->descriptor;
    value = offset == hal::kEngineState ? state_register()
            : executing_now_            ? static_cast<std::uint32_t>(d.opcode) | std::uint32_t{d.flags} << 8
                                        : 0;
    std::memcpy(payload.get_data_ptr(), &value, sizeof value);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

std::uint32_t Engine::state_register() const {
  if (halted_) return hal::kEngineHalted;
  return in_flight_ > 0 || !queue_.empty() ? hal::kEngineBusy : hal::kEngineIdle;
}

void Engine::command(std::uint32_t value) {
  if (value == hal::kHalt && executing_now_) halt_.request();
  if (!halted_ || (value != hal::kResume && value != hal::kReplace)) return;
  if (value == hal::kReplace) executing_->descriptor = queue_.built();
  halt_.requested = false;
  resume_event_.notify();
}

std::string Engine::waiting_for() const {
  if (events.waiting_for() >= 0) {
    const hal::Descriptor& d = queue_.front();
    return fmt::format("head {}, row block {}: waits for event {}; {} descriptors queued", d.head, d.row_block,
                       events.waiting_for(), queue_.level());
  }
  if (!queue_.empty() || in_flight_ > 0) return fmt::format("{} descriptors queued", queue_.level());
  return {};
}

void Engine::reset() {
  queue_.reset();
  taken_ = bank_cycles_ = bank_stall_cycles_ = 0;
  account_.reset(ctx_.clock.now());
  idle_since_ = ctx_.clock.now();
  halts_.set(0);
  waits_for_.set_none();
  show_current(nullptr);
}

std::vector<Ledger> Engine::ledgers() const {
  const std::uint64_t worked = busy_cycles.value() - stall_cycles.value();
  return {{"", busy_cycles.value(), stall_cycles.value(), bank_stall_cycles_, std::min(ragged_cycles(), worked), 0,
           account_.lines()}};
}

// The descriptor in the execute stage, or nothing.
void Engine::show_current(const Job* job) {
  if (job == nullptr) {
    operation_.set(static_cast<std::uint64_t>(Operation::kNone));
    for (Signal* signal : {&number_, &head_, &row_block_}) signal->set_none();
    return;
  }
  const hal::Descriptor& d = job->descriptor;
  operation_.set(static_cast<std::uint64_t>(operation_of(d)));
  number_.set(job->number);
  head_.set(d.head);
  row_block_.set(d.row_block);
}

Journal::Entry* Engine::entry_of(const Job& job) {
  return job.id == Journal::kNobody ? nullptr : &ctx_.journal->of(job.id);
}

void Engine::stop_with(FaultCode code, std::uint64_t address, std::string detail) {
  stopped_ = true;
  queue_.set_fault(code, address);
  front_state_.set(kFrontFault);
  state_.set(kFault);
  fault(code, address, std::move(detail));
}

bool Engine::run_stream(StreamPayload& payload, const Stream& stream) {
  if (stream.regions == 0 && stream.pace_cycles == 0) return true;
  payload.stream() = stream;
  tlm::tlm_generic_payload& p = payload.prepare();
  if (access(l1, p)) {
    if (&payload == &execute_payload_) bank_cycles_ += payload.answer().bank_cycles;
    return true;
  }
  const StreamExtension& answer = payload.answer();
  for (int i = 0; i < stream.regions; ++i) {
    const Region& r = stream.region[static_cast<std::size_t>(i)];
    if (r.address != answer.fault_address) continue;
    stop_with(answer.fault, r.address,
              fmt::format("L1 {} of {} rows of {} bytes, {} bytes apart", r.write ? "write" : "read", r.rows,
                          r.row_bytes, r.row_stride));
    return false;
  }
  stop_with(FaultCode::kUnmapped, p.get_address(), "L1 access failed");
  return false;
}

// Everything up to "the first sub-tile is in L0". False: the engine has stopped.
bool Engine::fetch_one(Job& job) {
  job.descriptor = queue_.front();
  job.plan.clear();
  job.drain_at = 0;
  job.number = ++taken_;
  job.id = ctx_.journal == nullptr ? Journal::kNobody : ctx_.journal->open(name(), job.descriptor, ctx_.clock.now());
  if (!accept(job)) return false;
  front_state_.set(kFrontWait);
  account_.waits({Cause::kPending}, ctx_.clock.now());
  if (!events.take(job.descriptor, job.id)) {
    stopped_ = true;  // a fault elsewhere: stop quietly
    return false;
  }
  if (Journal::Entry* entry = entry_of(job)) entry->ready = ctx_.clock.now();
  if (job.descriptor.opcode != hal::Opcode::kNop && !prepare(job)) return false;
  account_.waits({Cause::kDrain}, ctx_.clock.now());
  if (job.plan.after_previous) {
    while (in_flight_ > 0) drained_event_.wait();
  }
  while (!buffer_free_) buffer_event_.wait();
  buffer_free_ = false;
  front_state_.set(kFrontLoad);
  account_.waits({Cause::kFill}, ctx_.clock.now());
  return run_fill(job.descriptor, job.plan, fetch_payload_);
}

bool Engine::run_fill(const hal::Descriptor& /*descriptor*/, const Plan& plan, StreamPayload& payload) {
  return run_stream(payload, plan.fill);
}
bool Engine::run_body(const hal::Descriptor& /*descriptor*/, const Plan& plan) { return run_execute(plan.body); }
bool Engine::run_last(const hal::Descriptor& /*descriptor*/, const Plan& plan) { return run_execute(plan.last); }
std::uint64_t Engine::result_cycles(const Plan& plan) const { return pipeline_cycles_ + plan.latency_cycles; }
void Engine::await_result(const hal::Descriptor& /*descriptor*/, std::uint64_t drain_at) {
  const std::uint64_t now = ctx_.clock.now();
  if (drain_at > now) sc_core::wait(ctx_.clock.cycles(drain_at - now));
}

// Whether its fields are where this engine looks for them, and its events exist.
bool Engine::accept(const Job& job) {
  Refusal refusal = check_header(job.descriptor);
  if (!refusal.any()) refusal = events.check(job.descriptor);
  if (refusal.any()) stop_with(refusal.code, refusal.address, std::move(refusal.detail));
  return !refusal.any();
}

// Checks the descriptor, plans it and books its registers.
bool Engine::prepare(Job& job) {
  job.plan.clear();
  Refusal refusal = plan(job.descriptor, job.plan);
  if (refusal.any()) {
    stop_with(refusal.code, refusal.address, std::move(refusal.detail));
    return false;
  }
  l0_payload_.stream() = job.plan.l0;
  if (access(l0, l0_payload_.prepare())) return true;
  stop_with(FaultCode::kL0TooSmall, l0_payload_.answer().fault_address,
            fmt::format("the descriptor's working set needs {} bytes of L0", l0_payload_.answer().fault_address));
  return false;
}

void Engine::fetch() {
  while (true) {
    Job& job = jobs_[next_job_++ % kJobs];
    front_state_.set(kFrontIdle);
    account_.waits({Cause::kProcessor}, ctx_.clock.now());
    while (queue_.empty()) queue_.pushed().wait();
    if (!fetch_one(job)) return;
    front_state_.set(kFrontReady);
    queue_.pop();
    fetched_ = &job;
    fetched_full_ = true;
    ++in_flight_;
    fetched_event_.notify();
  }
}

void Engine::execute() {
  execute_payload_.withdraw_by(&halt_);
  while (true) {
    while (!fetched_full_) fetched_event_.wait();
    executing_ = fetched_;
    fetched_full_ = false;
    const bool nop = executing_->descriptor.opcode == hal::Opcode::kNop;
    executing_now_ = !nop;
    wake_up();
    const std::uint64_t start = ctx_.clock.now();
    account_.unit(Account::kBusy, start);
    if (Journal::Entry* entry = entry_of(*executing_)) entry->start = start;
    bool again = false;
    do {
      if (!execute_one()) return;
      again = halt_.requested;
      if (again && !halted_then_again()) return;
    } while (again);
    executing_now_ = false;
    idle_since_ = ctx_.clock.now();
    busy_cycles += idle_since_ - start;
    if (Journal::Entry* entry = entry_of(*executing_)) entry->end = ctx_.clock.now();
    if (!nop) state_.set(kBlocked);
    if (!nop) {
      count(executing_->descriptor);
      if (ctx_.full_data) compute_values(executing_->descriptor);
      executing_->drain_at = ctx_.clock.now() + result_cycles(executing_->plan);
    }
    account_.unit(Account::kBlocked, ctx_.clock.now());
    while (draining_.full()) drained_event_.wait();
    account_.unit(Account::kIdle, ctx_.clock.now());
    state_.set(kIdle);
    show_current(nullptr);
    const std::uint64_t now = ctx_.clock.now();
    if (draining_.empty())
      drain_event_.notify(ctx_.clock.cycles(executing_->drain_at - std::min(executing_->drain_at, now)));
    draining_.push_back(executing_);
  }
}

// An engine that has been idle for long enough was switched off since then.
void Engine::wake_up() {
  const std::uint64_t off_since = idle_since_ + technology_.gate_after;
  if (!gated_ || ctx_.clock.now() <= off_since) return;
  gated_cycles += ctx_.clock.now() - off_since;
  wakeups += 1;
  if (technology_.wake_cycles > 0) sc_core::wait(ctx_.clock.cycles(technology_.wake_cycles));
}

// Body and last sub-tile; returns early when a halt is requested.
bool Engine::execute_one() {
  const Plan& p = executing_->plan;
  const std::uint64_t start = ctx_.clock.now(), bank_cycles = bank_cycles_;
  if (executing_->descriptor.opcode != hal::Opcode::kNop) {
    state_.set(kRun);
    show_current(executing_);
    if (!run_body(executing_->descriptor, p)) return false;
    if (halt_.requested) return true;
    state_.set(kLastTile);
  }
  buffer_free_ = true;
  buffer_event_.notify();
  if (!run_last(executing_->descriptor, p) || stopped_) return false;
  if (halt_.requested) return true;
  const std::uint64_t stalled = ctx_.clock.now() - start - (p.body.pace_cycles + p.last.pace_cycles);
  stall_cycles += stalled;
  bank_stall_cycles_ += std::min(bank_cycles_ - bank_cycles, stalled);
  return true;
}

// Waits for the command to go on, then loads the first sub-tile of the same descriptor, or of another, anew.
bool Engine::halted_then_again() {
  halts += 1;
  halts_.set(halts.value());
  halted_ = true;
  state_.set(kHalted);
  while (halt_.requested) resume_event_.wait();
  halted_ = false;
  if (Journal::Entry* entry = entry_of(*executing_)) entry->descriptor = executing_->descriptor;
  if (!accept(*executing_) || !prepare(*executing_)) return false;
  abandon();
  return run_fill(executing_->descriptor, executing_->plan, execute_payload_);
}

void Engine::drain() {
  while (true) {
    while (draining_.empty()) sc_core::wait(drain_event_);  // until the first of them is due
    const Job& job = *draining_.front();
    await_result(job.descriptor, job.drain_at);
    if (!run_stream(drain_payload_, job.plan.drain)) return;
    if (!events.give(job.descriptor, job.id)) return;
    if (Journal::Entry* entry = entry_of(job)) entry->done = ctx_.clock.now();
    descriptors += 1;
    queue_.count_done();
    --in_flight_;
    draining_.pop_front();
    drained_event_.notify();
  }
}

unsigned char* Engine::l1_bytes(std::uint64_t address) {
  if (dmi_.get_dmi_ptr() == nullptr) {
    tlm::tlm_generic_payload payload;
    fill_payload(payload, tlm::TLM_READ_COMMAND, address, nullptr, 0);
    l1->get_direct_mem_ptr(payload, dmi_);
  }
  return dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
}

}  // namespace attnvp
