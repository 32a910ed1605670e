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

// Entry of a problem. Not used if `options` exclude the cache, or if there is no key.
class Cache {
 public:
  Cache(const Problem& problem, const TuningOptions& options);
  ~Cache();
  std::optional<job::Schedule> find() const;
  void store(const Evaluation& chosen) const;

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
  const Problem& problem_;
  std::string key_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace attnvp::explore
