#include "platform/job/trial.h"

#include "platform/elaboration/platform.h"
#include "platform/job/placed.h"

namespace attnvp::job {

std::uint64_t Trial::cycles(const config::Network& network, const Schedule& schedule) {
  Clock::start_over();
  Platform& platform = elaborated_.platform();
  const Placed placed(platform, {}, platform.machine(), network, schedule, nullptr);
  const std::uint64_t cycles = platform.run();
  check_ended(platform, placed.what());
  Result result;
  placed.read_answers(result);  // whether firmware was content
  return cycles;
}

}  // namespace attnvp::job
