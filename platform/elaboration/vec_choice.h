// Which VEC engine a machine gets: the SystemC model or, where AttnVP was built with Verilator, its RTL twin.
#pragma once

#include <memory>
#include <string>

#include "models/vec_engine/vec_engine.h"

namespace attnvp {

// Why the machine cannot have the VEC engine it asks for: no RTL, or none of its width. Empty if it can.
std::string vec_choice_problem(const MachineConfig& machine);
// Throws it as a config::ConfigError.
void check_vec_choice(const MachineConfig& machine);

std::unique_ptr<VecEngine> make_vec_engine(const char* name, Context& context, const VecConfig& config,
                                           std::uint64_t l0_share_bytes, const Engine::Place& place);

}  // namespace attnvp
