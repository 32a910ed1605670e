// DRAM behind a cache that all clusters share, like the L2 of a GPU (`dram.policy: cached`). The cache replaces the
// least recently used line and has its own bandwidth and latency. Misses use the DRAM bus as `fixed` does, sector by
// sector. A sector in transfer serves further requests when the transfers of its line have ended. Writes stay in the
// cache. They use the DRAM bus immediately, or with `l2_write_back` when their line is evicted. Delays are annotated.
//
// With `l2_warm` the cache initially holds the job's inputs, up to its capacity, as after an equal job. This models a
// kernel that is timed repeatedly. `l2_warm_percent` is the share of the lines that it holds of them.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/config.h"
#include "models/memory/memory.h"
#include "models/memory/storage/contents.h"

namespace attnvp {

// Tags of a set-associative cache with LRU replacement. Each line has a bit per sector, which the user of the line
// maintains. Lines are stored in the order of their first use: those of a tensor are neighbours in memory.
class LineCache {
 public:
  // ways 0: fully associative.
  LineCache(std::uint64_t lines, std::uint64_t ways)
      : ways_(ways == 0 || ways > lines ? lines : ways), sets_(lines / ways_) {}

  struct CacheLine {
    std::uint64_t present = 0, coming = 0, dirty = 0;  // sectors; those in `coming` arrive
    std::uint64_t ready = 0;                           // in this cycle
  };
  struct LineTouch {
    CacheLine* line = nullptr;  // valid up to the next touch
    bool hit = false;
    bool evicted = false;          // a line was evicted,
    std::uint64_t wrote_back = 0;  // and these of its sectors were dirty
  };
  // Makes the line present and most recently used.
  LineTouch touch(std::uint64_t line);
  void clear();

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint64_t kPage = 4096;  // lines
  struct StoredLine {
    CacheLine state;
    std::uint64_t line = 0;
    std::uint32_t newer = kNone, older = kNone;  // slots of the set, by use
  };
  struct Set {
    std::uint64_t lines = 0;
    std::uint32_t newest = kNone, oldest = kNone;
  };
  std::uint32_t& slot_of(std::uint64_t line);  // kNone: the cache does not have the line
  void unlink(Set& set, std::uint32_t slot);
  void link_as_newest(Set& set, std::uint32_t slot);

  std::uint64_t ways_;
  std::vector<Set> sets_;
  std::vector<StoredLine> slots_;
  std::vector<std::vector<std::uint32_t>> pages_;  // slots of kPage lines each; empty without any
};

// The cache as a module, with its counters and energies.
class L2 : public Module {
 public:
  using Module::Module;

  Counter read_words{*this, "read_words", "16-bit words", "words read from it", {"attnvp.l2", "read", true}};
  Counter write_words{
      *this, "write_words", "16-bit words", "words written to it, lines from DRAM too", {"attnvp.l2", "write", true}};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which the busiest slice moves data"};
};

class CachedDram : public Memory, private Target {
 public:
  CachedDram(sc_core::sc_module_name name, const ModuleContext& module_context);

  bool is_approximately_timed() const override { return true; }
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  std::uint64_t size_bytes() const override { return config_.size_bytes; }
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words that missed the cache", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.dram", "write"}};
  Counter hit_words{*this, "hit_words", "16-bit words", "words read that the cache had"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which data crosses the DRAM's bus"};
  Counter l2_busy_cycles{*this, "l2_busy_cycles", "cycles",
                         "cycles in which the busiest slice of the cache moves data"};

 private:
  // Data bus: serves transfers in order of request. Ends are derived from bytes, without accumulated rounding.
  class DataBus {
   public:
    explicit DataBus(double bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}
    std::uint64_t take(std::uint64_t arrival, std::uint64_t bytes);  // returns the cycle of its end
    std::uint64_t cycles() const;                                    // busy cycles up to now
    // End of the last transfer in cycles, not rounded; and the cycles that `bytes` need.
    double end() const { return static_cast<double>(from_) + needs(bytes_); }
    double needs(std::uint64_t bytes) const { return static_cast<double>(bytes) / bytes_per_cycle_; }
    void reset() { from_ = bytes_ = all_ = 0; }

   private:
    double bytes_per_cycle_;
    std::uint64_t from_ = 0, bytes_ = 0, all_ = 0;
  };
  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) override { return contents_.peek(payload); }
  std::uint64_t sectors(std::uint64_t from, std::uint64_t bytes) const;  // mask of sectors of a line
  std::uint64_t bytes_of(std::uint64_t sectors) const;
  bool was_warm(std::uint64_t line) const;
  void tell(const Counter& words, const DataBus& bus, std::uint64_t bytes);
  std::uint64_t fill(std::uint64_t asked, std::uint64_t bytes);  // loads bytes of a line from DRAM; returns their cycle

  TargetSocket in_{"in", ctx_.event_queue, *this};
  L2 l2_;
  DramConfig config_;
  CacheConfig cache_;
  std::uint64_t sector_bytes_;
  Contents contents_;
  DataBus dram_;
  std::vector<DataBus> slices_;
  std::uint64_t latency_cycles_, l2_latency_cycles_, l2_write_latency_cycles_;
  bool full_ = false;  // a line was evicted
  LineCache lines_;
  boost::circular_buffer<std::uint64_t> fills_;  // arrival cycles of the latest fills, as many as may be in flight
};

}  // namespace attnvp
