// Mutants of the schedules that there are, each examined and run: what the checker passes must give the same bytes,
// whatever takes how long.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::mutation {

struct Tally {
  std::uint64_t mutants = 0;
  std::uint64_t found = 0;     // by the checker
  std::uint64_t seen = 0;      // of those found: that went wrong in a run
  std::uint64_t by_run = 0;    // only by the run itself: its golden check, or a fault
  std::uint64_t harmless = 0;  // neither, and the same bytes with all seeds of jitter
  std::uint64_t missed = 0;    // other bytes, or a hang
  std::string examples;        // of those missed
  Tally& operator+=(const Tally& o);
};

// So many mutants over all dataflows, or as many of those that begin so as they get then; with so many seeds of jitter
// where nothing goes wrong before. Prints a table.
Tally campaign(std::uint64_t mutants, std::uint64_t seeds, const std::string& only = {});

}  // namespace attnvp::mutation
