// A run of a streaming graph as text, as JSON and as a graph for Graphviz.
#pragma once

#include <string>

#include "platform/stream/stream_run.h"

namespace attnvp::stream {

std::string to_text(const Result& result);
std::string to_json(const Result& result);

// Nodes with operation, interval and latency; channels with depth and high-water mark, heavier where they carry
// vectors, dashed where once per row. After a deadlock the circle of waits is red.
std::string to_dot(const Result& result);

// "deadlock at cycle 74: score waits for room in 'long' since cycle 64, ...", without an end.
std::string deadlock_sentence(const Result& result);

}  // namespace attnvp::stream
