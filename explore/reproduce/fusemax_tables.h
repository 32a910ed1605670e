// FuseMax: the paper's figures beside this platform's.
#pragma once

#include <string>
#include <vector>

#include "explore/reproduce/entry.h"
#include "explore/reproduce/fusemax_study.h"
#include "explore/reproduce/section.h"

namespace attnvp::reproduce {

// quantity: cycles, speedup (of fusemax over the dataflow), mac_utilization, dram_bytes, energy_pj, energy_over_flat.
// network: "BERT 64K", or "mean". Each that differs by over 10% says why.
std::vector<Entry> fusemax_entries(const FusemaxStudy& study);
std::vector<Section> fusemax_sections(const FusemaxStudy& study);

std::string fusemax_text(const FusemaxStudy& study);
std::string fusemax_markdown(const FusemaxStudy& study);
std::string fusemax_json(const FusemaxStudy& study);
std::string fusemax_csv(const FusemaxStudy& study);

}  // namespace attnvp::reproduce
