// Parameters of engines: the matrix and the vector engine of each core and the DMA controller of each cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "models/keys/key.h"

namespace attnvp {

// Keys that several engines share.
inline config::KeyInfo queue_depth_key(const std::string& what) {
  return config::number("queue_depth", config::KeyUnit::kCount, 2, 4096,
                        "descriptors that " + what + "; a full queue stalls the writer");
}

inline config::KeyInfo pipeline_cycles_key(const std::string& what) {
  return config::number("pipeline_cycles", config::KeyUnit::kCycles, 0, 65536,
                        "last " + what + " in to last result out");
}

// Arbitration of bursts. kAge: the oldest descriptor, deferrable ones last. kPriority: the lowest channel. kRoundRobin:
// each channel in turn.
enum class DmaArbitration : std::uint8_t { kAge, kPriority, kRoundRobin };
// KeyUnit of the limits on outstanding bursts: bursts of any length (kBursts), or bytes of full bursts (kBytes). The
// latter suits machines whose loads reserve registers or cache lines for their data.
enum class DmaCounts : std::uint8_t { kBursts, kBytes };

// Parameters of the DMA controller, one per cluster.
struct DmaConfig {
  std::string kind = "model";
  std::uint32_t channels = 4;
  std::uint32_t burst_bytes = 1024;       // largest part of a transfer that is one transaction
  std::uint32_t outstanding = 4;          // bursts in flight, over all channels
  std::uint32_t channel_outstanding = 0;  // bursts in flight of one channel; 0: as over all channels
  DmaCounts counts = DmaCounts::kBursts;  // unit of both limits
  bool in_order = true;                   // bursts are written and free their entries in the order of their reads
  std::uint32_t queue_depth = 16;         // descriptors per channel
  DmaArbitration arbitration = DmaArbitration::kAge;

  // Bytes that a burst takes of the limits.
  std::uint64_t counted(std::uint64_t bytes) const {
    constexpr std::uint64_t kLeast = 32;
    return counts == DmaCounts::kBursts ? burst_bytes : bytes < kLeast ? kLeast : bytes;
  }
  // Limits in bytes; the last burst may exceed them.
  std::uint64_t most_counted() const { return std::uint64_t{outstanding} * burst_bytes; }
  std::uint64_t most_of_a_channel() const {
    return std::uint64_t{channel_outstanding == 0 ? outstanding : channel_outstanding} * burst_bytes;
  }

