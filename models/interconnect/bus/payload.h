// TLM-2.0 payloads of the platform: ignorable extensions, and payloads that their owner reuses.
#pragma once

#include <cstdint>
#include <tlm>

namespace attnvp {

// Marks a transaction without data (timing mode); a target may skip the copy. Ignorable.
struct TimingOnlyExtension : tlm::tlm_extension<TimingOnlyExtension> {
  tlm::tlm_extension_base* clone() const override { return new TimingOnlyExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& /*other*/) override {}
};

// Id of the descriptor that causes an access (models/sim/trace/command_trace.h). Ignorable; attached only while
// descriptors are traced.
struct OriginExtension : tlm::tlm_extension<OriginExtension> {
  std::uint64_t descriptor = 0;
  tlm::tlm_extension_base* clone() const override { return new OriginExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const OriginExtension&>(other); }
  void free() override {}  // owned by the initiator
};

// Payload with the memory manager that nb_transport requires; its owner reuses it for successive accesses. The owner
// keeps one reference, so that a target's release does not free it.
class OwnedPayload : public tlm::tlm_generic_payload {
 public:
  OwnedPayload() : tlm_generic_payload(&manager()) { acquire(); }

 private:
  struct Manager : tlm::tlm_mm_interface {
    void free(tlm::tlm_generic_payload* /*payload*/) override {}
  };
  static Manager& manager() {
    static Manager without_state;
    return without_state;
  }
};

// Returns the payload if it has a memory manager, as nb_transport requires; otherwise `own`, set to the same access.
inline tlm::tlm_generic_payload& managed(tlm::tlm_generic_payload& payload, OwnedPayload& own) {
  if (payload.has_mm()) return payload;
  own.set_command(payload.get_command());
  own.set_address(payload.get_address());
  own.set_data_ptr(payload.get_data_ptr());
  own.set_data_length(payload.get_data_length());
  own.set_streaming_width(payload.get_streaming_width());
  own.set_byte_enable_ptr(payload.get_byte_enable_ptr());
  own.set_byte_enable_length(payload.get_byte_enable_length());
  own.set_dmi_allowed(false);
  own.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return own;
}

inline void fill_payload(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address, void* data,
                         std::size_t bytes) {
  p.set_command(command);
  p.set_address(address);
  p.set_data_ptr(static_cast<unsigned char*>(data));
  p.set_data_length(static_cast<unsigned>(bytes));
  p.set_streaming_width(static_cast<unsigned>(bytes));
  p.set_byte_enable_ptr(nullptr);
  p.set_byte_enable_length(0);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace attnvp
