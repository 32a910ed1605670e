// Entry point of the firmware.
#pragma once

#include "firmware/runtime/dataflow.h"
#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

// Reads the job block, runs its dataflow, writes the status.
void boot(hal::Cpu& cpu, uint32_t cluster);

}  // namespace attnvp::firmware
