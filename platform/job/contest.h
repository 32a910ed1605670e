// Several kinds of schedule of a layer on a machine held against each other: each is looked at where the choice of its
// tiles begins, tiles are chosen for one after the other, the likeliest first, and the nearest are run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/schedule.h"
#include "platform/job/trial.h"

namespace attnvp::job {

struct Contender {
  Schedule open;        // as given
  Schedule schedule;    // complete: chosen, or where the choice begins
  double estimate = 0;  // cycles of that
  double commands = 0;  // of all clusters
  bool chosen = false;
  std::uint64_t digest = 0;  // of the commands with which the choice begins
  std::uint64_t cycles = 0;  // simulated; 0: it was not
  double rank() const { return cycles == 0 ? estimate : static_cast<double>(cycles); }
};

class Contest {
 public:
  // Changes what was chosen for a contender; where that throws it is out.
  using Settle = std::function<void(Contender&)>;
  Contest(const MachineConfig& machine, const config::Network& network, Settle settle = {})
      : machine_(machine), network_(network), settle_(std::move(settle)) {}

  // Looks at it, or at another one that is the same but for its words. False: it does not take the layer, or does not
  // fit; why is kept.
  bool add(const Schedule& open) { return add(open, open); }
  bool add(const Schedule& open, const Schedule& look_at);
  // Tiles for those that may be the fastest, until one has run in nearly the time that any schedule takes; then timing
  // runs of all that are estimated to be nearly as fast as the fastest, where those are several, or `always`. What
  // would take long is not run.
  void decide(bool always);
  // Once that is decided: the first one against another schedule that is chosen for, if that is near.
  void challenge(const Schedule& open);

  // Those that were run, the fastest first, then those that tiles were chosen for, then the others.
  std::vector<Contender>& contenders() { return all_; }
  double least_cycles() const { return least_cycles_; }  // that any schedule takes at least
  // Where none is left: the first one's reason, or all of them, thrown as they were.
  [[noreturn]] void refuse() const;
  [[noreturn]] void refuse_all() const;
  const std::string& left_out() const { return left_out_; }

 private:
  void sort();
  bool choose(Contender& contender);
  void run(Contender& contender);
  const MachineConfig& machine_;
  const config::Network& network_;
  Settle settle_;
  std::vector<Contender> all_;
  std::optional<Trial> trial_;
  double least_cycles_ = 0;
  std::string left_out_, run_error_, config_error_;
};

}  // namespace attnvp::job
