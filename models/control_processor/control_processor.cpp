#include "models/control_processor/control_processor.h"

#include <fmt/format.h>

#include "models/bus/stream.h"

namespace attnvp {

namespace {
// stall: an access that does not return, to a full queue or an event without tokens
enum State : std::uint64_t { kOff, kRun, kBus, kStall };
const char* const kStateNames[] = {"off", "run", "bus", "stall", nullptr};
}  // namespace

ControlProcessor::ControlProcessor(sc_core::sc_module_name name, Context& context, const ControlConfig& config,
                                   std::uint32_t cluster, Firmware firmware)
    : Module(name, context),
      config_(config),
      cluster_(cluster),
      firmware_(std::move(firmware)),
      state_(*this, "state", kStateNames) {
  address_.set_none();
  SC_HAS_PROCESS(ControlProcessor);
  SC_THREAD(run);
  sensitive << start_;
  dont_initialize();
}

void ControlProcessor::start() {
  finished_ = false;
  start_.notify(sc_core::SC_ZERO_TIME);
}

void ControlProcessor::run() {
  while (true) {
    running_.set(1);
    state_.set(kRun);
    firmware_(*this, cluster_);
    running_.set(0);
    state_.set(kOff);
    finish_cycle_ = ctx_.clock.now();
    finished_ = true;
    sc_core::wait(start_);
  }
}

std::string ControlProcessor::waiting_for() const {
  if (finished_) return {};
  return fmt::format("firmware is stalled at the bus access to {:#x}", current_address_);
}

bool ControlProcessor::access(bool write, std::uint64_t address, void* data, std::size_t bytes) {
  const std::uint64_t beats = (bytes + config_.bus_bytes - 1) / config_.bus_bytes;
  const std::uint64_t cycles = beats * config_.access_cycles;
  accesses += 1;
  busy_cycles += cycles;
  current_address_ = address;
  state_.set(kBus);
  address_.set(address);
  sc_core::wait(ctx_.clock.cycles(cycles));
  fill_payload(payload_, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, bytes);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  state_.set(kStall);
  bus->b_transport(payload_, delay);
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  state_.set(kRun);
  address_.set_none();
  current_address_ = 0;
  return payload_.is_response_ok();
}

}  // namespace attnvp