  static void describe(config::Keys<DmaConfig>& key) {
    using namespace config;
    using C = DmaConfig;
    key(config::kind("kind", "dma", "the DMA controller of a cluster"), &C::kind);
    key(number("channels", KeyUnit::kCount, 2, 16, "channels of a cluster's DMA controller, each with a queue"),
        &C::channels);
    key(power_of_two("burst", KeyUnit::kBytes, 16, kMiB, "largest piece sent to DRAM as one transaction"),
        &C::burst_bytes);
    key(number("outstanding", KeyUnit::kCount, 1, 4096, "bursts under way at once, over all channels"),
        &C::outstanding);
    key(number("channel_outstanding", KeyUnit::kCount, 0, 4096,
               "bursts under way at once of one channel, 0: as many as of all; decoding gives each core's loads a "
               "channel, so that this is what one core can draw"),
        &C::channel_outstanding);
    key(choice("counts", {"bursts", "bytes"},
               "what of them: bursts, however short, or bytes, of as many bursts of full length, of which a short one "
               "takes its own, or 32"),
        &C::counts);
    key(flag("in_order", "bursts make room for others in the order in which they were sent; false: as they are done"),
        &C::in_order);
    key(queue_depth_key("a DMA channel holds"), &C::queue_depth);
    key(choice("arbitration", {"age", "priority", "round-robin"},
               "who gets the next burst: the oldest descriptor (deferrable ones last), the lowest channel number, or "
               "each in turn"),
        &C::arbitration);
  }
};

// Parameters of the matrix engine.
struct MacConfig {
  std::uint32_t rows = 16;     // processing elements down the array: rows of C in flight
  std::uint32_t columns = 16;  // processing elements across the array: columns of C in flight
  // Arrays of rows x columns PEs that hold a part of B, rows deep, and that rows of A cross; 0: one array whose PEs
  // hold C.
  std::uint32_t weight_arrays = 0;
  std::uint32_t pipeline_cycles = 30;  // last operand in to last result out (skew of the array)
  std::uint32_t queue_depth = 16;      // descriptors
  // Row operations on the processing elements. Number of tiles of rows x columns scores that their registers hold; 0:
  // PEs only multiply and add.
  std::uint32_t resident_tiles = 0;
  std::uint32_t max_cycles = 1;     // per PE and element
  std::uint32_t add_cycles = 1;     // the same: subtraction, or a term of a sum
  std::uint32_t exp_cycles = 6;     // the same: a sequence of multiply-adds
  std::uint32_t reduce_cycles = 0;  // for a row's maximum to pass from PE to PE, after the last PE's own
  // Steps of k per cycle, by element type; 0: PEs do not multiply it.
  std::uint32_t fp16_rate = 1, bf16_rate = 1, int8_rate = 1, fp8_rate = 1;
  std::uint32_t sustained_percent = 100;  // of the array's steps of k: what instructions reach of the peak rate
  std::string accumulators = "pe";        // location of partial sums during k: registers of the PEs, or L0
  std::string kind = "model";

  std::uint64_t pes() const { return std::uint64_t{rows} * columns * std::max(weight_arrays, 1U); }

  static void describe(config::Keys<MacConfig>& key) {
    using namespace config;
    using C = MacConfig;
    key(number("rows", KeyUnit::kCount, 1, 1024, "processing elements down the array: rows of the result in flight"),
        &C::rows);
    key(number("columns", KeyUnit::kCount, 1, 1024,
               "processing elements across the array: columns of the result in flight"),
        &C::columns);
    key(number("weight_arrays", KeyUnit::kCount, 0, 64,
               "arrays side by side that hold operand B, rows deep; 0: one array, which holds the result"),
        &C::weight_arrays);
    key(pipeline_cycles_key("operand"), &C::pipeline_cycles);
    key(queue_depth_key("a MAC engine holds"), &C::queue_depth);
    key(number("resident_tiles", KeyUnit::kCount, 0, 4096,
               "array-sized tiles of scores that the PEs' registers hold for row operations; 0: PEs have none"),
        &C::resident_tiles);
    key(number("max_cycles", KeyUnit::kCycles, 0, 1024, "a PE's for a maximum"), &C::max_cycles);
    key(number("add_cycles", KeyUnit::kCycles, 0, 1024, "a PE's for a difference or a sum"), &C::add_cycles);
    key(number("exp_cycles", KeyUnit::kCycles, 0, 1024, "a PE's for an exponential: its multiply-adds"),
        &C::exp_cycles);
    key(number("reduce_cycles", KeyUnit::kCycles, 0, 65536,
               "for a row's maximum to pass through the array, behind the last PE's own"),
        &C::reduce_cycles);
    key(number("fp16_rate", KeyUnit::kCount, 0, 1, "1: PEs multiply FP16, once in a cycle; 0: they do not"),
        &C::fp16_rate);
    key(number("bf16_rate", KeyUnit::kCount, 0, 1, "1: PEs multiply BF16, once in a cycle; 0: they do not"),
        &C::bf16_rate);
    key(number("int8_rate", KeyUnit::kCount, 0, 64,
               "multiply-accumulates of a PE in a cycle, of INT8; 0: PEs do not multiply it"),
        &C::int8_rate);
    key(number("fp8_rate", KeyUnit::kCount, 0, 64,
               "multiply-accumulates of a PE in a cycle, of FP8; 0: PEs do not multiply it"),
        &C::fp8_rate);
    key(number(
            "sustained_percent", KeyUnit::kCount, 1, 100,
            "share of its peak rate that the array sustains, in percent: what instructions and their fragments allow"),
        &C::sustained_percent);
    key(choice("accumulators", {"pe", "l0"},
               "where partial sums are: registers of the PEs, or L0, read and written at every step (MAS-Attention)"),
        &C::accumulators);
    key(config::kind("kind", "mac", "the MAC engines"), &C::kind);
  }
};

// Parameters of the vector engine.
struct VecConfig {
  std::uint32_t lanes = 256;
  std::uint32_t rows = 1;                  // rows that softmax and reductions process side by side
  std::uint32_t softmax_lane_cycles = 32;  // lane-cycles per element of a row softmax
  std::uint32_t max_lane_cycles = 2;       // per element of the primitive row operations
  std::uint32_t add_lane_cycles = 2;       // also subtraction
  std::uint32_t mul_lane_cycles = 2;
  std::uint32_t exp_lane_cycles = 20;
  std::uint32_t div_lane_cycles = 6;
  std::uint32_t update_lane_cycles = 0;
  bool reciprocals = false;
  bool exp_unit = false;               // exponentials in a unit of their own beside the lanes
  bool computes_masked = false;        // masked elements take the lanes too
  std::uint32_t pipeline_cycles = 16;  // last element in to last result out
  std::uint32_t queue_depth = 16;      // descriptors
  std::string kind = "model";

