// Loosely timed MAC engine: it reads both operands over its L1 port, computes for the cycles of a 16 x 16 array without
// fill and drain, and writes the result. FP16 products without masks, biases or caps.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP lt_mac.cpp -o lt_mac.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --set mac.kind=plugin:./lt_mac.so
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <bit>
#include <cmath>
#include <systemc>
#include <vector>

#include "command_queue.h"
#include "models/plugin/plugin.h"

namespace {

namespace hal = attnvp::hal;

float float_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float size = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                     : exponent == 31 ? (fraction == 0 ? HUGE_VALF : NAN)
                                      : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

// Rounds to nearest even.
std::uint16_t half_of(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7E00;
  const float size = std::fabs(value);
  if (size >= 65520) return sign | 0x7C00;
  const int exponent = size < 0x1p-14F ? -14 : std::ilogb(size);
  const float steps = std::nearbyint(std::ldexp(size, 10 - exponent));  // of 2^(exponent - 10)
  const int bits = (exponent + 14) * 1024 + static_cast<int>(steps);    // a carry increments the exponent
  return static_cast<std::uint16_t>(sign | bits);
}

class LtMac : public sc_core::sc_module {
 public:
  LtMac(sc_core::sc_module_name name, const attnvp::PluginContext& module_context)
      : sc_module(name),
        registers_(module_context.registers),
        events_(module_context.events),
        cycle_(1 / module_context.clock_hz, sc_core::SC_SEC) {
    control.register_b_transport(this, &LtMac::access);
    SC_HAS_PROCESS(LtMac);
    SC_THREAD(serve);
  }
  tlm_utils::simple_target_socket<LtMac> control{"control"};
  tlm_utils::simple_initiator_socket<LtMac> l1{"l1"}, events{"events"};

 private:
  static constexpr std::uint64_t kArray = 16;

  void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    queue_.access(payload, payload.get_address() - registers_, delay);
  }

  template <class Element>
  std::vector<Element> rows_of(const hal::Operand& operand, std::uint32_t rows, std::uint32_t columns) {
    std::vector<Element> all(std::size_t{rows} * columns);
    for (std::uint32_t r = 0; r < rows; ++r) {
      example::transport(l1, tlm::TLM_READ_COMMAND, operand.address + std::uint64_t{r} * operand.row_stride,
                         &all[std::size_t{r} * columns], columns * sizeof(Element));
    }
    return all;
  }

  void multiply(const hal::Descriptor& d) {
    constexpr std::uint16_t kKnown = hal::kTransposeB | hal::kAccumulate | hal::kScaled | hal::kInOrder | hal::kKept;
    if (d.opcode != hal::Opcode::kMatmul || (d.flags & ~kKnown) != 0 || d.type[0] != hal::ElementType::kFp16) {
      SC_REPORT_ERROR("lt_mac", "a command that it does not know; allowed are products of FP16");
      return;
    }
    const hal::Product p = hal::product_of(d);
    const bool is_transposed = (d.flags & hal::kTransposeB) != 0, is_float = d.type[2] == hal::ElementType::kFp32;
    const std::uint32_t absent = d.tail.matmul.absent, all = is_transposed ? p.n : p.k;
    const std::uint32_t width = is_transposed ? p.k : p.n;
    const auto a = rows_of<std::uint16_t>(d.operand[0], p.m, p.k);
    auto b = rows_of<std::uint16_t>(d.operand[1], all - absent, width);
    b.resize(std::size_t{all} * width);
    std::vector<float> c(std::size_t{p.m} * p.n);
    if ((d.flags & hal::kAccumulate) != 0) c = rows_of<float>(d.operand[3], p.m, p.n);
    const float scale = (d.flags & hal::kScaled) != 0 ? std::bit_cast<float>(d.tail.rule.scale) : 1;
    for (std::size_t i = 0; i < p.m; ++i) {
      for (std::size_t j = 0; j < p.n; ++j) {
        float& sum = c[i * p.n + j];
        for (std::size_t k = 0; k < p.k; ++k) {
          sum += float_of(a[i * p.k + k]) * float_of(b[is_transposed ? j * p.k + k : k * p.n + j]);
        }
        sum *= scale;
      }
    }
    const auto tiles = [](std::uint64_t n) { return (n + kArray - 1) / kArray; };
    wait(static_cast<double>(tiles(p.m) * tiles(p.n) * p.k) * cycle_);
    for (std::uint32_t i = 0; i < p.m; ++i) {
      float* const row = &c[std::size_t{i} * p.n];
      std::vector<std::uint16_t> halves(p.n);
      for (std::uint32_t j = 0; j < p.n; ++j) halves[j] = half_of(row[j]);
      example::transport(l1, tlm::TLM_WRITE_COMMAND, d.operand[2].address + std::uint64_t{i} * d.operand[2].row_stride,
                         is_float ? static_cast<void*>(row) : halves.data(), p.n * (is_float ? 4 : 2));
    }
  }

  void serve() {
    while (true) {
      while (queue_.empty()) wait(queue_.pushed());
      const hal::Descriptor d = queue_.pop();
      example::take_events(events, d, events_);
      if (d.opcode != hal::Opcode::kNop) multiply(d);
      example::give_events(events, d, events_);
      queue_.count_done();
    }
  }

  const std::uint64_t registers_, events_;
  const sc_core::sc_time cycle_;
  example::DescriptorQueue queue_;
};

class LtMacPlugin : public attnvp::EnginePlugin {
 public:
  explicit LtMacPlugin(const attnvp::PluginContext& module_context) : mac_(module_context.name, module_context) {}
  tlm::tlm_target_socket<>& control() override { return mac_.control; }
  tlm::tlm_initiator_socket<>& l1() override { return mac_.l1; }
  tlm::tlm_initiator_socket<>& events() override { return mac_.events; }

 private:
  LtMac mac_;
};

}  // namespace

ATTNVP_ENGINE_PLUGIN(LtMacPlugin)
