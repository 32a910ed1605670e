// Detection of a steady state: of commands that repeat while the state of all modules does, too. The platform then
// advances by whole periods. Times and counts are those of a run that simulates every command.
//
// The control processor shows every access of its firmware. At the doorbells of one queue, the state of all modules and
// of the event queue is digested (Module::visit_state). If an earlier doorbell had the same state, the accesses between
// both are a period. Firmware then runs without time: each access is answered as in the period, as long as it equals
// that access. Addresses in DRAM and trace labels may differ, since no time depends on them. The first access that
// differs ends this. The counts of whole periods are added, their cycles are counted as skipped, and the accesses of
// the part of a period that is left are made.
//
// Periods may contain periods. One cluster with a `native` control processor, in timing mode without traces.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/sim/module.h"
#include "models/sim/state_visitor.h"

namespace attnvp {

class SteadyState {
 public:
  struct FirmwareAccess {
    bool write;
    std::uint64_t address;
    void* data;
    std::size_t bytes;
  };
  // The processor's bus. Returns whether the access was accepted.
  class ProcessorBus {
   public:
    virtual bool perform(const FirmwareAccess& access) = 0;

   protected:
    ~ProcessorBus() = default;
  };

  SteadyState(Context& context, const std::vector<Module*>& modules, std::uint64_t dram_bytes);

  bool is_possible();                // every module shows its state
  void begin(std::uint64_t end_fs);  // firmware begins; it is refused accesses from that time on
  bool access(const FirmwareAccess& access, ProcessorBus& bus);
  void end(ProcessorBus& bus);  // firmware has ended

 private:
  struct AccessRecord {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    bool write = false, is_ok = true;
    bool is_descriptor = false;
    bool moves = false;        // a descriptor whose address in DRAM may differ:
    std::uint8_t operand = 0;  // of this operand,
    std::uint8_t tag = 0;      // in the range of this tag
    std::uint64_t moved = 0;   // that address
    std::uint64_t extent = 0;  // from the first byte of that operand to its last
    std::size_t data = 0;      // position in data_: what was written or read; repetitions share it
  };
  static constexpr std::size_t kNone = SIZE_MAX;
  struct StateBoundary {
    std::uint64_t position = 0;           // in the order of accesses
    std::uint64_t cycle = 0;              // with the skipped ones
    std::size_t sums = 0, sum_count = 0;  // in sums_
    std::size_t former = kNone;           // boundary with the same digest
  };
  // Accesses from `first` on, before the current one.
  struct AccessPeriod {
    std::size_t boundary = kNone;  // at which it begins
    std::uint64_t first = 0, accesses = 0;
    std::uint64_t cycles = 0;
    std::vector<std::uint64_t> sums;  // what the sums grow by
    std::uint64_t repeated = 0;       // accesses that were answered as in the period
    std::vector<std::uint64_t> last;  // addresses in DRAM, of the latest repetition
    // Ranges that are read and written: their addresses move together, by the same distance from period to period.
    struct MovedRange {
      bool is_read = false, is_written = false, has_moved = false;
      std::uint64_t distance = 0;
    };
    std::array<MovedRange, 256> ranges{};
  };

  void forget();
  bool is_boundary(const FirmwareAccess& access);
  bool find_period();
  bool visit();
  bool begin_period(std::size_t boundary);
  bool repeats(const FirmwareAccess& access, bool& is_ok);
  bool is_in_time();
  bool equals(const AccessRecord& made, const void* data, const AccessRecord& record) const;
  bool moves_along(std::uint64_t index, std::uint64_t address);
  bool follow_former(const AccessRecord& made, const void* data);
  std::uint64_t shape_under_construction() const;
  AccessRecord record_of(const FirmwareAccess& access, bool is_descriptor) const;
  void record(const FirmwareAccess& access, bool is_ok);
  void leave(ProcessorBus& bus);
  void advance(std::uint64_t periods);
  std::uint64_t end_of_records() const { return first_ + records_.size(); }
  const AccessRecord& at(std::uint64_t position) const { return records_[position - first_]; }

  Context& ctx_;
  const std::vector<Module*>& modules_;
  const std::uint64_t dram_end_;
  std::uint64_t end_fs_ = UINT64_MAX;

  std::vector<AccessRecord> records_;  // from position first_ on
  std::uint64_t first_ = 0;
  std::vector<unsigned char> data_;
  std::vector<StateBoundary> boundaries_;
  std::unordered_map<std::uint64_t, std::size_t> latest_;  // boundary of a digest
  std::vector<std::uint64_t> sums_;
  sim::StateVisitor visitor_;
  std::uint64_t queue_ = 0;      // whose doorbells are boundaries
  int rank_ = 0;                 // of that queue
  std::uint64_t sampled_ = 0;    // mask: a boundary is taken if these bits of its descriptor's digest are 0
  std::uint64_t unmatched_ = 0;  // boundaries since the last advance
  bool is_repeating_ = false;
  bool is_cut_ = false;  // some repetitions are not in records_
  AccessPeriod period_;
};

}  // namespace attnvp
