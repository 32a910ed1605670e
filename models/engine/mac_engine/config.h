// Parameters of the matrix engine.
#pragma once

#include <cstdint>
#include <string>

#include "models/engine/config.h"

namespace attnvp {

struct MacConfig {
  std::uint32_t rows = 16;             // processing elements down the array: rows of C in flight
  std::uint32_t columns = 16;          // processing elements across the array: columns of C in flight
  std::uint32_t pipeline_cycles = 30;  // last operand in to last result out (skew of the array)
  std::uint32_t queue_depth = 16;      // descriptors
  // Row operations on the processing elements. Number of tiles of rows x columns scores that their registers hold; 0:
  // PEs only multiply and add.
  std::uint32_t resident_tiles = 0;
  std::uint32_t max_cycles = 1;     // per PE and element
  std::uint32_t add_cycles = 1;     // the same: subtraction, or a term of a sum
  std::uint32_t exp_cycles = 6;     // the same: a sequence of multiply-adds
  std::uint32_t reduce_cycles = 0;  // for a row's maximum to pass from PE to PE, after the last PE's own
  std::uint32_t int8_rate = 1;      // steps of k per cycle, for these types
  std::uint32_t fp8_rate = 1;
  std::string accumulators = "pe";  // location of partial sums during k: registers of the PEs, or L0
  std::string kind = "model";

  static void describe(config::Keys<MacConfig>& key) {
    using namespace config;
    using C = MacConfig;
    key(number("rows", Unit::kCount, 1, 1024, "processing elements down the array: rows of the result in flight"),
        &C::rows);
    key(number("columns", Unit::kCount, 1, 1024,
               "processing elements across the array: columns of the result in flight"),
        &C::columns);
    key(pipeline_cycles_key("operand"), &C::pipeline_cycles);
    key(queue_depth_key("a MAC engine holds"), &C::queue_depth);
    key(number("resident_tiles", Unit::kCount, 0, 4096,
               "array-sized tiles of scores that the PEs' registers hold for row operations; 0: PEs have none"),
        &C::resident_tiles);
    key(number("max_cycles", Unit::kCycles, 0, 1024, "a PE's for a maximum"), &C::max_cycles);
    key(number("add_cycles", Unit::kCycles, 0, 1024, "a PE's for a difference or a sum"), &C::add_cycles);
    key(number("exp_cycles", Unit::kCycles, 0, 1024, "a PE's for an exponential: its multiply-adds"), &C::exp_cycles);
    key(number("reduce_cycles", Unit::kCycles, 0, 65536,
               "for a row's maximum to pass through the array, behind the last PE's own"),
        &C::reduce_cycles);
    key(number("int8_rate", Unit::kCount, 1, 64, "multiply-accumulates of a PE in a cycle, of INT8"), &C::int8_rate);
    key(number("fp8_rate", Unit::kCount, 1, 64, "multiply-accumulates of a PE in a cycle, of FP8"), &C::fp8_rate);
    key(choice("accumulators", {"pe", "l0"},
               "where partial sums are: registers of the PEs, or L0, read and written at every step (MAS-Attention)"),
        &C::accumulators);
    key(config::kind("kind", "mac", "the MAC engines"), &C::kind);
  }
};

}  // namespace attnvp
