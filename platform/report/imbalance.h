// Distribution of a run's work over clusters and cores, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/run/results/imbalance.h"

namespace attnvp::report {

// Adds "imbalance" to a run's document for machines with several clusters or cores. "clusters": for each of "macs",
// "vec_cycles" and "dma_bytes" the values "each", "most", "mean" and "ratio"; "end_cycle" of each, and "first" and
// "last". "cores": the same without DMA.
void add_imbalance(nlohmann::ordered_json& document, const job::Imbalance& imbalance);
// The same as text, with an empty line at the end; empty for a single worker.
std::string imbalance_text(const job::Imbalance& imbalance);

}  // namespace attnvp::report
