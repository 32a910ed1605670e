// Former names of models/plugin/plugin.h, for libraries that were written for DRAM alone.
#pragma once

#include "models/plugin/plugin.h"

namespace attnvp {

inline constexpr std::uint32_t kDramPluginVersion = kPluginVersion;
using DramPlugin = MemoryPlugin;
using DramPluginSite = PluginSite;

}  // namespace attnvp

#define ATTNVP_DRAM_PLUGIN(Class) ATTNVP_MEMORY_PLUGIN(Class)
