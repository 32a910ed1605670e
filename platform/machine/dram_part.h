// DRAM parts: files under configs/dram with the keys of BankedConfig.
#pragma once

#include <string>

#include "models/memory/banked_dram/config.h"
#include "platform/machine/schema.h"

namespace attnvp::config {

// Applies a part's file, after its `base:`. Throws ConfigError with file and line.
void apply_dram_part(BankedConfig& config, const std::string& name_or_path);

// Address mapping: the entry of a name in configs/dram/mappings/names.yaml, or the text itself.
std::string dram_mapping(const std::string& name_or_text);

}  // namespace attnvp::config
