#include "models/memory/storage/contents.h"

#include <cstring>

#include "firmware/hal/registers.h"
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

L1Contents::L1Contents(const std::string& owner, std::uint64_t base, std::uint64_t size_bytes, bool full_data)
    : base_(base), size_bytes_(size_bytes), memory_(full_data ? size_bytes : 0), host_(owner) {}

unsigned L1Contents::move(tlm::tlm_generic_payload& payload) {
  const std::uint64_t bytes = payload.get_data_length(), address = payload.get_address(), offset = address - base_;
  if (memory_.empty() || address < base_ || offset + bytes > memory_.size()) return 0;
  if (payload.is_write()) std::memcpy(memory_.data() + offset, payload.get_data_ptr(), bytes);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), memory_.data() + offset, bytes);
  return static_cast<unsigned>(bytes);
}

bool L1Contents::direct(tlm::tlm_dmi& dmi) {
  if (memory_.empty()) return false;
  dmi.set_dmi_ptr(memory_.data());
  dmi.set_start_address(base_);
  dmi.set_end_address(base_ + size_bytes_ - 1);
  dmi.allow_read_write();
  return true;
}

std::optional<L1Contents::Allocation> L1Contents::allocation_of(tlm::tlm_generic_payload& payload) {
  if (!payload.is_write() || payload.get_data_length() != 8 || payload.get_address() % hal::kL1ControlSize != 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return {};
  }
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), sizeof value);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return Allocation{value & hal::kL1AllocatedBytes, value >> hal::kL1TagShift};
}

}  // namespace attnvp
