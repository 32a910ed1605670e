// Mutation test of the schedule checker. Mutants of all schedules are checked and run; a mutant that passes the check
// must give the same bytes for all timings.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::mutation {

struct Tally {
  std::uint64_t mutants = 0;
  std::uint64_t found = 0;     // by the checker
  std::uint64_t seen = 0;      // found ones that failed in a run
  std::uint64_t by_run = 0;    // only by the run: golden check or fault
  std::uint64_t harmless = 0;  // not found, and equal bytes for all seeds of jitter
  std::uint64_t missed = 0;    // not found, and other bytes or a deadlock
  std::string examples;        // of missed mutants
  Tally& operator+=(const Tally& o);
};

// Runs `mutants` mutants over all dataflows, or for `only` the dataflows with that prefix as many as they would get.
// Runs without failure repeat with `seeds` seeds of jitter. Prints a table.
Tally campaign(std::uint64_t mutants, std::uint64_t seeds, const std::string& only = {});

}  // namespace attnvp::mutation
