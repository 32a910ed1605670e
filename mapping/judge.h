// What is known of a job's schedules: whether firmware takes them and they fit, and how long they take, the first
// commands of their streams looked at, then more of those of the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mapping/candidates.h"
#include "mapping/costs.h"
#include "mapping/estimate.h"
#include "mapping/known.h"
#include "models/machine.h"

namespace attnvp::mapping {

constexpr double kBetter = 1 - 5e-4;  // an estimate is no exact number: what gains less is left as it is

// How much of a stream is looked at first: more tells more, little is had for little.
enum class Glance : std::uint8_t { kUsual, kRough };

class Judge {
 public:
  Judge(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance);

  const Need& need(const Words& words);
  bool fits(const Words& words) { return need(words).fits(job_); }
  // Nearer to what the machine can do: firmware has nothing against it, then what there is too little of.
  static bool nearer(const Need& a, const Need& b);
  // Of all that were asked for, the nearest one, and what firmware says of it when it does the work, too.
  const Need& nearest() const { return nearest_; }
  hal::JobResult word_on_nearest() const;

  // Cycles, and a little for the bus, L1 and every command, by the first commands; infinite where they do not fit. Of
  // what is not below `most` no more than that is said, and of what is new nothing once there was
  // enough effort, but for one that fits.
  double merit(const Words& words, double most = kNever);
  double merit(const Estimate& e) const {
    return e.cycles + e.bus * bus_share_ + e.l1 * l1_share_ + e.commands * command_;
  }
  bool rough() const { return rough_; }    // looks, until they are closer
  double least() const { return least_; }  // of all that were found
  bool any() const { return !found_.empty(); }
  std::pair<double, Words> first() const;  // the best by those
  // That one, and for each parameter one that was found with another value.
  std::vector<Words> differing() const;
  // Whether that one is below `merit` by more of its stream, too.
  bool surely(double merit);
  // Where steps ended: worth a closer look, whatever others promise.
  void keep(const Words& words) { ends_.insert(words); }
  // The best of all by more of their streams; empty where none fits.
  Words best();
  // By as much of their streams as those that are chosen: clearly better; as fast, and moves less over the bus.
  bool beats(const Words& words, const Words& other);
  bool spares(const Words& words, const Words& than);
  // By the first look, or as closely as those that are chosen.
  const Estimate& estimated(const Words& words, bool closely);
  // From here on all are looked at as closely as the best few were, that one first. False: there was all of it to see.
  bool looks_closer(const Words& words);

 private:
  Job with(const Words& words) const;
  const Estimate& look(const Words& words, std::size_t commands, double enough = kNever);
  double closely(const Words& words, std::size_t commands, double enough = kNever) {
    return merit(look(words, commands, enough));
  }
  double control_of(const Words& words, const Job& job);

  const Job& job_;
  const firmware::Dataflow& dataflow_;
  Replays& replays_;
  Known& known_;           // of the job
  std::size_t count_ = 0;  // parameters
  double bus_share_, l1_share_, command_;
  std::map<Words, double> merits_, control_;
  std::vector<std::pair<double, Words>> found_;
  double least_;
  std::set<Words> ends_;
  bool rough_;
  std::size_t at_first_, commands_;  // that are looked at first, and that a merit is for now
  Need nearest_;
  Words nearest_words_;
};

}  // namespace attnvp::mapping
