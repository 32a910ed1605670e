// Generic payloads of the platform: extensions that are ignorable, and payloads that their owner uses again.
#pragma once

#include <cstdint>
#include <tlm>

namespace attnvp {

// Marks a transaction without data (timing mode): a target may skip the copy. Ignorable.
struct TimingOnlyExtension : tlm::tlm_extension<TimingOnlyExtension> {
  tlm::tlm_extension_base* clone() const override { return new TimingOnlyExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& /*other*/) override {}
};

// Which descriptor an access is made for (models/trace/journal.h). Ignorable; attached only while a journal is kept.
struct OriginExtension : tlm::tlm_extension<OriginExtension> {
  std::uint64_t descriptor = 0;
  tlm::tlm_extension_base* clone() const override { return new OriginExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const OriginExtension&>(other); }
  void free() override {}  // whoever attaches it owns it
};

// A payload with a memory manager, as nb_transport demands, that its owner uses for one access after the other. The
// owner keeps a reference for the payload's life, so that no release of a target frees it.
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

// The payload itself where it has a memory manager, as nb_transport demands; otherwise `own`, for the same access.
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

// Sets every field of a payload for one access.
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
