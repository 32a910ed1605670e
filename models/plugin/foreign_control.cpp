#include "models/plugin/foreign_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/plugin/library.h"

namespace attnvp {

ForeignControl::ForeignControl(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target,
                               Counter& descriptors, Fault fault)
    : sc_module(name), ctx_(context), descriptors_(descriptors), fault_(std::move(fault)) {
  in.register_b_transport(this, &ForeignControl::b_transport);
  in.register_transport_dbg(this, &ForeignControl::transport_dbg);
  out_.bind(target);
}

void ForeignControl::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::string what =
      fmt::format("a {} of {} bytes", payload.is_read() ? "read" : "write", payload.get_data_length());
  if (payload.is_write() && address % hal::kQueueStride == hal::kQueueDoorbell) descriptors_ += 1;
  calls_.push_back({what, address, ctx_.clock.now()});
  try {
    out_->b_transport(payload, delay);
  } catch (const sc_core::sc_unwind_exception&) {  // this process is being terminated
    throw;
  } catch (...) {
    fault_(address, fmt::format("its plug-in threw an exception {} ({})", exception_text(), what));
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    delay = sc_core::SC_ZERO_TIME;
    return;
  }
  const auto found =
      std::find_if(calls_.begin(), calls_.end(), [&](const Call& c) { return c.address == address && c.what == what; });
  calls_.erase(found);
  if (delay.value() > UINT64_MAX - ctx_.clock.now_fs() - ctx_.clock.period_fs()) {
    fault_(address, fmt::format("its plug-in annotated a delay of {}; simulated time ends after 2^64 fs ({})",
                                delay.to_string(), what));
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    delay = sc_core::SC_ZERO_TIME;
  } else if (!payload.is_response_ok() && !ctx_.faults.any()) {
    fault_(address, fmt::format("its plug-in answered {} to {}", payload.get_response_string(), what));
  }
}

std::string ForeignControl::waiting_for() const {
  if (calls_.empty()) return {};
  const Call& call = calls_.front();
  return fmt::format("its plug-in has not answered {} at {:#x} since cycle {}", call.what, call.address, call.cycle);
}

}  // namespace attnvp
