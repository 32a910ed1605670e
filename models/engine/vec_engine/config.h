// Parameters of the vector engine.
#pragma once

#include <cstdint>
#include <string>

#include "models/engine/config.h"

namespace attnvp {

struct VecConfig {
  std::uint32_t lanes = 256;
  std::uint32_t softmax_lane_cycles = 32;  // lane-cycles per element of a row softmax
  std::uint32_t max_lane_cycles = 2;       // per element of the primitive row operations
  std::uint32_t add_lane_cycles = 2;       // also subtraction
  std::uint32_t mul_lane_cycles = 2;
  std::uint32_t exp_lane_cycles = 20;
  std::uint32_t div_lane_cycles = 6;
  std::uint32_t pipeline_cycles = 16;  // last element in to last result out
  std::uint32_t queue_depth = 16;      // descriptors
  std::string kind = "model";

  static void describe(config::Keys<VecConfig>& key) {
    using namespace config;
    using C = VecConfig;
    const auto lane_cycles = [](const std::string& operation, const std::string& what) {
      return number(
          operation + "_lane_cycles", Unit::kCycles, 0, 65536,
          "lane-cycles per " + what + " in the primitive row operations (one-pass softmax, norms, sums, activations)");
    };
    key(number("lanes", Unit::kCount, 1, 65536, "lanes of a VEC engine"), &C::lanes);
    key(number("softmax_lane_cycles", Unit::kCycles, 1, 65536, "lane-cycles per element of a row softmax"),
        &C::softmax_lane_cycles);
    key(lane_cycles("max", "maximum"), &C::max_lane_cycles);
    key(lane_cycles("add", "sum or difference"), &C::add_lane_cycles);
    key(lane_cycles("mul", "product"), &C::mul_lane_cycles);
    key(lane_cycles("exp", "exponential"), &C::exp_lane_cycles);
    key(lane_cycles("div", "quotient or root"), &C::div_lane_cycles);
    key(pipeline_cycles_key("element"), &C::pipeline_cycles);
    key(queue_depth_key("a VEC engine holds"), &C::queue_depth);
    key(config::kind("kind", "vec", "the VEC engines"), &C::kind);
  }
};

}  // namespace attnvp
