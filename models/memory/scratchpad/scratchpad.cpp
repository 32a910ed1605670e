#include "models/memory/scratchpad/scratchpad.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "firmware/hal/registers.h"
#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/stream.h"
#include "models/memory/scratchpad/fair_share.h"
#include "models/registry.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {
const bool kScratchpadRegistered =
    add_kind<Memory>({"l1",
                      "scratchpad",
                      "shares the bandwidth of ports and banks fairly, without conflicts",
                      {"attnvp.l1"},
                      [](const ModuleContext& module_context) {
                        return std::make_unique<Scratchpad>(module_context.name, module_context);
                      }});

std::unique_ptr<Arbiter> fair_share(const ScratchpadConfig& l1) {
  return std::make_unique<FairShare>(l1.ports, l1.port_bytes_per_cycle,
                                     static_cast<double>(l1.banks) * l1.bank_bytes_per_cycle);
}
}  // namespace

Scratchpad::Scratchpad(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Scratchpad(name, module_context, fair_share(module_context.machine.l1)) {}

Scratchpad::Scratchpad(sc_core::sc_module_name name, const ModuleContext& module_context,
                       std::unique_ptr<Arbiter> arbiter)
    : Memory(name, module_context.context),
      config_(module_context.machine.l1),
      base_(module_context.base),
      contents_(Scratchpad::name(), base_, config_.size_bytes, ctx_.full_data),
      engines_(module_context.engines),
      port_bytes_(config_.ports),
      crossings_(*this, ctx_, config_.ports, std::move(arbiter)),
      lanes_(2 * std::size_t{module_context.initiators}) {
  control_.register_b_transport(this, &Scratchpad::control_transport);
  for (std::uint32_t i = 0; i < module_context.engines; ++i) {
    streams_.push_back(
        std::make_unique<StreamTargetSocket>(("in" + std::to_string(i)).c_str(), static_cast<StreamTarget&>(*this), i));
  }
  for (std::uint32_t i = 0; i < module_context.initiators; ++i) {
    const std::string label = "in" + std::to_string(engines_ + i);
    sockets_.push_back(std::make_unique<TargetSocket>(label.c_str(), ctx_.event_queue, static_cast<Target&>(*this), i));
  }
  for (const std::string& region : ctx_.l1_tags) {
    regions_.push_back(std::make_unique<Signal>(*this, std::string("regions.") + region + "_bytes", 40));
    regions_.back()->sparse();
  }
  for (std::uint32_t i = 0; i < config_.ports; ++i) {
    const std::string label = "port" + std::to_string(i) + ".bytes_per_cycle";
    rates_.push_back(std::make_unique<Signal>(*this, label, Signal::Real{"B/cycle"}));
    shown_rates_.push_back(0);
    exact_rates_.push_back(0);
  }
}

void Scratchpad::reset() {
  contents_.clear();
  allocated_.set(0);
  for (auto& region : regions_) region->set(0);
  allocations_.clear();
  port_bytes_.assign(config_.ports, 0);
  crossings_.reset();
}

bool Scratchpad::visit_state(sim::StateVisitor& visitor) {
  visit_counters(visitor);
  for (std::uint64_t& bytes : port_bytes_) visitor.sum(bytes);
  for (const Crossings::PortQueue& lane : lanes_) {
    visitor.value(lane.taken);
    visitor.value(lane.waiting.size());
    for (const Crossings::Crossing* crossing : lane.waiting) crossing->visit_state(visitor);
  }
  return crossings_.visit_state(visitor);
}

void Scratchpad::recount() {
  for (const std::uint64_t bytes : port_bytes_) busiest_port_bytes.follow(bytes);
}

// A decrease frees the newest allocations of the tag first; tag 0: of all tags.
void Scratchpad::show_allocation(std::uint64_t bytes, std::uint64_t tag) {
  const std::uint64_t before = allocated_.value();
  const auto signal = [this](std::uint64_t t) -> Signal& { return *regions_.at(t); };
  if (bytes > before) {
    const std::uint64_t more = bytes - before;
    allocations_.push_back({tag, more});
    signal(tag).set(signal(tag).value() + more);
  }
  std::uint64_t less = bytes < before ? before - bytes : 0;
  for (std::size_t i = allocations_.size(); less > 0 && i-- > 0;) {
    TaggedAllocation& a = allocations_[i];
    if (tag != 0 && tag != a.tag) continue;
    const std::uint64_t n = std::min(less, a.bytes);
    less -= n;
    a.bytes -= n;
    signal(a.tag).set(signal(a.tag).value() - n);
    if (a.bytes == 0) allocations_.erase(allocations_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Shows the rates since `cycle`, rounded so that sums of equal rates are equal.
void Scratchpad::shares_changed(std::uint64_t cycle) {
  const std::uint64_t time_fs = cycle * ctx_.clock.period_fs();
  active_.set_at(time_fs, crossings_.begun());
  const bool is_latest = cycle >= rates_shown_at_;
  crossings_.arbiter().port_rates(rates_now_);
  for (std::uint32_t i = 0; i < config_.ports; ++i) {
    const double exact = rates_now_[i];
    if (is_latest && exact == exact_rates_[i]) continue;
    const double rate = std::round(exact * 1024) / 1024;
    if (!is_latest || rate != shown_rates_[i]) rates_[i]->set_real_at(time_fs, rate);
    if (!is_latest) continue;
    exact_rates_[i] = exact;
    shown_rates_[i] = rate;
  }
  rates_shown_at_ = std::max(rates_shown_at_, cycle);
}

// Future crossings may be opened after their start.
std::uint64_t Scratchpad::tells_from() const {
  const std::uint64_t cycle = crossings_.first_to_come();
  return cycle == UINT64_MAX ? UINT64_MAX : cycle * ctx_.clock.period_fs();
}

void Scratchpad::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  arrive(ctx_.event_queue, delay);
  const auto allocation = L1Contents::allocation_of(payload);
  if (!allocation) return;
  const auto [bytes, tag] = *allocation;
  if (tag >= regions_.size()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  if (allocated_.on()) show_allocation(bytes, tag);
  allocated_.set(bytes);
  peak_bytes.raise_to(bytes);
  if (!contents_.reserve(bytes)) {
    fault(FaultCode::kHostMemory, base_, host_memory::refusal("what firmware allocated (l1.size)", bytes));
  }
}

FaultCode Scratchpad::check(const Region& r) const { return check_region(r, base_, config_.size_bytes); }

// Occupies the port from the arrival of the access. True: nothing is to be moved.
bool Scratchpad::enter(Crossings::Crossing& crossing, std::uint32_t port, sc_core::sc_time& delay,
                       const Response& response) {
  if (crossing.bytes == 0 && crossing.pace_cycles == 0) {
    crossings_.drop(crossing);
    return true;
  }
  crossing.port = port % config_.ports;
  crossing.start = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay);
  crossing.response = response;
  busiest_port_bytes.follow(port_bytes_[crossing.port] += crossing.bytes);
  crossings_.enter(crossing);
  return false;
}

bool Scratchpad::begin(std::uint32_t initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                       const Response& response) {
  const std::uint64_t bytes = payload.get_data_length();
  const Region run{payload.get_address(), 1, bytes, 0, bytes, payload.is_write()};
  const bool is_plain = payload.get_byte_enable_ptr() == nullptr && (payload.is_read() || payload.is_write());
  if (!is_plain || check(run) != FaultCode::kNone) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return true;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  Crossings::Crossing& crossing = crossings_.make();
  crossing.stream = nullptr;
  crossing.run.regions = 1;
  crossing.run.region[0] = run;
  crossing.data = payload.get_data_ptr();
  crossing.lane = &lanes_[2 * std::size_t{initiator} + (payload.is_write() ? 1 : 0)];
  crossing.bytes = bytes;
  crossing.pace_cycles = 0;
  return enter(crossing, engines_ + initiator, delay, response);
}

bool Scratchpad::begin(std::uint32_t engine, StreamTransaction& transaction, sc_core::sc_time& delay,
                       const Response& response) {
  const Stream& stream = *transaction.stream;
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    const FaultCode fault = check(region);
    if (fault == FaultCode::kNone) continue;
    transaction.fault = fault;
    transaction.fault_address = region.address;
    transaction.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    return true;
  }
  transaction.status = tlm::TLM_OK_RESPONSE;
  Crossings::Crossing& crossing = crossings_.make();
  crossing.stream = &transaction;
  crossing.lane = nullptr;
  crossing.bytes = stream.traffic();
  crossing.pace_cycles = stream.pace_cycles;
  return enter(crossing, engine, delay, response);
}

bool Scratchpad::watches() const { return active_.on() || activity_of(ctx_) != nullptr; }

// Bytes of a region that were moved; a part if the stream was withdrawn.
std::uint64_t Scratchpad::moved_bytes(const Region& region, double share) {
  const std::uint64_t bytes = region.traffic_bytes;
  return share < 1 ? static_cast<std::uint64_t>(share * static_cast<double>(bytes / 2)) * 2 : bytes;
}

// Reports the words of a completed crossing, at its rates over time.
void Scratchpad::tell_traffic(const Crossings::Crossing& crossing, double share, Activity& activity) {
  double words[2] = {};
  const Stream& stream = crossing.moved();
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    words[region.write ? 1 : 0] += static_cast<double>(moved_bytes(region, share)) / 2;
  }
  const double moved = static_cast<double>(crossing.bytes) * share, last = static_cast<double>(crossing.bytes) - moved;
  const std::uint64_t period = ctx_.clock.period_fs();
  std::uint64_t from = crossing.start;
  auto left = static_cast<double>(crossing.bytes);
  const auto tell = [&](std::uint64_t to, double still) {
    still = std::clamp(still, std::min(last, left), left);
    const double part = (left - still) / moved;
    for (const bool write : {false, true}) {
      if (words[write] * part > 0) {
        activity.done(write ? write_words : read_words, words[write] * part, from * period, to * period);
      }
    }
    from = to;
    left = still;
  };
  for (const Crossings::Crossing::Left& at : crossing.progress) {
    if (at.cycle > from) tell(at.cycle, at.bytes);
  }
  tell(std::max(ctx_.clock.now(), from + 1), last);
}

void Scratchpad::crossed(const Crossings::Crossing& crossing, double share) {
  Activity* const activity = activity_of(ctx_);
  if (activity != nullptr && crossing.bytes > 0 && share > 0) tell_traffic(crossing, share, *activity);
  const Stream& stream = crossing.moved();
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    (region.write ? write_words : read_words).add_bytes(moved_bytes(region, share));
  }
  if (crossing.stream != nullptr || contents_.empty()) return;
  const Region& run = crossing.run.region[0];
  unsigned char* const here = contents_.at(run.address);
  if (run.write) {
    std::memcpy(here, crossing.data, run.row_bytes);
  } else {
    std::memcpy(crossing.data, here, run.row_bytes);
  }
}

}  // namespace attnvp
