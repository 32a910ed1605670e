// Which VEC engine a machine gets: the SystemC model or, where AttnVP was built with Verilator, its RTL twin.
#pragma once

#include <memory>

#include "models/vec_engine/vec_engine.h"

namespace attnvp {

// Throws config::ConfigError where there is no RTL, or none of the machine's width.
void check_vec_choice(const MachineConfig& machine);

std::unique_ptr<VecEngine> make_vec_engine(const char* name, Context& context, const VecConfig& config,
                                           std::uint64_t l0_share_bytes, const Engine::Place& place);

}  // namespace attnvp
