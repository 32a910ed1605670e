// DRAM parts: files under configs/dram with the keys of BankedConfig.
#pragma once

#include <string>

#include "models/banked_dram/config.h"
#include "platform/config/schema.h"

namespace attnvp::config {

// Sets what the part's file says, after its `base:`. Throws ConfigError with file and line.
void apply_dram_part(BankedConfig& config, const std::string& name_or_path);

// The text of an address mapping: what a name in configs/dram/mappings/names.yaml stands for, or the text itself.
std::string dram_mapping(const std::string& name_or_text);

}  // namespace attnvp::config
