#include "models/memory/storage/l1_contents.h"

#include <cstring>

#include "firmware/hal/registers.h"

namespace attnvp {

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
