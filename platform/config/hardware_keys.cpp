// The table of hardware keys. Adding a key is adding one entry, next to the others of its section; the
// default comes from models/machine.h.
#include "platform/config/hardware.h"

namespace attnvp::config {
namespace {

using M = MachineConfig;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;
constexpr double kTiB = 1024 * kGiB;
constexpr double kMostPipelineCycles = 65536;
constexpr double kMostSlots = 1024;
constexpr double kMostBytesPerCycle = 65536;

template <class... Members>
Key<M> key(KeyInfo info, Members... members) {
  return make_key<M>(std::move(info), members...);
}

KeyInfo queue_depth(const std::string& path, const std::string& what) {
  return number(path, Unit::kCount, 2, 4096, "descriptors that " + what + "; a full queue stalls the writer");
}

Key<M> lane_cycles(const std::string& operation, const std::string& what, std::uint32_t VecConfig::*field) {
  return key(number("vec." + operation + "_lane_cycles", Unit::kCycles, 0, 65536,
                    "lane-cycles per " + what + " in the primitive row operations (one-pass softmax)"),
             &M::vec, field);
}

std::vector<Key<M>> machine_keys() {
  KeyInfo name = text("name", "name shown in reports");
  name.default_note = "the file's name";
  return {
      key(name, &M::name),
      key(number("clock", Unit::kFrequency, 1e6, 100e9, "the platform clock; every cycle count is in its cycles"),
          &M::clock_hz),
      key(number("clusters", Unit::kCount, 1, 1024, "clusters, each with its own L1, DMA and control processor"),
          &M::clusters),
      key(number("cores", Unit::kCount, 1, 64, "cores per cluster, each with a MAC engine, a VEC engine and an L0"),
          &M::cores),
  };
}

std::vector<Key<M>> core_keys() {
  return {
      key(number("mac.rows", Unit::kCount, 1, 1024, "processing elements down the array: rows of the result in flight"),
          &M::mac, &MacConfig::rows),
      key(number("mac.columns", Unit::kCount, 1, 1024,
                 "processing elements across the array: columns of the result in flight"),
          &M::mac, &MacConfig::columns),
      key(number("mac.pipeline_cycles", Unit::kCycles, 0, kMostPipelineCycles, "last operand in to last result out"),
          &M::mac, &MacConfig::pipeline_cycles),
      key(queue_depth("mac.queue_depth", "a MAC engine holds"), &M::mac, &MacConfig::queue_depth),
      key(number("mac.resident_tiles", Unit::kCount, 0, 4096,
                 "array-sized tiles of scores that the PEs' registers hold for row operations; 0: PEs have none"),
          &M::mac, &MacConfig::resident_tiles),
      key(number("mac.max_cycles", Unit::kCycles, 0, kMostSlots, "a PE's for a maximum"), &M::mac,
          &MacConfig::max_cycles),
      key(number("mac.add_cycles", Unit::kCycles, 0, kMostSlots, "a PE's for a difference or a sum"), &M::mac,
          &MacConfig::add_cycles),
      key(number("mac.exp_cycles", Unit::kCycles, 0, kMostSlots, "a PE's for an exponential: its multiply-adds"),
          &M::mac, &MacConfig::exp_cycles),
      key(number("mac.reduce_cycles", Unit::kCycles, 0, kMostPipelineCycles,
                 "for a row's maximum to pass through the array, behind the last PE's own"),
          &M::mac, &MacConfig::reduce_cycles),
      key(number("vec.lanes", Unit::kCount, 1, 65536, "lanes of a VEC engine"), &M::vec, &VecConfig::lanes),
      key(number("vec.softmax_lane_cycles", Unit::kCycles, 1, 65536, "lane-cycles per element of a row softmax"),
          &M::vec, &VecConfig::softmax_lane_cycles),
      lane_cycles("max", "maximum", &VecConfig::max_lane_cycles),
      lane_cycles("add", "sum or difference", &VecConfig::add_lane_cycles),
      lane_cycles("mul", "product", &VecConfig::mul_lane_cycles),
      lane_cycles("exp", "exponential", &VecConfig::exp_lane_cycles),
      lane_cycles("div", "quotient", &VecConfig::div_lane_cycles),
      key(number("vec.pipeline_cycles", Unit::kCycles, 0, kMostPipelineCycles, "last element in to last result out"),
          &M::vec, &VecConfig::pipeline_cycles),
      key(queue_depth("vec.queue_depth", "a VEC engine holds"), &M::vec, &VecConfig::queue_depth),
      key(number("l0.size", Unit::kBytes, 64, 64 * kMiB, "register file of a core; smaller than l1.size"), &M::l0,
          &RegisterFileConfig::size_bytes),
  };
}

std::vector<Key<M>> cluster_keys() {
  return {
      key(number("l1.size", Unit::kBytes, kKiB, 4 * kGiB, "scratchpad of a cluster; all clusters' together <= 256 GiB"),
          &M::l1, &ScratchpadConfig::size_bytes),
      key(number("l1.banks", Unit::kCount, 1, 4096, "banks of a scratchpad"), &M::l1, &ScratchpadConfig::banks),
      key(number("l1.bank_bandwidth", Unit::kBytesPerCycle, 1, kMostBytesPerCycle,
                 "one bank's; times l1.banks is what all ports together can move"),
          &M::l1, &ScratchpadConfig::bank_bytes_per_cycle),
      key(number("l1.ports", Unit::kCount, 1, 1024, "ports of a scratchpad; initiators are spread over them in turn"),
          &M::l1, &ScratchpadConfig::ports),
      key(number("l1.port_bandwidth", Unit::kBytesPerCycle, 1, kMostBytesPerCycle, "one port's"), &M::l1,
          &ScratchpadConfig::port_bytes_per_cycle),
      key(number("dma.channels", Unit::kCount, 2, 16, "channels of a cluster's DMA controller, each with a queue"),
          &M::dma, &DmaConfig::channels),
      key(power_of_two("dma.burst", Unit::kBytes, 16, kMiB, "largest piece sent to DRAM as one transaction"), &M::dma,
          &DmaConfig::burst_bytes),
      key(number("dma.outstanding", Unit::kCount, 1, 4096, "bursts under way at once, over all channels"), &M::dma,
          &DmaConfig::outstanding),
      key(queue_depth("dma.queue_depth", "a DMA channel holds"), &M::dma, &DmaConfig::queue_depth),
      key(choice("dma.arbitration", {"age", "priority", "round-robin"},
                 "who gets the next burst: the oldest descriptor (deferrable ones last), the lowest channel number, or "
                 "each in turn"),
          &M::dma, &DmaConfig::arbitration),
  };
}

std::vector<Key<M>> platform_keys() {
  return {
      key(choice("dram.policy", {"fixed"}, "timing of the DRAM; fixed is peak bandwidth plus latency"), &M::dram,
          &DramConfig::policy),
      key(number("dram.size", Unit::kBytes, kMiB, 16 * kTiB, "main memory"), &M::dram, &DramConfig::size_bytes),
      key(number("dram.bandwidth", Unit::kBandwidth, 1e6, 100e12, "peak, all clusters together"), &M::dram,
          &DramConfig::bytes_per_second),
      key(number("dram.latency", Unit::kTime, 0, 1e-3, "request to first data"), &M::dram,
          &DramConfig::latency_seconds),
      key(number("events.count", Unit::kCount, 16, 4096, "counting semaphores in a cluster's event unit"), &M::events,
          &EventUnitConfig::events),
      key(choice("control.cpu", {"native"}, "control processor; native runs the firmware compiled into the program"),
          &M::control, &ControlConfig::cpu),
      key(number("control.access_cycles", Unit::kCycles, 1, 65536, "per access of up to control.bus_width"),
          &M::control, &ControlConfig::access_cycles),
      key(power_of_two("control.bus_width", Unit::kBytes, 4, 64, "width of the control bus"), &M::control,
          &ControlConfig::bus_bytes),
      key(text("energy", "energy table: a name under configs/energy, or a path"), &M::energy),
  };
}

}  // namespace

const Schema<MachineConfig>& hardware_schema() {
  static const Schema<MachineConfig> schema([] {
    std::vector<Key<M>> all;
    for (const auto& part : {machine_keys(), core_keys(), cluster_keys(), platform_keys()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }());
  return schema;
}

}  // namespace attnvp::config
