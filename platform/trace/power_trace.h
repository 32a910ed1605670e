// Energy and power over time. Modules tell when the work was done that they count (models/trace/activity.h); what is
// not told was done between two samples. Energies lie in windows of equal length, whose means are the power.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/trace/activity.h"
#include "platform/config/energy.h"
#include "platform/elaboration/platform.h"

namespace attnvp::trace {

class PowerTrace : public Activity {
 public:
  // Of the run's time, what is shown; fs since the run's begin.
  struct Cut {
    std::uint64_t from = 0, to = UINT64_MAX;
  };
  // `wanted` selects modules; energy of the others is in the platform's alone.
  PowerTrace(Platform& platform, const config::EnergyTable& energy,
             const std::function<bool(const std::string& module)>& wanted, std::uint64_t window_fs, Cut cut);

  void done(const Counter& counter, double amount, std::uint64_t from_fs, std::uint64_t to_fs) override;
  void will_tell(const Counter& counter) override;
  void accessed_l0(const Module& engine, double read_words, double write_words, std::uint64_t from_fs,
                   std::uint64_t to_fs) override;
  // What was counted since the last sample and nobody tells was done since then.
  void sample();
  void end();  // of the run: now

  // Paths of the modules, the platform's last.
  const std::vector<std::string>& series() const { return scopes_; }
  // The begin of a window, in order of time; the last one is the end, without power.
  struct Point {
    std::uint64_t from_fs;
    double pj_before, watts;
  };
  std::vector<Point> points(std::size_t series) const;
  // In order of time, where power changes.
  void for_each_window(const std::function<void(std::uint64_t from_fs, std::size_t series, double watts)>& visit) const;

 private:
  struct Term {
    const Counter* counter;
    std::size_t series;
    double pj;           // of one
    double most_per_fs;  // of what nobody tells; 0: any
    double told = 0;     // amount
    bool tells = false;  // or will
    std::uint64_t seen = 0;
    double to_come = 0;  // counted before it was done
  };
  struct Interval {
    std::size_t series;
    double pj;
    std::uint64_t from, to;
  };
  // What stands whatever is done.
  struct Standing {
    std::size_t series;
    double pj_per_cycle;
  };
  void add_module(Module& module, std::size_t series, const config::EnergyTable& table);
  double most_per_fs(const Counter& counter) const;
  std::uint64_t now() const;
  void add(std::size_t series, double pj, std::uint64_t from, std::uint64_t to);
  void place(const Interval& interval);
  void place_due(std::uint64_t now);
  void double_windows();
  std::uint64_t first_of(std::size_t window) const;
  std::uint64_t end_of(std::size_t window) const;
  double watts(std::size_t series, std::size_t window) const;

  Platform& platform_;
  std::uint64_t origin_fs_, window_fs_;
  Cut cut_;
  std::uint64_t end_ = 0;  // of the run, once it is known
  std::vector<std::string> scopes_;
  std::vector<Term> terms_;
  std::unordered_map<const Counter*, std::size_t> term_of_;
  struct L0 {
    const Counter* read = nullptr;
    const Counter* write = nullptr;
  };
  std::unordered_map<const Module*, L0> l0_of_;  // an engine's
  std::vector<Standing> standing_;
  std::vector<Interval> to_come_;  // not over yet
  std::uint64_t sampled_ = 0;
  std::vector<double> before_;                // pJ before the cut, by series
  std::vector<std::vector<double>> windows_;  // pJ, by series; the last is at first that of modules that are not shown
  std::size_t most_windows_;
};

}  // namespace attnvp::trace
