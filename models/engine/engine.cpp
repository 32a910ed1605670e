#include "models/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"
#include "models/trace/activity.h"
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
      events("events", ctx_, hal::events_base(site.cluster), site.machine.events.events, Call::of<&Engine::taken>(this),
             Call::of<&Engine::given>(this)),
      control_base_(site.base),
      pipeline_cycles_(pipeline_cycles),
      technology_(site.machine.technology),
      gated_(technology_.gating != "none"),
      queue_(ctx_, queue_depth, ctx_.partition_of(site.cluster), fetch_),
      fetch_(ctx_.agenda, Call::of<&Engine::fetch>(this)),
      load_(ctx_.agenda, Call::of<&Engine::load>(this)),
      execute_(ctx_.agenda, Call::of<&Engine::execute>(this)),
      start_(ctx_.agenda, Call::of<&Engine::start>(this)),
      resume_(ctx_.agenda, Call::of<&Engine::resume>(this)),
      hand_over_(ctx_.agenda, Call::of<&Engine::hand_over>(this)),
      drain_(ctx_.agenda, Call::of<&Engine::drain>(this)),
      fetch_way_(*this, Call::of<&Engine::fetch_booked>(this)),
      execute_way_(*this, Call::of<&Engine::execute_booked>(this)),
      drain_way_(*this, {}),
      state_(*this, "state", kStateNames),
      operation_(*this, "operation", kOperationNames),
      front_state_(*this, "fetch_state", kFrontNames) {
  queue_.show_level_in(&queue_level_);
  events.show_waiting_in(&waits_for_);
  events.account_in([this](std::uint64_t event, const hal::Descriptor& descriptor) {
    if (account_.pends(ctx_.clock.now())) account_.resolve(ctx_.givers.cause(event, descriptor));
  });
  halts_.sparse();
  control.register_b_transport(this, &Engine::control_transport);
  control.register_transport_dbg(this, &Engine::control_peek);
  execute_way_.payload.withdraw_by(&halt_);
}

void Engine::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - control_base_;
  if (!CommandQueue::builds(payload, offset)) arrive(ctx_.agenda, delay);
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
  resume_.soon();
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

void Engine::begin(Phase phase, const hal::Descriptor& /*descriptor*/, const Plan& plan) {
  switch (phase) {
    case kFill:
    case kRefill:
      return cross(phase, plan.fill);
    case kBody:
      return cross(phase, plan.body);
    case kLast:
      return cross(phase, plan.last);
    case kDrain:
      return cross(phase, plan.drain);
  }
}

void Engine::cross(Phase phase, const Stream& stream) {
  if (stream.regions == 0 && stream.pace_cycles == 0) return crossed(phase);
  Way& way = way_of(phase);
  way.phase = phase;
  if (stream.regions == 0) {  // the units alone
    if (&way == &execute_way_) halt_.end = &way.paced;
    return way.paced.at(ctx_.clock.after(stream.pace_cycles));
  }
  if (way.access.begin(l1, way.payload.carry(stream))) crossed_by(way);
}

void Engine::Way::paced_out() {
  engine.halt_.end = nullptr;
  engine.crossed(phase);
}

void Engine::crossed_by(Way& way) {
  if (!way.access.ok()) return refused(way.payload);
  if (&way == &execute_way_) bank_cycles_ += way.payload.answer().bank_cycles;
  crossed(way.phase);
}

bool Engine::check(const Stream& stream) {
  StreamPayload payload;
  Stream checked = stream;
  checked.pace_cycles = 0;
  for (Region& region : checked.region) region.traffic_bytes = 0;
  sc_core::sc_time none = sc_core::SC_ZERO_TIME;
  l1->b_transport(payload.carry(checked), none);
  if (payload.refused()) refused(payload);
  return !payload.refused();
}

