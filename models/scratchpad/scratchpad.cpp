#include "models/scratchpad/scratchpad.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"
#include "models/bus/region_check.h"
#include "models/registry.h"
#include "models/scratchpad/fair_share.h"

namespace attnvp {

namespace {
const bool kRegistered =
    add_kind<Memory>({"l1",
                      "scratchpad",
                      "shares the bandwidth of ports and banks fairly, without conflicts",
                      {"attnvp.l1"},
                      [](const Site& site) { return std::make_unique<Scratchpad>(site.name, site); }});

std::unique_ptr<Arbiter> fair_share(const ScratchpadConfig& l1) {
  return std::make_unique<FairShare>(l1.ports, l1.port_bytes_per_cycle,
                                     static_cast<double>(l1.banks) * l1.bank_bytes_per_cycle);
}
}  // namespace

Scratchpad::Scratchpad(sc_core::sc_module_name name, const Site& site)
    : Scratchpad(name, site, fair_share(site.machine.l1)) {}

Scratchpad::Scratchpad(sc_core::sc_module_name name, const Site& site, std::unique_ptr<Arbiter> arbiter)
    : Memory(name, site.context),
      config_(site.machine.l1),
      base_(site.base),
      memory_(ctx_.full_data ? config_.size_bytes : 0),
      host_(std::string(Scratchpad::name())),
      port_bytes_(config_.ports),
      share_(std::move(arbiter)),
      lanes_(2 * std::size_t{site.initiators}) {
  control_.register_b_transport(this, &Scratchpad::control_transport);
  for (std::uint32_t i = 0; i < site.initiators; ++i) {
    auto socket =
        std::make_unique<tlm_utils::simple_target_socket_tagged<Scratchpad>>(("in" + std::to_string(i)).c_str());
    socket->register_b_transport(this, &Scratchpad::b_transport, static_cast<int>(i));
    socket->register_get_direct_mem_ptr(this, &Scratchpad::get_direct_mem_ptr, static_cast<int>(i));
    socket->register_transport_dbg(this, &Scratchpad::transport_dbg, static_cast<int>(i));
    sockets_.push_back(std::move(socket));
  }
  for (const std::string& region : ctx_.l1_tags) {
    regions_.push_back(std::make_unique<Signal>(*this, std::string("regions.") + region + "_bytes", 40));
    regions_.back()->sparse();
  }
  for (std::uint32_t i = 0; i < config_.ports; ++i) {
    const std::string label = "port" + std::to_string(i) + ".bytes_per_cycle";
    rates_.push_back(std::make_unique<Signal>(*this, label, Signal::Real{"B/cycle"}));
  }
}

void Scratchpad::reset() {
  memory_.clear();
  allocated_.set(0);
  for (auto& region : regions_) region->set(0);
  allocations_.clear();
  port_bytes_.assign(config_.ports, 0);
  begun_ = 0;
  share_->reset();
}

// The difference to what was held before belongs to the region; what shrinks without one is given back newest first.
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
    Allocation& a = allocations_[i];
    if (tag != 0 && tag != a.tag) continue;
    const std::uint64_t n = std::min(less, a.bytes);
    less -= n;
    a.bytes -= n;
    signal(a.tag).set(signal(a.tag).value() - n);
    if (a.bytes == 0) allocations_.erase(allocations_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Since that cycle. Rounded so that sums of equal rates are equal.
void Scratchpad::show(std::uint64_t cycle) {
  const std::uint64_t time_fs = cycle * ctx_.clock.period_fs();
  active_.set_at(time_fs, begun_);
  for (std::uint32_t i = 0; i < config_.ports; ++i) {
    rates_[i]->set_real_at(time_fs, std::round(share_->port_rate(i) * 1024) / 1024);
  }
}

// What is to come may be begun later than its time.
std::uint64_t Scratchpad::tells_from() const {
  return to_come_.empty() ? UINT64_MAX : to_come_.front()->start * ctx_.clock.period_fs();
}

void Scratchpad::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  arrive(ctx_.agenda, delay);
  if (!payload.is_write() || payload.get_data_length() != 8 || payload.get_address() % hal::kL1ControlSize != 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), sizeof value);
  const std::uint64_t bytes = value & hal::kL1AllocatedBytes;
  const std::uint64_t tag = value >> hal::kL1TagShift;
  if (tag >= regions_.size()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  if (allocated_.on()) show_allocation(bytes, tag);
  allocated_.set(bytes);
  peak_bytes.raise_to(bytes);
  if (!memory_.empty() && !host_.raise_to(bytes)) {  // what is allocated is going to be touched
    fault(FaultCode::kHostMemory, base_, host_memory::refusal("what firmware allocated (l1.size)", bytes));
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

FaultCode Scratchpad::check(const Region& r) const { return check_region(r, base_, config_.size_bytes); }

Scratchpad::Crossing& Scratchpad::new_crossing() {
  if (free_.empty()) free_.push_back(&all_.emplace_back(*this, ctx_.agenda));
  Crossing& crossing = *free_.back();
  free_.pop_back();
  return crossing;
}

void Scratchpad::b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  Crossing& crossing = new_crossing();
  crossing.start = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay);
  crossing.port = static_cast<std::uint32_t>(initiator) % config_.ports;
  crossing.stream = payload.get_extension<StreamExtension>();
  if (crossing.stream == nullptr) {
    const std::uint64_t bytes = payload.get_data_length();
    crossing.run.region[0] = {payload.get_address(), 1, bytes, 0, bytes, payload.is_write()};
    crossing.run.regions = 1;
    crossing.data = payload.get_data_ptr();
  }
  const Stream& stream = crossing.moved();
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    const FaultCode fault = check(region);
    if (fault == FaultCode::kNone) continue;
    if (crossing.stream != nullptr) {
      crossing.stream->fault = fault;
      crossing.stream->fault_address = region.address;
    }
    free_.push_back(&crossing);
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (crossing.stream == nullptr &&
      (payload.get_byte_enable_ptr() != nullptr || payload.get_command() == tlm::TLM_IGNORE_COMMAND)) {
    free_.push_back(&crossing);
    payload.set_response_status(payload.get_byte_enable_ptr() != nullptr ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
                                                                         : tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  crossing.bytes = stream.traffic();
  crossing.pace_cycles = stream.pace_cycles;
  if (crossing.bytes == 0 && crossing.pace_cycles == 0) {
    free_.push_back(&crossing);
    return;
  }
  delay = sc_core::SC_ZERO_TIME;
  if (auto* const later = payload.get_extension<CompletionExtension>()) {
    later->deferred = true;
    crossing.to = later->to;
    crossing.ticket = later->ticket;
    enter(crossing, initiator);
    return;
  }
  Waiting waiting(ctx_.agenda);
  crossing.to = &waiting;
  enter(crossing, initiator);
  waiting.wait();
}

// What an initiator reads goes one after the other, and so does what it writes; streams go beside each other.
void Scratchpad::enter(Crossing& crossing, int initiator) {
  crossing.lane = nullptr;
  if (crossing.stream == nullptr) {
    Lane& lane = lanes_[2 * static_cast<std::size_t>(initiator) + (crossing.run.region[0].write ? 1 : 0)];
    crossing.lane = &lane;
    if (lane.taken) return lane.waiting.push_back(&crossing);
    lane.taken = true;
  }
  occupy(crossing);
}

void Scratchpad::leave(Crossing& crossing) {
  Lane* const lane = crossing.lane;
  if (lane == nullptr) return;
  lane->taken = !lane->waiting.empty();
  if (!lane->taken) return;
  Crossing& next = *lane->waiting.front();
  lane->waiting.pop_front();
  next.start = std::max(next.start, ctx_.clock.now());
  occupy(next);
}

// Shares change only when a crossing begins or ends. So one that is to come need not be begun when its time comes, but
// before the next change, or when it is looked at.
void Scratchpad::occupy(Crossing& crossing) {
  busiest_port_bytes.raise_to(port_bytes_[crossing.port] += crossing.bytes);
  begin_due();
  const std::uint64_t now = ctx_.clock.now();
  if (crossing.start > now) {
    const auto later = [](const Crossing* a, const Crossing* b) { return a->start < b->start; };
    to_come_.insert(std::upper_bound(to_come_.begin(), to_come_.end(), &crossing, later), &crossing);
    crossing.due = crossing.start + share_->alone_cycles(crossing.bytes, crossing.pace_cycles);
    crossing.end.at(ctx_.clock.after(crossing.due - now));
  } else {
    crossing.due = 0;
    begin(crossing);
  }
  if (Withdrawal* const withdrawal = crossing.withdrawal()) withdrawal->end = &crossing.end;
}

// It is, or was taken back, unless others have made it later.
void Scratchpad::over(Crossing& crossing) {
  begin_due();
  Withdrawal* const withdrawal = crossing.withdrawal();
  const bool withdrawn = withdrawal != nullptr && withdrawal->requested;
  const std::uint64_t now = ctx_.clock.now(), end = share_->finish(crossing.slot, now);
  if (now < end && !withdrawn) return crossing.end.at(ctx_.clock.after(end - now));
  if (withdrawal != nullptr) withdrawal->end = nullptr;
  const double left =
      now < end && crossing.bytes > 0 ? share_->remaining(crossing.slot, now) / static_cast<double>(crossing.bytes) : 0;
  share_->close(now, crossing.slot);
  if (crossing.stream != nullptr) crossing.stream->bank_cycles = share_->bank_cycles(crossing.slot);
  crossed();
  --begun_;
  changed(now);
  count(crossing, 1 - left);
  if (crossing.stream == nullptr) move(crossing);
  leave(crossing);
  free_.push_back(&crossing);
  crossing.to->completed(crossing.ticket, now, true);
}

// What was moved: all, but for a stream that was taken back.
void Scratchpad::count(const Crossing& crossing, double share) {
  const Stream& stream = crossing.moved();
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    const std::uint64_t bytes = region.traffic_bytes;
    (region.write ? write_words : read_words)
        .add_bytes(share < 1 ? static_cast<std::uint64_t>(share * static_cast<double>(bytes / 2)) * 2 : bytes);
  }
}

void Scratchpad::move(const Crossing& crossing) {
  if (memory_.empty()) return;
  const Region& run = crossing.run.region[0];
  unsigned char* const here = memory_.data() + (run.address - base_);
  if (run.write) {
    std::memcpy(here, crossing.data, run.row_bytes);
  } else {
    std::memcpy(crossing.data, here, run.row_bytes);
  }
}

void Scratchpad::begin(Crossing& crossing) {
  crossing.slot = share_->open(crossing.start, crossing.port, crossing.bytes, crossing.pace_cycles, crossing.moved());
  if (crossing_.size() <= crossing.slot) crossing_.resize(crossing.slot + 1);
  crossing_[crossing.slot] = &crossing;
  ++begun_;
  changed(crossing.start);
  const std::uint64_t end = share_->finish(crossing.slot, crossing.start);
  if (end == crossing.due) return;
  crossing.due = end;
  crossing.end.at(ctx_.clock.after(end - ctx_.clock.now()));
}

void Scratchpad::begin_next() {
  begin(*to_come_.front());  // which tells since when: until then nothing later is told
  to_come_.erase(to_come_.begin());
}

// Ends that the last change has moved.
void Scratchpad::wake_moved() {
  for (const std::size_t slot : share_->moved()) {
    Crossing& crossing = *crossing_[slot];
    crossing.due = share_->finish(slot, ctx_.clock.now());
    crossing.end.at(ctx_.clock.after(crossing.due - ctx_.clock.now()));
  }
}

bool Scratchpad::get_direct_mem_ptr(int /*initiator*/, tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  if (memory_.empty()) return false;
  dmi.set_dmi_ptr(memory_.data());
  dmi.set_start_address(base_);
  dmi.set_end_address(base_ + config_.size_bytes - 1);
  dmi.allow_read_write();
  return true;
}

unsigned Scratchpad::transport_dbg(int /*initiator*/, tlm::tlm_generic_payload& payload) {
  const std::uint64_t bytes = payload.get_data_length();
  const std::uint64_t offset = payload.get_address() - base_;
  if (memory_.empty() || payload.get_address() < base_ || offset + bytes > memory_.size()) return 0;
  if (payload.is_write()) std::memcpy(memory_.data() + offset, payload.get_data_ptr(), bytes);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), memory_.data() + offset, bytes);
  return static_cast<unsigned>(bytes);
}

}  // namespace attnvp
