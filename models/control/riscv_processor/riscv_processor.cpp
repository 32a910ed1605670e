#include "models/control/riscv_processor/riscv_processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "firmware/hal/registers.h"
#include "models/control/event_unit/event_unit.h"
#include "models/control/riscv/elf_file.h"
#include "models/control/riscv_processor/program.h"
#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/payload.h"
#include "models/keys/binding.h"
#include "models/registry.h"
#include "models/sim/module.h"

namespace attnvp {

namespace {

constexpr std::size_t kMostLine = 1000;  // characters per line of the console

enum HartState : std::uint64_t { kHartOff, kHartRun, kHartBus, kHartStall, kHartSleep };
const char* const kHartStateNames[] = {"off", "run", "bus", "stall", "sleep", nullptr};

const bool kRiscvRegistered =
    add_kind(Kind<Processor>("control", "riscv", "runs it as a program of a RISC-V hart (RV32IMC)", {},
                             [](const ModuleContext& module_context) {
                               return std::make_unique<RiscvProcessor>(module_context.name, module_context);
                             })
                 .with_keys<RiscvConfig>()
                 .with_settling([](MachineConfig& m) {
                   m.own<RiscvConfig>().heterogeneous_cores = !m.has_equal_cores() || !m.has_equal_clusters();
                 })
                 .with_problem([](const MachineConfig& m) { return riscv::program_problem(m.own<RiscvConfig>()); }));

// True for the doorbell of a queue in a cluster's control window.
bool is_doorbell(std::uint64_t address) {
  if (address < hal::kControlBase || address >= hal::kControlBase + 1024 * hal::kClusterStride) return false;
  const std::uint64_t offset = (address - hal::kControlBase) % hal::kClusterStride;
  const bool queue =
      (offset >= hal::kDmaOffset && offset < hal::kDmaOffset + hal::kDmaSize) || offset >= hal::kCoreOffset;
  return queue && offset % hal::kQueueStride == hal::kQueueDoorbell;
}

}  // namespace

RiscvProcessor::RiscvProcessor(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Processor(name, module_context.context),
      config_(module_context.machine.control),
      own_(module_context.machine.own<RiscvConfig>()),
      partition_(ctx_.partition_of(module_context.cluster)),
      cluster_(module_context.cluster - partition_.first_cluster),
      in_step_(module_context.machine.clusters > 1),
      hart_clock_(own_.clock_hz),
      program_(riscv::open_program(own_)),
      core_(riscv::core_config(own_, cluster_), *this),
      state_(*this, "state", kHartStateNames) {
  core_.load(*program_);
  ctx_.fault_line.push_back(&wake_);
  pc_.set_none();
  address_.set_none();
  SC_HAS_PROCESS(RiscvProcessor);
  SC_THREAD(run);
}

void RiscvProcessor::start() {
  finished_ = false;
  start_.notify();
}

void RiscvProcessor::run() {
  while (finished_) start_.wait();
  const sim::EventQueue::RunAheadGuard ahead(ctx_.event_queue);
  while (true) {
    core_.reset();
    line_.clear();
    bus_cycles_ = 0;
    watched_ = 0;
    start_fs_ = ctx_.clock.now_fs();
    running_.set(1);
    show(kHartRun);
    execute();
    running_.set(0);
    show(kHartOff);
    const riscv::Hart& hart = core_.hart();
    const riscv::Classes& of = hart.classes();
    const std::uint64_t others = of.multiplies + of.divides + of.loads + of.stores + of.branches + of.system;
    instructions += hart.retired();
    alu_instructions += hart.retired() - others;
    multiplies += of.multiplies;
    divides += of.divides;
    loads += of.loads;
    stores += of.stores;
    branches += of.branches;
    system_instructions += of.system;
    busy_cycles += platform_cycle(hart.cycle() - hart.stalled() - hart.slept()) + bus_cycles_;
    hart_cycles += hart.cycle();
    hart_stalls += hart.stalled();
    start_.wait();
  }
}

// Timestamps are those of the hart, which is `ahead` of the platform. Recording does not change a run.
void RiscvProcessor::show(std::uint64_t state, const sc_core::sc_time& ahead) {
  if (!state_.on()) return;
  const std::uint64_t at = ctx_.clock.now_fs() + ahead.value();
  state_.set_at(at, state);
  if (state == kHartBus || state == kHartOff) pc_.set_at(at, state == kHartBus ? core_.hart().pc() : Signal::kNone);
  if (state != kHartStall) address_.set_at(at, current_address_ == 0 ? Signal::kNone : current_address_);
}

// Runs until firmware has finished, cannot continue or has reached its cycle limit.
void RiscvProcessor::execute() {
  riscv::Hart& hart = core_.hart();
  const __uint128_t most = __uint128_t{ctx_.cycle_limit.cycles()} * ctx_.clock.period_fs() / hart_clock_.period_fs();
  const auto end = most > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(most);
  while (hart.cycle() < end) {
    core_.set_lines(external());
    const std::uint64_t now = hart.cycle();
    std::uint64_t limit = std::min(cycle_at(ctx_.clock.now_fs()) + own_.quantum, end);
    if (core_.clint().deadline() > now) limit = std::min(limit, core_.clint().deadline());
    // The time of an external interrupt is not known in advance.
    if (hart.csrs().interruptible() && hart.csrs().hears(riscv::kExternalInterrupt)) limit = now + 1;
    const riscv::Stop stop = hart.run(limit);
    if (core_.finished() || stop == riscv::Stop::kLost) break;
    if (stop == riscv::Stop::kWait) {
      sleep();
    } else if (stop == riscv::Stop::kLimit) {
      wait_until(hart.cycle());
    }
  }
  wait_until(hart.cycle());
  finish_cycle_ = ctx_.clock.now();
  if (core_.finished() && !core_.mistake().empty()) return fault(FaultCode::kNone, hart.pc(), core_.mistake());
  if (core_.finished() && core_.code() == 0) {
    finished_ = true;
    return;
  }
  if (!core_.finished() && hart.cycle() >= end) {
    return fault(FaultCode::kNone, hart.pc(), fmt::format("{}, {}", ctx_.cycle_limit.sentence(), core_.place()));
  }
  fault(FaultCode::kBadAccess, hart.pc(), core_.complaint());
}

void RiscvProcessor::listen(EventUnit& events) {
  events_ = &events;
  events.tell(&wake_);
}

bool RiscvProcessor::watch(std::uint32_t event) {
  if (event > events_->count()) return false;
  watched_ = event;
  return true;
}

bool RiscvProcessor::external() const {
  return ctx_.faults.any() || (watched_ > 0 && events_->tokens(watched_ - 1) > 0);
}

void RiscvProcessor::wait_until(std::uint64_t cycle) { ctx_.event_queue.wait_until(time_of(cycle)); }

void RiscvProcessor::sleep() {
  riscv::Hart& hart = core_.hart();
  wait_until(hart.cycle());
  hart.sleep_until(std::max(hart.cycle(), cycle_at(ctx_.clock.now_fs())));  // a push may have taken longer
  asleep_ = true;
  show(kHartSleep);
  core_.set_lines(external());
  while (!hart.csrs().wakes()) {
    const std::uint64_t deadline = core_.clint().deadline();
    if (hart.csrs().hears(riscv::kTimerInterrupt) && deadline != UINT64_MAX) {
      wake_.wait_until(time_of(deadline));
    } else {
      wake_.wait();
    }
    hart.sleep_until(std::max(hart.cycle(), cycle_at(ctx_.clock.now_fs())));
    core_.set_lines(external());
  }
  asleep_ = false;
  show(kHartRun);
}

bool RiscvProcessor::transfer(bool write, std::uint64_t address, void* data, std::uint32_t bytes,
                              std::uint64_t& cycle) {
  const std::uint64_t beats = (bytes + config_.bus_bytes - 1) / config_.bus_bytes;
  const std::uint64_t cycles = beats * config_.access_cycles;
  accesses += 1;
  bus_bytes += bytes;
  if (write && is_doorbell(address)) doorbells += 1;
  bus_cycles_ += cycles;
  address = partition_.place(address);
  current_address_ = address;
  const std::uint64_t now = ctx_.clock.now_fs();
  sc_core::sc_time local = sc_core::sc_time::from_value(time_of(cycle) > now ? time_of(cycle) - now : 0);
  show(kHartBus, local);
  local += ctx_.clock.cycles(cycles);
  if (in_step_ || address >= hal::kDramBase)
    arrive(ctx_.event_queue, local);  // DRAM serves accesses in order of arrival
  fill_payload(payload_, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, bytes);
  show(kHartStall, local);
  const sc_core::sc_time asked = local;
  const bool ok = request(ctx_, bus_, payload_, local);
  if (!ok || local != asked || in_step_) arrive(ctx_.event_queue, local);  // the target has taken time
  cycle = cycle_at(ctx_.clock.now_fs() + local.value());
  current_address_ = 0;
  show(kHartRun, local);
  return ok;
}

// Bus cycles of the push unit are not counted as those of the hart.
bool RiscvProcessor::push(std::uint64_t queue, void* descriptor, std::uint32_t bytes, std::uint64_t& cycle) {
  const std::uint64_t before = bus_cycles_;
  const bool ok = CorePort::push(queue, descriptor, bytes, cycle);
  bus_cycles_ = before;
  return ok;
}

void RiscvProcessor::console(char c, std::uint64_t cycle) {
  if (c != '\n') riscv::append_printable(line_, c);
  if (c != '\n' && line_.size() < kMostLine) return;
  const std::uint64_t at = time_of(cycle) / ctx_.clock.period_fs();
  fmt::print(stderr, "[cycle {}] {}: {}\n", at, name(), line_);
  line_.clear();
}

std::string RiscvProcessor::waiting_for() const {
  if (finished_) return {};
  auto& core = const_cast<riscv::ControlCore&>(core_);
  if (asleep_) return fmt::format("hart {} waits for an interrupt, {}", cluster_, core.place());
  if (current_address_ == 0) return fmt::format("hart {} runs, {}", cluster_, core.place());
  return fmt::format("firmware {}, {}", stalled_at(current_address_), core.place());
}

}  // namespace attnvp
