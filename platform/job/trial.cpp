#include "platform/job/trial.h"

#include <utility>

#include "models/bus/jitter.h"
#include "platform/elaboration/platform.h"
#include "platform/job/placed.h"

namespace attnvp::job {

namespace {
// A run's random delays are not this one's.
class Undelayed {
 public:
  Undelayed() = default;
  ~Undelayed() { jitter::on = was_; }
  Undelayed(const Undelayed&) = delete;
  Undelayed& operator=(const Undelayed&) = delete;

 private:
  bool was_ = std::exchange(jitter::on, false);
};
}  // namespace

std::uint64_t Trial::cycles(const config::Network& network, const Schedule& schedule) {
  const Undelayed undelayed;
  Clock::start_over();
  Platform& platform = elaborated_.platform();
  const Placed placed(platform, {}, platform.machine(), network, schedule, nullptr);
  const std::uint64_t cycles = platform.run();
  check_ended(platform, placed.what());
  Result result;
  placed.read_answers(result);  // whether firmware was content
  return Clock::ran_out() ? 0 : cycles;
}

}  // namespace attnvp::job
