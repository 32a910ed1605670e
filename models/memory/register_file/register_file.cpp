#include "models/memory/register_file/register_file.h"

#include "models/registry.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {
const bool kRegisterFileRegistered =
    add_kind<Memory>({"l0",
                      "register_file",
                      "has a capacity, but no time of its own",
                      {"attnvp.l0"},
                      [](const ModuleContext& module_context) {
                        return std::make_unique<RegisterFile>(module_context.name, module_context);
                      }});
}

RegisterFile::RegisterFile(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Memory(name, module_context.context), config_(module_context.machine.l0) {}

bool RegisterFile::begin(std::uint32_t /*engine*/, StreamTransaction& transaction, sc_core::sc_time& /*delay*/,
                         const Response& /*response*/) {
  if (Activity* const activity = activity_of(ctx_)) {  // counts precede the execution of the descriptor
    for (const Counter* counter : {&read_words, &write_words}) activity->will_tell(*counter);
  }
  const Stream& stream = *transaction.stream;
  for (int i = 0; i < stream.regions; ++i) {
    const Region& region = stream.region[static_cast<std::size_t>(i)];
    if (region.end() > share_bytes(config_.size_bytes)) {
      transaction.fault = FaultCode::kL0TooSmall;
      transaction.fault_address = region.end();
      transaction.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
      return true;
    }
    peak_bytes.raise_to(region.end());
    (region.write ? write_words : read_words).add_bytes(region.traffic_bytes);
  }
  transaction.status = tlm::TLM_OK_RESPONSE;
  return true;
}

}  // namespace attnvp
