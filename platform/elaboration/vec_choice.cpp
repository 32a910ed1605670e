#include "platform/elaboration/vec_choice.h"

#include <fmt/format.h>

#include "platform/config/error.h"
#ifdef ATTNVP_RTL
#include "rtl/vec/rtl_vec_engine.h"
#endif

namespace attnvp {

std::string vec_choice_problem(const MachineConfig& machine) {
  if (machine.vec.kind != VecKind::kRtl) return {};
#ifdef ATTNVP_RTL
  const VecConfig& vec = machine.vec;
  for (const std::uint64_t width : rtl::VecRtl::widths()) {
    if (vec.lanes == width * vec.softmax_lane_cycles) return {};
  }
  return fmt::format(
      "--vec rtl: found vec.lanes {} at vec.softmax_lane_cycles {}; allowed are {} elements of softmax a cycle",
      vec.lanes, vec.softmax_lane_cycles, fmt::join(rtl::VecRtl::widths(), ", "));
#else
  return "--vec: found 'rtl'; allowed: model (this attnvp was built without Verilator)";
#endif
}

void check_vec_choice(const MachineConfig& machine) {
  const std::string problem = vec_choice_problem(machine);
  if (!problem.empty()) throw config::ConfigError(problem);
}

std::unique_ptr<VecEngine> make_vec_engine(const char* name, Context& context, const VecConfig& config,
                                           std::uint64_t l0_share_bytes, const Engine::Place& place) {
#ifdef ATTNVP_RTL
  if (config.kind == VecKind::kRtl) {
    return std::make_unique<rtl::RtlVecEngine>(name, context, config, l0_share_bytes, place);
  }
#endif
  return std::make_unique<VecEngine>(name, context, config, l0_share_bytes, place);
}

}  // namespace attnvp
