// Chosen tilings on disk: $XDG_CACHE_HOME/attnvp/tilings.sqlite, or ~/.cache/attnvp/tilings.sqlite.
//
// The key is a hash of machine, layer, dataflow, options, what was given of the tiling, the tuner's settings and the
// simulator's sources, so that results are the same with and without the cache. A cache that cannot be read or written
// is not used, without a word; several processes may use one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"

namespace SQLite {
class Database;
}

namespace attnvp::explore {

// Empty where the machine contains a plug-in, whose results are not known to stay the same.
std::string cache_key(const Problem& problem, const TuningOptions& options);

// A hash of all sources that results depend on.
std::string simulator_fingerprint();

class Cache {
 public:
  explicit Cache(bool use);
  ~Cache();
  std::optional<job::Tiling> find(const std::string& key, const schedule::FirmwareImage& firmware) const;
  void store(const std::string& key, const Problem& problem, const job::Tiling& tiling, double cycles) const;

  struct Entry {
    std::string machine, network, dataflow, tiling;
    std::uint64_t cycles = 0;
  };
  // All of them, in the order in which they were stored.
  static std::vector<Entry> entries();
  // Removes the file; how many entries it had.
  static std::uint64_t clear();
  static std::string path();  // empty: there is no home

 private:
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace attnvp::explore
