#include "models/register_file/register_file.h"

#include "models/bus/stream.h"
#include "models/registry.h"
#include "models/trace/activity.h"

namespace attnvp {

namespace {
const bool kRegistered = add_kind<Memory>(
    {"l0", "register_file", "has a capacity, but no time of its own", {"attnvp.l0"}, [](const Site& site) {
       return std::make_unique<RegisterFile>(site.name, site);
     }});
}

RegisterFile::RegisterFile(sc_core::sc_module_name name, const Site& site)
    : Memory(name, site.context), config_(site.machine.l0) {
  mac_.register_b_transport(this, &RegisterFile::b_transport);
  vec_.register_b_transport(this, &RegisterFile::b_transport);
}

void RegisterFile::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  auto* extension = payload.get_extension<StreamExtension>();
  if (extension == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  if (Activity* const activity = activity_of(ctx_)) {  // a descriptor is booked before it runs
    for (const Counter* counter : {&read_words, &write_words}) activity->will_tell(*counter);
  }
  const Stream& stream = *extension->stream;
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    if (region.end() > share_bytes(config_.size_bytes)) {
      extension->fault = FaultCode::kL0TooSmall;
      extension->fault_address = region.end();
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    peak_bytes.raise_to(region.end());
    (region.write ? write_words : read_words).add_bytes(region.traffic_bytes);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace attnvp
