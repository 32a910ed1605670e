// Compatibility names of models/plugin/plugin.h for libraries written for DRAM only.
#pragma once

#include "models/plugin/plugin.h"

namespace attnvp {

inline constexpr std::uint32_t kDramPluginVersion = kPluginVersion;
using DramPlugin = MemoryPlugin;
using DramPluginSite = PluginContext;

}  // namespace attnvp

#define ATTNVP_DRAM_PLUGIN(Class) ATTNVP_MEMORY_PLUGIN(Class)
