// How evenly a run's work was dealt, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/job/imbalance.h"

namespace attnvp::report {

// Adds "imbalance" to a run's document where the machine has more than one cluster ("clusters": of "macs", "vec_cycles"
// and "dma_bytes" each worker's, "each", and "most", "mean" and "ratio" of them; "end_cycle" of each, "first" and
// "last" of them) or more than one core in a cluster ("cores": likewise, but for DMA).
void add_imbalance(nlohmann::ordered_json& document, const job::Imbalance& imbalance);
// The same as a few lines and an empty one; empty where there is one worker only.
std::string imbalance_text(const job::Imbalance& imbalance);

}  // namespace attnvp::report