  std::uint64_t row_lanes() const { return std::max(lanes / rows, 1U); }  // of one of the rows side by side

  static void describe(config::Keys<VecConfig>& key) {
    using namespace config;
    using C = VecConfig;
    const auto lane_cycles = [](const std::string& operation, const std::string& what) {
      return number(
          operation + "_lane_cycles", KeyUnit::kCycles, 0, 65536,
          "lane-cycles per " + what + " in the primitive row operations (one-pass softmax, norms, sums, activations)");
    };
    key(number("lanes", KeyUnit::kCount, 1, 65536, "lanes of a VEC engine"), &C::lanes);
    key(number("rows", KeyUnit::kCount, 1, 64,
               "rows that softmax, norms and maxima process side by side, each on its share of the lanes"),
        &C::rows);
    key(number("softmax_lane_cycles", KeyUnit::kCycles, 1, 65536, "lane-cycles per element of a row softmax"),
        &C::softmax_lane_cycles);
    key(lane_cycles("max", "maximum"), &C::max_lane_cycles);
    key(lane_cycles("add", "sum or difference"), &C::add_lane_cycles);
    key(lane_cycles("mul", "product"), &C::mul_lane_cycles);
    key(lane_cycles("exp", "exponential"), &C::exp_lane_cycles);
    key(lane_cycles("div", "quotient or root"), &C::div_lane_cycles);
    key(lane_cycles("update",
                    "element of running sums and tile beside their product and sum, as of kernels that divide the sums "
                    "and store maxima and denominators as whole vectors after every tile,"),
        &C::update_lane_cycles);
    key(flag("reciprocals",
             "a row of sums is divided by one quotient, its denominator's reciprocal, and a product for each element; "
             "false: by a quotient for each element"),
        &C::reciprocals);
    key(flag("exp_unit",
             "exponentials of primitive row operations have a unit of their own: they take as long, while the lanes "
             "work on other elements"),
        &C::exp_unit);
    key(flag("computes_masked",
             "masked elements of softmax take as long as visible ones, as on lanes that execute one instruction; "
             "false: they are skipped"),
        &C::computes_masked);
    key(pipeline_cycles_key("element"), &C::pipeline_cycles);
    key(queue_depth_key("a VEC engine holds"), &C::queue_depth);
    key(config::kind("kind", "vec", "the VEC engines"), &C::kind);
  }
};

}  // namespace attnvp
