// Purpose of an L1 allocation: tags of this firmware (hal::kL1TagShift) and their names in waveforms and pages.
// Hardware does not interpret them.
#pragma once

#include <cstdint>

namespace attnvp::firmware {

enum class L1Region : std::uint8_t { kOther, kQ, kK, kV, kScores, kO, kPartials };
constexpr const char* kL1RegionNames[] = {"other", "q", "k", "v", "scores", "o", "partials"};

}  // namespace attnvp::firmware
