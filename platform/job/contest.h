// Several kinds of schedule of a layer on a machine held against each other: each is looked at where the choice of its
// tiles begins; the choices go on part by part, the likeliest first, without those that have stayed behind; the nearest
// are run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/choosing.h"
#include "platform/job/schedule.h"
#include "platform/job/trial.h"

namespace attnvp::job {

struct Contender {
  Schedule open;        // as given
  Schedule schedule;    // complete: chosen, or where the choice begins
  double estimate = 0;  // cycles of that, or of the best that its choice had come by
  double commands = 0;  // of all clusters
  bool chosen = false;
  std::string same;          // another one, which does the same here; empty: there is none
  std::uint64_t cycles = 0;  // simulated; 0: it was not
  double off = 1;            // what a run took over its estimate by few commands
  double rank() const { return cycles == 0 ? estimate : static_cast<double>(cycles); }
};

class Contest {
 public:
  // Changes what was chosen for a contender; where that throws it is out.
  using Settle = std::function<void(Contender&)>;
  Contest(const MachineConfig& machine, const config::Network& network, Settle settle = {})
      : machine_(machine), network_(network), settle_(std::move(settle)), replays_(machine) {}
  // All of it takes about as long as so many runs of what it finds, each of a program of its own. What has been begun
  // is ended, so that it may be a little more.
  void limit(std::uint32_t runs) { runs_ = runs; }

  // Looks at it, or at another one that is the same but for its words. False: it does not take the layer, or does not
  // fit; why is kept.
  bool add(const Schedule& open) { return add(open, open); }
  bool add(const Schedule& open, const Schedule& look_at);
  // Tiles for those that may be the fastest, until one has run in nearly the time that any schedule takes; then timing
  // runs of all that are estimated to be nearly as fast as the fastest, where those are several, or `always`. What
  // would take long is not run.
  void decide(bool always);
  // Once that is decided: the first one against others that are chosen for, if those are near.
  void challenge(const std::vector<Schedule>& others);
  // And what others come to that go on from the first one's tiles.
  void vary(const std::vector<Schedule>& others);
  // Runs of the first one, in this program, that the limit leaves room for.
  double runs_left();

  // Those that were run, the fastest first, then those that tiles were chosen for, then the others.
  std::vector<Contender>& contenders() { return all_; }
  double least_cycles() const { return least_cycles_; }  // that any schedule takes at least
  mapping::Replays& replays() { return replays_; }
  // Where none is left: the first one's reason, or all of them, thrown as they were.
  [[noreturn]] void refuse() const;
  [[noreturn]] void refuse_all() const;
  const std::string& left_out() const { return left_out_; }

 private:
  struct Open {
    Contender* contender;
    std::unique_ptr<Choosing> choosing;
    bool going = true;  // there may be more of its choice
    bool twin() const { return !contender->same.empty(); }
    bool seen = false;  // closely
  };
  void sort();
  std::uint32_t runs_but(std::uint32_t kept) const { return runs_ - std::min(runs_, kept); }
  double a_run(double commands) const;  // its effort, of a program of its own
  // As much effort as so many runs of so many commands take, or of as few as were seen, where there is a limit.
  void allow(double commands, std::uint32_t runs);
  void allow_all_but(std::uint32_t runs);  // of the first one on this machine
  mapping::Glance glance() const { return runs_ == 0 ? mapping::Glance::kUsual : mapping::Glance::kRough; }
  std::vector<Open> choices();
  // The first part of all, then the others of those that have not stayed behind. True: one has run in nearly the time
  // that any schedule takes, and the rest was left.
  bool choose_all(std::vector<Open>& open);
  // From the tiles of the fastest before it, too, where there is a limit.
  void begin_at_best(Open& open, const std::vector<Open>& all) const;
  void choose_close(std::vector<Open>& open);
  void go_on(Open& open);  // the next part of one
  // Cycles of the best it has come by, which are had for less than closer looks; 0: it was not run.
  double run_of_likeliest(const Open& open);
  // Where there is a limit: the first of those before `open` that does the same by all that is asked of it; nullptr.
  Open* same_as(const Open& open, std::vector<Open>& all) const;
  // Where it may be as fast as any schedule can be, all of its choice and its run. True: it is nearly.
  bool ends_here(Open& open);
  bool behind(double estimate, int part, double best) const;
  const Contender& likeliest() const;  // by estimates
  // Which of those does the same, as far as the first part of the choice tells, and has the same parameters to go on
  // with, where that is said; nullptr: none, and it is one of them now.
  using Begun = std::map<std::tuple<std::uint64_t, double, double, const void*>, std::string>;
  static const std::string* same_begun(const Contender& contender, Choosing& choosing, Begun& begun,
                                       const void* parameters = nullptr);
  std::optional<Contender> challenger(const Schedule& open, Begun& begun);
  std::optional<Contender> varied(const Schedule& open);
  void meet(Contender& other);
  void run_nearest(bool always);
  // A part. False: there was none left, or none is allowed.
  bool advance(Contender& contender, Choosing& choosing);
  // The choice as far as it has got. False: it is out.
  bool choose(Contender& contender, Choosing& choosing);
  void run(Contender& contender);
  void out(Contender& contender, const std::exception& why);
  bool near_least(const Contender& contender) const;
  const MachineConfig& machine_;
  const config::Network& network_;
  Settle settle_;
  std::uint32_t runs_ = 0;                                            // 0: as long as it takes
  double fewest_commands_ = std::numeric_limits<double>::infinity();  // of those that were the best meanwhile
  mapping::Replays replays_;
  std::vector<Contender> all_;
  std::optional<Trial> trial_;
  double least_cycles_ = 0;
  std::string left_out_, run_error_, config_error_;
};

}  // namespace attnvp::job
