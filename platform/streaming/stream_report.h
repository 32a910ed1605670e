// Report of a streaming graph's run as text, JSON and Graphviz.
#pragma once

#include <string>

#include "platform/streaming/stream_run.h"

namespace attnvp::stream {

std::string to_text(const StreamResult& result);
std::string to_json(const StreamResult& result);

// Nodes with operation, interval and latency; channels with depth and peak occupancy, bold for vectors, dashed for one
// element a row. The circular wait of a deadlock is red.
std::string to_dot(const StreamResult& result);

// "deadlock at cycle 74: score waits for room in 'long' since cycle 64, ...", without full stop.
std::string deadlock_sentence(const StreamResult& result);

}  // namespace attnvp::stream
