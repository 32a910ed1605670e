// Test bench: a Platform whose firmware is a test's lambda. The test acts through the control processor's bus; memories
// are filled and read by debug access.
//
// Timing: the clock is 1 GHz. DRAM moves 8 B/cycle after 100 cycles, an L1 port 64 B/cycle. The array is 16 x 16 with
// 30 cycles of skew. VEC has 256 lanes, 32 lane-cycles per element and 16 pipeline cycles. A descriptor of 128 bytes
// takes 16 cycles over an 8-byte bus, its doorbell 1; the first descriptor is in its queue kPush cycles after the
// firmware began.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/arith/half.h"
#include "models/control/control_processor/cpu.h"
#include "models/interconnect/bus/payload.h"
#include "platform/run/platform.h"

namespace attnvp::bench {

constexpr std::uint64_t kPush = 17;
constexpr std::uint64_t kL1 = hal::l1_base(0);
constexpr std::uint64_t kDram = hal::kTensorsAddress;
constexpr std::uint64_t kMac = hal::mac_base(0, 0);
constexpr std::uint64_t kVec = hal::vec_base(0, 0);
constexpr std::uint64_t channel(std::uint32_t i) { return hal::dma_base(0) + i * hal::kQueueStride; }
constexpr std::uint64_t event_register(std::uint32_t event, std::uint64_t reg) {
  return hal::events_base(0) + event * hal::kEventStride + reg;
}

inline MachineConfig machine() {
  MachineConfig m;
  m.name = "bench";
  m.clock_hz = 1e9;
  m.cores = 1;
  m.l1.size_bytes = 1 << 20;
  m.dram.size_bytes = 64 << 20;
  m.dram.bytes_per_second = 8e9;
  m.dram.latency_seconds = 100e-9;
  return m;
}

// Descriptors; rows are dense unless a stride is given.
inline hal::Descriptor nop() { return {}; }

inline hal::Descriptor after(hal::Descriptor d, std::uint32_t event, std::uint32_t tokens = 1, std::uint32_t span = 1) {
  int i = 0;
  while (d.wait[i].tokens() != 0) ++i;
  d.wait[i] = hal::event_ref(event, span, tokens);
  return d;
}

inline hal::Descriptor then(hal::Descriptor d, std::uint32_t event, std::uint32_t tokens = 1, std::uint32_t span = 1) {
  int i = 0;
  while (d.signal[i].tokens() != 0) ++i;
  d.signal[i] = hal::event_ref(event, span, tokens);
  return d;
}

struct Tile {
  std::uint16_t m, n, k;
};

// Starts from FP32 partial sums and returns them.
inline hal::Descriptor accumulating(hal::Descriptor d, std::uint64_t partials, std::uint32_t row_stride) {
  d.flags |= hal::kAccumulate;
  d.operand[3] = {partials, row_stride, d.operand[2].columns};
  d.type[3] = hal::ElementType::kFp32;
  return d;
}
inline hal::Descriptor leaving_partials(hal::Descriptor d) {
  d.type[2] = hal::ElementType::kFp32;
  return d;
}

// C = A.B, dense, FP16.
inline hal::Descriptor matmul(std::uint32_t m, std::uint32_t n, std::uint32_t k, Tile tile, std::uint64_t a,
                              std::uint64_t b, std::uint64_t c) {
  hal::Descriptor d{};
  d.opcode = hal::Opcode::kMatmul;
  d.rows = m;
  d.tail.matmul = {tile.m, tile.n, tile.k, 0};
  d.operand[0] = {a, 2 * k, k};
  d.operand[1] = {b, 2 * n, n};
  d.operand[2] = {c, 2 * n, n};
  for (int i = 0; i < 3; ++i) d.type[i] = hal::ElementType::kFp16;
  return d;
}

inline hal::Descriptor softmax(std::uint32_t rows, std::uint32_t columns, std::uint64_t in, std::uint64_t out) {
  hal::Descriptor d{};
  d.opcode = hal::Opcode::kSoftmax;
  d.rows = rows;
  d.operand[0] = {in, 2 * columns, columns};
  d.operand[1] = {out, 2 * columns, columns};
  d.type[0] = d.type[1] = hal::ElementType::kFp16;
  return d;
}

// in bytes
struct CopySide {
  std::uint64_t address;
  std::uint32_t row_stride, plane_stride;
};
inline hal::Descriptor copy(std::uint32_t row_bytes, std::uint32_t rows, std::uint32_t planes, CopySide from,
                            CopySide to) {
  hal::Descriptor d{};
  d.opcode = hal::Opcode::kCopy;
  d.length = planes > 1 ? 136 : 128;
  d.rows = rows;
  d.tail.copy = {planes, {from.plane_stride, to.plane_stride}};
  d.operand[0] = {from.address, from.row_stride, row_bytes};
  d.operand[1] = {to.address, to.row_stride, row_bytes};
  d.type[0] = d.type[1] = hal::ElementType::kInt8;
  return d;
}
inline hal::Descriptor copy(std::uint32_t bytes, std::uint64_t from, std::uint64_t to) {
  return copy(bytes, 1, 1, {from, bytes, 0}, {to, bytes, 0});
}

class Bench {
 public:
  using Program = std::function<void(Bench&)>;

