// Energy and power over time. Modules report when counted work is done (Activity); unreported work
// is spread between two samples. Energies are summed in windows of equal length; power is the mean over a window.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/sim/trace/command_trace.h"
#include "platform/machine/energy.h"
#include "platform/run/platform.h"

namespace attnvp::trace {

class PowerTrace : public Activity {
 public:
  // Part of the run that is shown, in fs since its start.
  struct Cut {
    std::uint64_t from = 0, to = UINT64_MAX;
  };
  // `wanted` selects modules; energy of other modules is only in the platform's total.
  PowerTrace(Platform& platform, const config::EnergyTable& energy,
             const std::function<bool(const std::string& module)>& wanted, std::uint64_t window_fs, Cut cut);

  void done(const Counter& counter, double amount, std::uint64_t from_fs, std::uint64_t to_fs) override;
  void will_tell(const Counter& counter) override;
  void accessed_l0(const Module& engine, double read_words, double write_words, std::uint64_t from_fs,
                   std::uint64_t to_fs) override;
  // Adds the counts since the last sample that are not reported.
  void sample();
  void end();  // at the end of the run

  // Paths of the modules; the last series is the platform.
  const std::vector<std::string>& series() const { return scopes_; }
  // Start of a window, in order of time; the last point is the end, without power.
  struct PowerSample {
    std::uint64_t from_fs;
    double pj_before, watts;
  };
  std::vector<PowerSample> points(std::size_t series) const;
  // Visits the windows in which power changes, in order of time.
  void for_each_window(const std::function<void(std::uint64_t from_fs, std::size_t series, double watts)>& visit) const;

 private:
  struct Term {
    const Counter* counter;
    std::size_t series;
    double pj;           // of one count
    double most_per_fs;  // rate of unreported counts; 0: no limit
    double told = 0;     // reported amount
    bool tells = false;  // reports, now or later
    std::uint64_t seen = 0;
    double to_come = 0;  // counted before it is done
  };
  struct PowerInterval {
    std::size_t series;
    double pj;
    std::uint64_t from, to;
  };
  // Energy by the cycle, independent of activity.
  struct StandingPower {
    std::size_t series;
    double pj_per_cycle;
  };
  void add_module(Module& module, std::size_t series, const config::EnergyTable& table);
  double most_per_fs(const Counter& counter) const;
  std::uint64_t now() const;
  void add(std::size_t series, double pj, std::uint64_t from, std::uint64_t to);
  void place(const PowerInterval& interval);
  void place_due(std::uint64_t now);
  void double_windows();
  std::uint64_t first_of(std::size_t window) const;
  std::uint64_t end_of(std::size_t window) const;
  double watts(std::size_t series, std::size_t window) const;

  Platform& platform_;
  std::uint64_t origin_fs_, window_fs_;
  Cut cut_;
  std::uint64_t end_ = 0;  // of the run; set by end()
  std::vector<std::string> scopes_;
  std::vector<Term> terms_;
  std::unordered_map<const Counter*, std::size_t> term_of_;
  struct L0 {
    const Counter* read = nullptr;
    const Counter* write = nullptr;
  };
  std::unordered_map<const Module*, L0> l0_of_;  // of an engine
  std::vector<StandingPower> standing_;
  std::vector<PowerInterval> to_come_;  // not yet over
  std::uint64_t sampled_ = 0;
  std::vector<double> before_;                // pJ before the cut, by series
  std::vector<std::vector<double>> windows_;  // pJ by series; the last: modules not shown (until end)
  std::size_t most_windows_;
};

}  // namespace attnvp::trace
