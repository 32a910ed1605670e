#include "models/scratchpad/scratchpad.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "firmware/hal/registers.h"

namespace attnvp {

namespace {
const char* const kRegionNames[] = {"other", "q", "k", "v", "scores", "o", "partials"};  // as hal::L1Region
}

Scratchpad::Scratchpad(sc_core::sc_module_name name, Context& context, const ScratchpadConfig& config,
                       std::uint64_t base, std::uint32_t initiators)
    : Module(name, context),
      config_(config),
      base_(base),
      memory_(context.full_data ? config.size_bytes : 0),
      share_(config.ports, config.port_bytes_per_cycle,
             static_cast<double>(config.banks) * config.bank_bytes_per_cycle) {
  control.register_b_transport(this, &Scratchpad::control_transport);
  for (std::uint32_t i = 0; i < initiators; ++i) {
    auto socket =
        std::make_unique<tlm_utils::simple_target_socket_tagged<Scratchpad>>(("in" + std::to_string(i)).c_str());
    socket->register_b_transport(this, &Scratchpad::b_transport, static_cast<int>(i));
    socket->register_get_direct_mem_ptr(this, &Scratchpad::get_direct_mem_ptr, static_cast<int>(i));
    socket->register_transport_dbg(this, &Scratchpad::transport_dbg, static_cast<int>(i));
    sockets_.push_back(std::move(socket));
  }
  for (const char* region : kRegionNames) {
    regions_.push_back(std::make_unique<Signal>(*this, std::string("regions.") + region + "_bytes", 40));
    regions_.back()->sparse();
  }
  for (std::uint32_t i = 0; i < config.ports; ++i) {
    const std::string label = "port" + std::to_string(i) + ".bytes_per_cycle";
    rates_.push_back(std::make_unique<Signal>(*this, label, Signal::Real{"B/cycle"}));
  }
}

void Scratchpad::reset() {
  if (!memory_.empty()) std::memset(memory_.data(), 0, memory_.size());
  allocated_.set(0);
  for (auto& region : regions_) region->set(0);
  allocations_.clear();
}

// The difference to what was held before belongs to the region; what shrinks without one is given back newest first.
void Scratchpad::show_allocation(std::uint64_t bytes, hal::L1Region region) {
  const std::uint64_t before = allocated_.value();
  const auto signal = [this](hal::L1Region r) -> Signal& { return *regions_.at(static_cast<std::size_t>(r)); };
  if (bytes > before) {
    const std::uint64_t more = bytes - before;
    allocations_.push_back({region, more});
    signal(region).set(signal(region).value() + more);
  }
  std::uint64_t less = bytes < before ? before - bytes : 0;
  for (std::size_t i = allocations_.size(); less > 0 && i-- > 0;) {
    Allocation& a = allocations_[i];
    if (region != hal::L1Region::kOther && region != a.region) continue;
    const std::uint64_t n = std::min(less, a.bytes);
    less -= n;
    a.bytes -= n;
    signal(a.region).set(signal(a.region).value() - n);
    if (a.bytes == 0) allocations_.erase(allocations_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Rounded so that sums of equal rates are equal.
void Scratchpad::show_rates() {
  for (std::uint32_t i = 0; i < config_.ports; ++i) {
    rates_[i]->set_real(std::round(share_.port_rate(i) * 1024) / 1024);
  }
}

void Scratchpad::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  if (!payload.is_write() || payload.get_data_length() != 8 || payload.get_address() % hal::kL1ControlSize != 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), sizeof value);
  const std::uint64_t bytes = value & hal::kL1AllocatedBytes;
  const std::uint64_t region = value >> hal::kL1RegionShift;
  if (region >= regions_.size()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  if (allocated_.on()) show_allocation(bytes, static_cast<hal::L1Region>(region));
  allocated_.set(bytes);
  peak_bytes.raise_to(bytes);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

FaultCode Scratchpad::check(const Region& r) const {
  if (r.rows == 0 || r.row_bytes == 0) return FaultCode::kZeroSize;
  if ((r.address | r.row_bytes | (r.rows > 1 ? r.row_stride : 0)) & 1) return FaultCode::kMisaligned;
  if (r.rows > 1 && r.row_stride < r.row_bytes) return FaultCode::kBadOperand;
  if (r.address < base_ || r.address >= base_ + config_.size_bytes) return FaultCode::kUnmapped;
  if (r.end() > base_ + config_.size_bytes) return FaultCode::kOutOfRange;
  return FaultCode::kNone;
}

void Scratchpad::b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (delay != sc_core::SC_ZERO_TIME) {  // bandwidth is shared in time order: the initiator's own time must be now
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  const auto port = static_cast<std::uint32_t>(initiator) % config_.ports;

  if (auto* extension = payload.get_extension<StreamExtension>()) {
    const Stream& stream = extension->stream;
    for (int i = 0; i < stream.regions; ++i) {
      const Region& region = stream.region[static_cast<std::size_t>(i)];
      extension->fault = check(region);
      if (extension->fault != FaultCode::kNone) {
        extension->fault_address = region.address;
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
      }
    }
    const double moved = occupy(port, stream.traffic(), stream.pace_cycles, extension->withdrawal);
    for (int i = 0; i < stream.regions; ++i) {
      const Region& region = stream.region[static_cast<std::size_t>(i)];
      const std::uint64_t words = region.traffic_bytes / 2;
      (region.write ? write_words : read_words) +=
          moved < 1 ? static_cast<std::uint64_t>(moved * static_cast<double>(words)) : words;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }

  const std::uint64_t bytes = payload.get_data_length();
  if (check({payload.get_address(), 1, bytes, 0, bytes, false}) != FaultCode::kNone) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  occupy(port, bytes, 0);
  unsigned char* here = memory_.empty() ? nullptr : memory_.data() + (payload.get_address() - base_);
  if (payload.is_write()) {
    write_words += bytes / 2;
    if (here != nullptr) std::memcpy(here, payload.get_data_ptr(), bytes);
  } else if (payload.is_read()) {
    read_words += bytes / 2;
    if (here != nullptr) std::memcpy(payload.get_data_ptr(), here, bytes);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

double Scratchpad::occupy(std::uint32_t port, std::uint64_t bytes, std::uint64_t pace_cycles, Withdrawal* withdrawal) {
  const Clock& clock = ctx_.clock;
  if (bytes == 0 && pace_cycles == 0) return 1;
  const std::uint64_t start = clock.now();
  const std::size_t slot = share_.open(start, port, bytes, pace_cycles);
  active_.set(active_.value() + 1);
  if (active_.on()) show_rates();
  const auto reschedule = [&](std::size_t s, std::uint64_t now) {
    sc_core::sc_event& event = event_of(s);
    event.cancel();
    event.notify(clock.cycles(share_.finish(s) - now));
  };
  for (std::size_t s : share_.moved()) reschedule(s, start);
  reschedule(slot, start);
  sc_core::sc_event& mine = event_of(slot);
  if (withdrawal != nullptr) withdrawal->wake = &mine;
  do {
    sc_core::wait(mine);
  } while (clock.now() < share_.finish(slot) && !(withdrawal != nullptr && withdrawal->requested));
  if (withdrawal != nullptr) withdrawal->wake = nullptr;
  const std::uint64_t now = clock.now();
  const double left =
      now < share_.finish(slot) && bytes > 0 ? share_.remaining(slot, now) / static_cast<double>(bytes) : 0;
  share_.close(now, slot);
  active_.set(active_.value() - 1);
  if (active_.on()) show_rates();
  for (std::size_t s : share_.moved()) reschedule(s, now);
  return 1 - left;
}

sc_core::sc_event& Scratchpad::event_of(std::size_t slot) {
  while (events_.size() <= slot) events_.emplace_back();
  return events_[slot];
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