void Engine::refused(const StreamPayload& payload) {
  const StreamExtension& answer = payload.answer();
  for (int i = 0; i < answer.stream->regions; ++i) {
    const Region& r = answer.stream->region[static_cast<std::size_t>(i)];
    if (r.address != answer.fault_address) continue;
    return stop_with(answer.fault, r.address,
                     fmt::format("L1 {} of {} rows of {} bytes, {} bytes apart", r.write ? "write" : "read", r.rows,
                                 r.row_bytes, r.row_stride));
  }
  stop_with(FaultCode::kUnmapped, answer.stream->region[0].address, "L1 access failed");
}

void Engine::ended(Phase phase) {
  switch (phase) {
    case kFill:
      return loaded();
    case kRefill:
      return run();
    case kBody:
      return halt_.requested ? halt() : run_last();
    case kLast:
      return stopped_ ? void() : halt_.requested ? halt() : executed();
    case kDrain:
      return drained();
  }
}

const Engine::Job& Engine::job_of(Phase phase) const {
  return phase == kFill ? *fetching_ : phase == kDrain ? *draining_.front() : *executing_;
}
const hal::Descriptor& Engine::descriptor_of(Phase phase) const { return job_of(phase).descriptor; }
const Plan& Engine::plan_of(Phase phase) const { return job_of(phase).plan; }

std::uint64_t Engine::result_cycles(const Plan& plan) const { return pipeline_cycles_ + plan.latency_cycles; }

// Whether its fields are where this engine looks for them, and its events exist.
bool Engine::accept(const Job& job) {
  Refusal refusal = check_header(job.descriptor);
  if (!refusal.any()) refusal = events.check(job.descriptor);
  if (refusal.any()) stop_with(refusal.code, refusal.address, std::move(refusal.detail));
  return !refusal.any();
}

// Checks the descriptor, plans it and books its registers. Whether that is done; if not, it will be, or it is refused.
bool Engine::book(Job& job, Way& way) {
  job.plan.clear();
  Refusal refusal = plan(job.descriptor, job.plan);
  if (refusal.any()) {
    stop_with(refusal.code, refusal.address, std::move(refusal.detail));
    return false;
  }
  return way.l0_access.begin(l0, way.l0_payload.carry(job.plan.l0)) && has_booked(way);
}

bool Engine::has_booked(Way& way) {
  if (way.l0_access.ok()) return true;
  const std::uint64_t needed = way.l0_payload.answer().fault_address;
  stop_with(FaultCode::kL0TooSmall, needed, fmt::format("the descriptor's working set needs {} bytes of L0", needed));
  return false;
}

void Engine::fetch() {
  if (fetching_ != nullptr || queue_.empty()) return;
  Job& job = jobs_[next_job_++ % kJobs];
  fetching_ = &job;
  job.descriptor = queue_.front();
  job.plan.clear();
  job.drain_at = 0;
  job.number = ++taken_;
  job.id = ctx_.journal == nullptr ? Journal::kNobody : ctx_.journal->open(name(), job.descriptor, ctx_.clock.now());
  if (!accept(job)) return;
  front_state_.set(kFrontWait);
  account_.waits({Cause::kPending}, ctx_.clock.now());
  if (events.take(job.descriptor, job.id)) taken();
}

void Engine::taken() {
  Job& job = *fetching_;
  if (Journal::Entry* entry = entry_of(job)) entry->ready = ctx_.clock.now();
  if (job.descriptor.opcode == hal::Opcode::kNop || book(job, fetch_way_)) booked();
}

void Engine::booked() {
  account_.waits({Cause::kDrain}, ctx_.clock.now());
  loads_ = true;
  load();
}

void Engine::load() {
  if (!loads_ || !buffer_free_ || (fetching_->plan.after_previous && in_flight_ > 0)) return;
  loads_ = false;
  buffer_free_ = false;
  front_state_.set(kFrontLoad);
  account_.waits({Cause::kFill}, ctx_.clock.now());
  begin(kFill, fetching_->descriptor, fetching_->plan);
}

void Engine::loaded() {
  queue_.pop();
  fetched_ = std::exchange(fetching_, nullptr);
  ++in_flight_;
  execute_.soon();
  front_state_.set(kFrontIdle);
  account_.waits({Cause::kProcessor}, ctx_.clock.now());
  fetch();
}

