// Persistent cache of chosen tilings: $XDG_CACHE_HOME/attnvp/tilings.sqlite, or ~/.cache/attnvp/tilings.sqlite.
//
// The key is a hash of machine, layer, dataflow, options, the given part of the tiling, the tuner's settings and the
// simulator's sources. Results are therefore the same with and without the cache. An unusable cache is silently
// ignored. Several processes may share one.
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

// Empty if the machine contains a plug-in, whose results may change.
std::string cache_key(const Problem& problem, const TuningOptions& options);

// Hash of all sources that affect results.
std::string simulator_fingerprint();

class Cache {
 public:
  explicit Cache(bool use);
  ~Cache();
  std::optional<job::Tiling> find(const std::string& key, const schedule::FirmwareImage& firmware) const;
  void store(const std::string& key, const Problem& problem, const job::Tiling& tiling, double cycles) const;

  struct CachedTiling {
    std::string machine, network, dataflow, tiling;
    std::uint64_t cycles = 0;
  };
  // All entries, in insertion order.
  static std::vector<CachedTiling> entries();
  // Removes the file and returns the number of its entries.
  static std::uint64_t clear();
  static std::string path();  // empty if there is no home directory

 private:
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace attnvp::explore
