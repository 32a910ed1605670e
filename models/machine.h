// The machine's parameters: one plain struct per module, filled by platform/config, read by the models.
// No SystemC here, so that tools can handle machines without building one. Units are in the names;
// "cycles" are cycles of the platform clock.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp {

struct MacConfig {
  std::uint32_t rows = 16;             // processing elements down the array: rows of C in flight
  std::uint32_t columns = 16;          // processing elements across the array: columns of C in flight
  std::uint32_t pipeline_cycles = 30;  // last operand in to last result out (skew of the array)
  std::uint32_t queue_depth = 16;      // descriptors
  // Row operations on the processing elements themselves. Tiles of rows x columns scores that their registers hold; 0:
  // they only multiply and add.
  std::uint32_t resident_tiles = 0;
  std::uint32_t max_cycles = 1;     // of every PE, per element
  std::uint32_t add_cycles = 1;     // likewise: subtraction, a term of a sum
  std::uint32_t exp_cycles = 6;     // likewise: a chain of multiply-adds
  std::uint32_t reduce_cycles = 0;  // for a row's maximum to pass from PE to PE, behind the last one's
};

// The SystemC model of the datapath, or its RTL.
enum class VecKind : std::uint8_t { kModel, kRtl };

struct VecConfig {
  VecKind kind = VecKind::kModel;
  std::uint32_t lanes = 256;
  std::uint32_t softmax_lane_cycles = 32;  // lane-cycles per element of a row softmax
  std::uint32_t max_lane_cycles = 2;       // per element of the primitive row operations
  std::uint32_t add_lane_cycles = 2;       // also subtraction
  std::uint32_t mul_lane_cycles = 2;
  std::uint32_t exp_lane_cycles = 20;
  std::uint32_t div_lane_cycles = 6;
  std::uint32_t pipeline_cycles = 16;  // last element in to last result out
  std::uint32_t queue_depth = 16;      // descriptors
};

struct RegisterFileConfig {  // L0, one per core
  std::uint64_t size_bytes = 64 << 10;
};

struct ScratchpadConfig {  // L1, one per cluster
  std::uint64_t size_bytes = 5 << 20;
  std::uint32_t banks = 16;
  std::uint32_t bank_bytes_per_cycle = 32;  // banks x this = what all ports together can move
  std::uint32_t ports = 5;                  // initiators are spread over the ports in turn
  std::uint32_t port_bytes_per_cycle = 64;
};

// Whose burst goes next: the oldest descriptor's, deferrable ones last; the lowest channel's; every channel's in turn.
enum class DmaArbitration : std::uint8_t { kAge, kPriority, kRoundRobin };

struct DmaConfig {
  std::uint32_t channels = 4;
  std::uint32_t burst_bytes = 1024;  // largest piece of one transfer sent to DRAM as one transaction
  std::uint32_t outstanding = 4;     // bursts under way at once, over all channels
  std::uint32_t queue_depth = 16;    // descriptors per channel
  DmaArbitration arbitration = DmaArbitration::kAge;
};

enum class DramPolicy : std::uint8_t { kFixed };

struct DramConfig {
  DramPolicy policy = DramPolicy::kFixed;
  std::uint64_t size_bytes = 6ULL << 30;
  double bytes_per_second = 30e9;
  double latency_seconds = 20e-9;  // request to first data, row open
};

struct EventUnitConfig {
  std::uint32_t events = 256;  // counting semaphores per cluster
};

enum class CpuKind : std::uint8_t { kNative };

struct ControlConfig {
  CpuKind cpu = CpuKind::kNative;
  std::uint32_t access_cycles = 1;  // per bus access of up to bus_bytes
  std::uint32_t bus_bytes = 8;      // width of the control bus
};

struct MachineConfig {
  std::string name = "edge";
  double clock_hz = 3.75e9;
  std::uint32_t clusters = 1;
  std::uint32_t cores = 2;  // per cluster
  MacConfig mac;
  VecConfig vec;
  RegisterFileConfig l0;
  ScratchpadConfig l1;
  DmaConfig dma;
  DramConfig dram;
  EventUnitConfig events;
  ControlConfig control;
  std::string energy = "pat";  // name under configs/energy or a path
};

}  // namespace attnvp
