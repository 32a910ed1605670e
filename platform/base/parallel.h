// Independent parts of one computation on all processors of this host. Results must not depend on which thread runs a
// part: each part writes its own result, and the caller combines them in order.
#pragma once

#include <cstddef>
#include <functional>

namespace attnvp {

// Processors that this process may use; at least 1.
std::size_t usable_processors();

// Runs part(i) for every i < parts, each once, in up to usable_processors() threads; returns when all have ended.
// Rethrows the exception of the first part, by number, that threw. A thread that cannot be started is left out.
void run_in_parallel(std::size_t parts, const std::function<void(std::size_t)>& part);

}  // namespace attnvp
