// The values of a parameter that are worth trying, from its declaration: whole multiples of its grain, even shares of
// its extent.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "mapping/bus.h"

namespace attnvp::mapping {

using Words = std::vector<std::uint32_t>;  // one per parameter of a dataflow; 0: open

// The largest value that makes sense for the layer.
std::uint32_t largest(const firmware::Parameter& parameter, const Job& job);
// Ascending, hal::kWord last. `nq`: rows of a row block, for parameters that count those.
std::vector<std::uint32_t> candidates(const firmware::Parameter& parameter, const Job& job, std::uint32_t nq);
// The one to begin with.
std::uint32_t first_guess(const firmware::Parameter& parameter, const Job& job, std::uint32_t nq);

// Position of a parameter in its dataflow's list; -1: it has none of that name.
int index_of(const firmware::Dataflow& dataflow, const char* name);

// As many buffers of K and V as there can be keep those of a head: that pays where queries are grouped.
bool keeps_heads(const firmware::Parameter& parameter, std::uint32_t value);
bool worth_trying(const firmware::Parameter& parameter, std::uint32_t value, const Job& job);

}  // namespace attnvp::mapping
