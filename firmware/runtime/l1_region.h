// What space in L1 is for: the tags that this firmware gives its allocations (hal::kL1TagShift), and their names, which
// waveforms and pages show. Hardware knows neither.
#pragma once

#include <cstdint>

namespace attnvp::firmware {

enum class L1Region : std::uint8_t { kOther, kQ, kK, kV, kScores, kO, kPartials };
constexpr const char* kL1RegionNames[] = {"other", "q", "k", "v", "scores", "o", "partials"};

}  // namespace attnvp::firmware
