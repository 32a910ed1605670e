// What a descriptor needs of the matrix engine (mac_engine.h), and how much work is in it. No simulation: the engine
// runs by it, readers of the command stream count by it.
#pragma once

#include <cstdint>
#include <cstring>

#include "models/engine/plan.h"
#include "models/mac_engine/tile_ops.h"
#include "models/machine.h"

namespace attnvp {

// What a descriptor's sums are multiplied with before they are rounded.
inline float scale_of(const hal::Descriptor& d) {
  float scale = 1;
  if ((d.flags & hal::kScaled) != 0) std::memcpy(&scale, &d.tail.rule.scale, sizeof scale);
  return scale;
}

struct MacWork {
  std::uint64_t macs = 0;           // useful multiply-accumulates
  std::uint64_t slots = 0;          // cycles times processing elements while computing, idle ones included
  std::uint64_t accumulations = 0;  // of sums that the PEs' registers hold
  std::uint64_t max_ops = 0, add_ops = 0, exp_ops = 0;
  MacWork& operator+=(const MacWork& o);
};

class MacPlanner {
 public:
  explicit MacPlanner(const MacConfig& config) : config_(config), resident_(config) {}

  // Fills the plan, or says what is wrong with the descriptor. Notes the tiles that stay in the array.
  Refusal plan(const hal::Descriptor& descriptor, Plan& plan);
  MacWork work(const hal::Descriptor& descriptor) const;

  std::uint64_t pes() const { return std::uint64_t{config_.rows} * config_.columns; }
  ResidentTiles& resident() { return resident_; }
  bool sums_in_pes() const { return config_.accumulators == "pe"; }
  static bool is_tile_op(hal::Opcode opcode) {
    return opcode == hal::Opcode::kScoreTile || opcode == hal::Opcode::kAttendTile;
  }

 private:
  Refusal plan_score(const hal::Descriptor& descriptor, Plan& plan);
  Refusal plan_attend(const hal::Descriptor& descriptor, Plan& plan) const;
  MacWork work_of_tile(const hal::Descriptor& descriptor) const;
  // Array passes that `extent` rows (or columns) need when cut into tiles of `tile` for an array of `lanes`.
  static std::uint64_t passes(std::uint64_t extent, std::uint64_t tile, std::uint64_t lanes);

  MacConfig config_;
  ResidentTiles resident_;
};

}  // namespace attnvp
