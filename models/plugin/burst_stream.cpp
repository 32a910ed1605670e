#include "models/plugin/burst_stream.h"

#include <cstring>

namespace attnvp {

bool BurstStream::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                        const Response& response) {
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return true;
  }
  if (!payload.is_read() && !payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return true;
  }
  if (free_bursts_.empty()) free_bursts_.push_back(&bursts_.emplace_back(*this));
  Burst& burst = *free_bursts_.back();
  free_bursts_.pop_back();
  burst.payload = &payload;
  burst.response = response;
  burst.stream.regions = 0;
  const std::uint64_t bytes = payload.get_data_length();
  burst.stream.add({payload.get_address(), 1, bytes, 0, bytes, payload.is_write()});
  if (!out.begin(burst.transaction.carry(burst.stream), burst, delay)) return false;
  end(burst);
  return true;
}

void BurstStream::Burst::responded(bool /*is_ok*/, const sc_core::sc_time& delay) {
  const Response to = response;
  owner.end(*this);
  to.send(delay);
}

void BurstStream::end(Burst& burst) {
  burst.payload->set_response_status(burst.transaction.status);
  if (burst.transaction.is_response_ok()) move(*burst.payload);
  free_bursts_.push_back(&burst);
}

unsigned BurstStream::debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) { return move(payload); }

// Moves nothing if L1 stores no bytes.
unsigned BurstStream::move(tlm::tlm_generic_payload& payload) {
  if (!has_dmi_) {
    StreamTransaction none;
    has_dmi_ = out->get_direct_mem_ptr(none, dmi_);
    if (!has_dmi_) return 0;
  }
  const std::uint64_t bytes = payload.get_data_length(), address = payload.get_address();
  if (address < dmi_.get_start_address() || address + bytes - 1 > dmi_.get_end_address()) return 0;
  unsigned char* const here = dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
  if (payload.is_write()) std::memcpy(here, payload.get_data_ptr(), bytes);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), here, bytes);
  return static_cast<unsigned>(bytes);
}

}  // namespace attnvp
