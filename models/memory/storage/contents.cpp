#include "models/memory/storage/contents.h"

#include <cstring>

#include "models/interconnect/bus/payload.h"

namespace attnvp {

bool Contents::inside(const tlm::tlm_generic_payload& payload) const {
  const std::uint64_t bytes = payload.get_data_length();
  return payload.get_address() >= base_ && bytes <= memory_.size() && offset(payload) <= memory_.size() - bytes;
}

bool Contents::accepts(tlm::tlm_generic_payload& payload) const {
  if (payload.get_data_length() == 0 || !inside(payload)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (!payload.is_read() && !payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  } else {
    return true;
  }
  return false;
}

void Contents::move(tlm::tlm_generic_payload& payload) {
  unsigned char* const here = memory_.data() + offset(payload);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), here, payload.get_data_length());
  if (payload.is_write()) std::memcpy(here, payload.get_data_ptr(), payload.get_data_length());
}

void Contents::serve(tlm::tlm_generic_payload& payload) {
  if (payload.get_extension<TimingOnlyExtension>() == nullptr) move(payload);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned Contents::peek(tlm::tlm_generic_payload& payload) {
  if (!inside(payload)) return 0;
  move(payload);
  return payload.get_data_length();
}

}  // namespace attnvp