void Engine::execute() {
  if (busy_ || fetched_ == nullptr) return;
  busy_ = true;
  executing_ = std::exchange(fetched_, nullptr);
  executing_now_ = executing_->descriptor.opcode != hal::Opcode::kNop;
  const std::uint64_t cycles = wake_up();
  if (cycles > 0) return start_.at(ctx_.clock.after(cycles));
  start();
}

// An engine that has been idle for long enough was switched off since then. Cycles until it is on.
std::uint64_t Engine::wake_up() {
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

void Engine::start() {
  busy_since_ = ctx_.clock.now();
  account_.unit(Account::kBusy, busy_since_);
  if (Journal::Entry* entry = entry_of(*executing_)) entry->start = busy_since_;
  run();
}

void Engine::run() {
  run_since_ = ctx_.clock.now();
  run_bank_cycles_ = bank_cycles_;
  if (!executing_now_) return run_last();
  state_.set(kRun);
  show_current(executing_);
  begin(kBody, executing_->descriptor, executing_->plan);
}

void Engine::run_last() {
  if (executing_now_) state_.set(kLastTile);
  buffer_free_ = true;
  if (loads_) load_.soon();
  begin(kLast, executing_->descriptor, executing_->plan);
}

// Waits for the command to go on.
void Engine::halt() {
  halts += 1;
  halts_.set(halts.value());
  halted_ = true;
  state_.set(kHalted);
}

// Loads the first sub-tile of the same descriptor, or of another, anew.
void Engine::resume() {
  halted_ = false;
  if (Journal::Entry* entry = entry_of(*executing_)) entry->descriptor = executing_->descriptor;
  if (accept(*executing_) && book(*executing_, execute_way_)) refill();
}

void Engine::refill() {
  abandon();
  begin(kRefill, executing_->descriptor, executing_->plan);
}

// The executing descriptor's counts and accesses to L0, evenly over the cycles in which it computed: no fewer than its
// units need.
void Engine::count_over_time(Activity& activity) {
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

void Engine::executed() {
  const Plan& p = executing_->plan;
  const std::uint64_t now = ctx_.clock.now();
  const std::uint64_t stalled = now - run_since_ - (p.body.pace_cycles + p.last.pace_cycles);
  stall_cycles += stalled;
  bank_stall_cycles_ += std::min(bank_cycles_ - run_bank_cycles_, stalled);
  idle_since_ = now;
  busy_cycles += now - busy_since_;
  if (Journal::Entry* entry = entry_of(*executing_)) entry->end = now;
  if (std::exchange(executing_now_, false)) {
    state_.set(kBlocked);
    if (Activity* const activity = activity_of(ctx_)) {
      count_over_time(*activity);
    } else {
      count(executing_->descriptor);
    }
    if (ctx_.full_data) compute_values(executing_->descriptor);
    executing_->drain_at = now + result_cycles(p);
  }
  account_.unit(Account::kBlocked, now);
  blocked_ = true;
  hand_over();
}

void Engine::hand_over() {
  if (!blocked_ || draining_.full()) return;
  blocked_ = false;
  account_.unit(Account::kIdle, ctx_.clock.now());
  state_.set(kIdle);
  show_current(nullptr);
  if (draining_.empty()) drain_.at(ctx_.clock.begin_of(executing_->drain_at));
  draining_.push_back(executing_);
  busy_ = false;
  execute();
}

void Engine::drain() { begin(kDrain, draining_.front()->descriptor, draining_.front()->plan); }

void Engine::drained() {
  const Job& job = *draining_.front();
  if (events.give(job.descriptor, job.id)) given();
}

void Engine::given() {
  if (Journal::Entry* entry = entry_of(*draining_.front())) entry->done = ctx_.clock.now();
  descriptors += 1;
  queue_.count_done();
  --in_flight_;
  draining_.pop_front();
  if (loads_) load_.soon();
  if (blocked_) hand_over_.soon();
  if (draining_.empty()) return;
  const std::uint64_t due = draining_.front()->drain_at;
  if (due > ctx_.clock.now()) return drain_.at(ctx_.clock.begin_of(due));
  drain();
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
