// Chooses what a schedule leaves open, on the host, from the dataflow's declaration and its own command stream: no
// dataflow is known here by name.
//
// What is structural (parameters with a word of their own, such as "stream") is gone through; from a first guess for
// the others, shrunk until it fits, one parameter after the other takes the value with the least estimate, until none
// of them gets better.
#pragma once

#include <cstdint>
#include <memory>

#include "mapping/candidates.h"
#include "mapping/estimate.h"
#include "mapping/judge.h"
#include "mapping/replays.h"
#include "models/machine.h"

namespace attnvp::mapping {

struct Choice {
  bool fits = false;
  Words words;                 // complete, if it fits
  hal::JobResult refusal{};    // why it does not: firmware's word on the smallest schedule that was tried,
  std::uint64_t l1_bytes = 0;  //   and what that takes of L1
  double cycles = 0;           // estimated, where something was open,
  double commands = 0;         //   and of all clusters
};

// A choice that is made part by part, so that several can be held against each other meanwhile, and those that stay
// behind are left.
class Chooser {
 public:
  // `job` with the words that are given, 0 for those that are open. Both others outlive this.
  Chooser(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance = Glance::kUsual);
  // Of what is left open in `job` only what steps from there lead to.
  Chooser(const Job& job, const firmware::Dataflow& dataflow, Replays& replays, Glance glance, const Words& from);
  ~Chooser();
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  // The choice is begun from these words, too, which are complete: where another one has got to. Before the first part.
  void begin_from(const Words& from);
  // The next part. False: there is none left. Where there has been enough effort (Replays::effort) nothing comes of it.
  bool advance();
  // Of the best that was found, by the first commands of its stream: {infinite} where none fits.
  Estimate best();
  // Whether the commands are those of the other one, of the same parameters, which has been begun: of the best of it,
  // and of every parameter with another value of it than that.
  bool does_as(Chooser& other);
  // The choice as far as it has got; before the first part, where it begins.
  Choice choice();
  // What best() is of: not looked at closely. It does not fit where there is none.
  Choice likeliest();

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

// All of it.
Choice choose(const Job& job, const firmware::Dataflow& dataflow, Replays& replays);
// Where that begins, in a fraction of its time: what the dataflow is good for on that machine, roughly.
Choice look(const Job& job, const firmware::Dataflow& dataflow, Replays& replays);

}  // namespace attnvp::mapping
