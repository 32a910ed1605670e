#include "models/control/control_processor/control_processor.h"

#include <cmath>
#include <cstring>

#include "firmware/hal/job.h"
#include "models/control/event_unit/event_unit.h"
#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/payload.h"
#include "models/keys/binding.h"
#include "models/registry.h"
#include "models/sim/module.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {
// stall: an access without response, such as to a full queue or an event without tokens
enum ProcessorState : std::uint64_t { kOff, kRun, kBus, kStall };
const char* const kProcessorStateNames[] = {"off", "run", "bus", "stall", nullptr};

const bool kNativeRegistered =
    add_kind(Kind<Processor>("control", "native", "runs the firmware compiled into the program", {},
                             [](const ModuleContext& module_context) {
                               return std::make_unique<ControlProcessor>(module_context.name, module_context);
                             })
                 .with_keys<LaunchConfig>());

std::uint64_t whole_cycles(double seconds, double hertz) {
  return static_cast<std::uint64_t>(std::llround(seconds * hertz));
}
}  // namespace

ControlProcessor::ControlProcessor(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Processor(name, module_context.context),
      config_(module_context.machine.control),
      launch_cycles_(whole_cycles(module_context.machine.own<LaunchConfig>().seconds, ctx_.clock.hertz())),
      block_cycles_(whole_cycles(module_context.machine.own<LaunchConfig>().block_seconds, ctx_.clock.hertz())),
      partition_(ctx_.partition_of(module_context.cluster)),
      cluster_(module_context.cluster - partition_.first_cluster),
      in_step_(module_context.machine.clusters > 1),
      firmware_(*module_context.firmware),
      state_(*this, "state", kProcessorStateNames) {
  address_.set_none();
  SC_HAS_PROCESS(ControlProcessor);
  SC_THREAD(run);
}

void ControlProcessor::start() {
  finished_ = false;
  start_.notify();
}

void ControlProcessor::run() {
  while (finished_) start_.wait();
  const sim::EventQueue::RunAheadGuard ahead(ctx_.event_queue);
  while (true) {
    running_.set(1);
    show(kRun);
    const std::uint64_t now = ctx_.clock.now_fs(), most = ctx_.cycle_limit.cycles(), period = ctx_.clock.period_fs();
    end_fs_ = most > (UINT64_MAX - now) / period ? UINT64_MAX : now + most * period;
    if (launch_cycles_ > 0) ctx_.event_queue.wait_until(ctx_.clock.after(launch_cycles_));
    if (ctx_.steady_state != nullptr) ctx_.steady_state->begin(end_fs_);
    firmware_(*this, cluster_);
    if (ctx_.steady_state != nullptr) ctx_.steady_state->end(*this);
    arrive(ctx_.event_queue, local_);
    running_.set(0);
    show(kOff);
    finish_cycle_ = ctx_.cycles();
    finished_ = true;
    start_.wait();
  }
}

// Timestamps are those of firmware, which runs ahead of the platform. Recording does not change a run.
void ControlProcessor::show(std::uint64_t state) {
  if (!state_.on()) return;
  const std::uint64_t at = ctx_.clock.now_fs() + local_.value();
  state_.set_at(at, state);
  if (state != kStall) address_.set_at(at, current_address_ == 0 ? Signal::kNone : current_address_);
}

std::string ControlProcessor::waiting_for() const {
  if (finished_) return {};
  return "firmware " + stalled_at(current_address_);
}

std::uint64_t ControlProcessor::dispatch_cycles(const void* data, std::size_t bytes) const {
  std::uint32_t what = 0;
  if (bytes == sizeof what) std::memcpy(&what, data, bytes);
  return what == hal::kBlock ? block_cycles_ : what == hal::kKernel ? launch_cycles_ : 0;
}

bool ControlProcessor::visit_state(sim::StateVisitor& visitor) {
  visit_counters(visitor);
  visitor.value(local_.value());
  return true;
}

bool ControlProcessor::perform(const SteadyState::FirmwareAccess& access) {
  auto [write, address, data, bytes] = access;
  const __uint128_t skipped_fs = static_cast<__uint128_t>(ctx_.skipped_cycles) * ctx_.clock.period_fs();
  const __uint128_t here_fs = skipped_fs + ctx_.clock.now_fs() + local_.value();
  if (here_fs >= UINT64_MAX) ctx_.event_queue.time_has_run_out = true;
  if (here_fs >= end_fs_) {
    if (!ctx_.faults.any()) fault(FaultCode::kNone, address, ctx_.cycle_limit.sentence());
    return false;
  }
  const std::uint64_t beats = (bytes + config_.bus_bytes - 1) / config_.bus_bytes;
  const std::uint64_t cycles = beats * config_.access_cycles;
  accesses += 1;
  busy_cycles += cycles;
  if (Activity* const activity = activity_of(ctx_)) {
    const std::uint64_t from = ctx_.clock.now_fs() + local_.value();
    activity->done(accesses, 1, from, from + ctx_.clock.cycles(cycles).value());
  }
  const bool dispatches = write && address == hal::kDispatchAddress;
  address = partition_.place(address);
  current_address_ = address;
  show(kBus);
  local_ += ctx_.clock.cycles(cycles);
  if (dispatches) local_ += ctx_.clock.cycles(dispatch_cycles(data, bytes));
  if (in_step_ || address >= hal::kDramBase)
    arrive(ctx_.event_queue, local_);  // DRAM serves accesses in order of arrival
  fill_payload(payload_, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, bytes);
  show(kStall);
  const sc_core::sc_time asked = local_;
  const bool ok = request(ctx_, bus_, payload_, local_);
  if (!ok || local_ != asked || in_step_) arrive(ctx_.event_queue, local_);  // the target has taken time
  current_address_ = 0;
  show(kRun);
  return ok;
}

}  // namespace attnvp