  explicit Bench(const MachineConfig& m = machine(), bool full_data = true) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    platform_ = std::make_unique<Platform>("attnvp", m, full_data, [this](hal::Cpu& cpu, std::uint32_t cluster) {
      if (cluster != 0) return;
      cpu_ = &cpu;
      start_ = platform_->context().clock.now();
      program_(*this);
    });
  }
  ~Bench() {
    platform_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Platform& platform() { return *platform_; }
  Cluster& cluster() { return *platform_->clusters[0]; }
  Core& core(std::size_t i = 0) { return *cluster().cores[i]; }
  const FaultLog& faults() { return platform_->context().faults; }

  // Boots the program on cluster 0 (other clusters are idle), runs it to its end and returns its cycles.
  std::uint64_t run(Program program) {
    program_ = std::move(program);
    const std::uint64_t cycles = platform_->run();
    EXPECT_TRUE(platform_->all_finished()) << "the program is stuck";
    return cycles;
  }

  // For use in programs.
  hal::Cpu& cpu() { return *cpu_; }
  std::uint64_t now() { return platform_->context().clock.now() - start_; }  // cycles since the start of the program
  bool push(std::uint64_t queue, const hal::Descriptor& d) {
    return hal::write(*cpu_, queue + hal::kQueueDescriptor, &d, d.length) &&
           hal::write32(*cpu_, queue + hal::kQueueDoorbell, 1);
  }
  bool take(std::uint32_t event, std::uint32_t tokens = 1) {
    return hal::write32(*cpu_, event_register(event, hal::kEventTake), tokens);
  }
  bool give(std::uint32_t event, std::uint32_t tokens = 1) {
    return hal::write32(*cpu_, event_register(event, hal::kEventSignal), tokens);
  }
  template <typename T>
  T read(std::uint64_t address) {
    T value{};
    EXPECT_TRUE(hal::read(*cpu_, address, &value, sizeof value)) << std::hex << address;
    return value;
  }
  std::uint32_t count(std::uint32_t event) { return read<std::uint32_t>(event_register(event, hal::kEventCount)); }

  // Debug access.
  template <typename T>
  void set_l1(std::uint64_t address, const std::vector<T>& values) {
    debug(tlm::TLM_WRITE_COMMAND, address, const_cast<T*>(values.data()), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> l1(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    debug(tlm::TLM_READ_COMMAND, address, values.data(), count * sizeof(T));
    return values;
  }
  template <typename T>
  void set_dram(std::uint64_t address, const std::vector<T>& values) {
    platform_->write(address, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> dram(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    platform_->read(address, values.data(), count * sizeof(T));
    return values;
  }

 private:
  void debug(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
    tlm::tlm_generic_payload payload;
    fill_payload(payload, command, address, data, bytes);
    EXPECT_EQ(cluster().dma->l1()->transport_dbg(payload), bytes);
  }

  std::unique_ptr<Platform> platform_;
  Program program_;
  hal::Cpu* cpu_ = nullptr;
  std::uint64_t start_ = 0;
};

// Runs one descriptor that signals event 0; returns the cycle at which the event arrived.
inline std::uint64_t cycles_of(Bench& bench, std::uint64_t queue, const hal::Descriptor& d) {
  return bench.run([&](Bench& b) {
    EXPECT_TRUE(b.push(queue, then(d, 0)));
    EXPECT_TRUE(b.take(0));
  });
}

}  // namespace attnvp::bench
