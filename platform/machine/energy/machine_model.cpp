#include "platform/machine/energy/machine_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "models/memory/banked_dram/config.h"
#include "models/memory/config.h"
#include "platform/machine/energy/sram.h"
#include "platform/machine/energy/technology.h"

namespace attnvp::energy {

namespace {

constexpr double kWordBits = 16, kSumBits = 32, kBitsPerByte = 8;
constexpr double kWidestMacro = 512;    // bits; wider accesses use several macros
constexpr double kSmallestSram = 4096;  // bytes; smaller memories are registers
constexpr double kL2Banks = 32;         // of one macro each; an access activates one
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kPjPerMwSecond = 1e9;

// Register bits of a lane and of an event counter.
constexpr double kLaneBits = 128, kEventBits = 8;
constexpr double kOperandCopies = 4;  // of a PE: two operands, each held and handed on
constexpr double kCoreBits = 32;      // register bits of a RISC-V core
constexpr double kOperandBits = 32;   // passed from PE to PE in every step

config::EnergyTable::EnergyAction action(const Figure& f) { return {f.value, 0, f.low, f.high}; }

// Converts energy of a table's cycle to a cycle of the machine.
config::EnergyTable::EnergyAction of_machines_cycle(config::EnergyTable::EnergyAction energy, double clock_hz) {
  if (energy.cycle_seconds == 0) return energy;
  const double factor = 1 / (clock_hz * energy.cycle_seconds);
  energy.pj *= factor;
  energy.pj_per_kib *= factor;
  energy.cycle_seconds = 0;
  return energy;
}

}  // namespace

bool stands_for_time(const std::string& component, const std::string& action) {
  return component == kLeakage || (component == "attnvp.dram" && action == "background");
}

MachineModel::MachineModel(const MachineConfig& machine, const Technology& technology)
    : machine_(machine),
      technology_(technology),
      keys_(technology.keys(machine.technology)),
      nm_(std::atof(keys_.tech.c_str())),
      volts_(0) {
  volts_ = keys_.volts > 0 ? keys_.volts : nominal_volts(nm_);
  replacing_ = technology.actions(nm_, volts_);
  const bool cached = machine.dram.policy == "cached";
  if (cached || machine.has_l2()) {
    const std::uint64_t bytes = cached ? machine.own<CacheConfig>().size_bytes : machine.l2.size_bytes;
    l2_ = sram(static_cast<double>(bytes) / kL2Banks, 1, kWidestMacro);
    l2_.area_mm2 *= kL2Banks;
    l2_.leakage_mw = l2_.leakage_mw * kL2Banks;
  }
  lay_out();
}

MachineModel::MemoryModel MachineModel::sram(double bytes, double banks, double width_bits) const {
  const double macros = std::max(1.0, width_bits / kWidestMacro);  // in a bank
  const SramTable& table = SramTable::cacti();
  constexpr double kLargestTabled = 45;
  const double from = std::clamp(nm_, table.smallest_node_nm(), kLargestTabled);
  const SramFigures f = table.at({from, keys_.sram_cell, bytes / macros, banks, width_bits / macros});
  const double volts = volts_ / nominal_volts(nm_);
  const double energy = energy_scale(from, nominal_volts(from), nm_, volts_);
  const double area = area_scale(from, nm_) * macros;
  const double words = width_bits / macros / kWordBits;
  MemoryModel m;
  m.read_pj = technology_.factor("sram") * (f.read_pj * energy / words);
  m.write_pj = technology_.factor("sram") * (f.write_pj * energy / words);
  m.leakage_mw = technology_.factor("sram_leakage") * (f.leakage_mw_per_bank * banks * area * volts);
  m.area_mm2 = f.area_mm2 * area;
  return m;
}

MachineModel::MemoryModel MachineModel::registers(double bytes) const {
  MemoryModel m;
  m.read_pj = pj("register_read") * kWordBits;
  m.write_pj = pj("register_write") * kWordBits;
  m.area_mm2 = technology_.mm2("register_write", nm_) * bytes * kBitsPerByte;
  m.leakage_mw = technology_.mw_per_mm2("logic_leakage") * m.area_mm2;
  return m;
}

ModelPart MachineModel::logic(const char* module, double mm2, double register_bits) const {
  ModelPart part;
  part.module = module;
  part.area_mm2 = mm2 + register_bits * technology_.mm2("register_write", nm_);
  part.leakage_mw = technology_.mw_per_mm2("logic_leakage") * part.area_mm2;
  part.clock_pj = pj("register_clock") * register_bits;
  return part;
}

std::string ModelPart::title() const {
  return fmt::format("{}{}{}", cluster ? fmt::format("cluster{}.", *cluster) : "",
                     core ? fmt::format("core{}.", *core) : "", module);
}

MachineModel::MemoryModel MachineModel::l1(const ScratchpadConfig& l1) const {
  return sram(static_cast<double>(l1.size_bytes), l1.banks, l1.bank_bytes_per_cycle * kBitsPerByte);
}

MachineModel::MemoryModel MachineModel::l0(const CoreConfig& core) const {
  const auto bytes = static_cast<double>(core.l0.size_bytes);
  return bytes < kSmallestSram ? registers(bytes) : sram(bytes, 1, kWidestMacro);
}

// The largest multiplier and adder serves every type once a cycle; further products of a short type have their own.
MachineModel::MacMultipliers MachineModel::multipliers(const MacConfig& mac) const {
  struct MultiplierType {
    double rate, bits;
    const char *multiply, *add;
  };
  MacMultipliers all;
  double shared = 0, further = 0;
  for (const MultiplierType& type : {MultiplierType{1.0 * mac.fp16_rate, 16, "fp16_multiply", "fp32_add"},
                                     {1.0 * mac.bf16_rate, 16, "bf16_multiply", "fp32_add"},
                                     {1.0 * mac.fp8_rate, 8, "fp8_multiply", "fp32_add"},
                                     {1.0 * mac.int8_rate, 8, "int8_multiply", "int32_add"}}) {
    if (type.rate == 0) continue;
    const double product = technology_.mm2(type.multiply, nm_) + technology_.mm2(type.add, nm_);
    shared = std::max(shared, product);
    further += (type.rate - 1) * product;
    all.operand_bits = std::max(all.operand_bits, type.rate * type.bits);
  }
  all.mm2 = shared + further;
  return all;
}

namespace {
template <class Memory>
ModelPart memory_part(const char* module, const Memory& of) {
  ModelPart part;
  part.module = module;
  part.area_mm2 = of.area_mm2;
  part.leakage_mw = of.leakage_mw;
  return part;
}
}  // namespace

void MachineModel::lay_out_core(const CoreConfig& core, std::optional<std::uint32_t> cluster,
                                std::optional<std::uint32_t> number) {
  const auto mm2 = [this](const char* name) { return technology_.mm2(name, nm_); };
  const auto place = [&](ModelPart part) {
    part.cluster = cluster;
    part.core = number;
    part.in_cluster = part.in_core = true;
    part.count = std::uint64_t{cluster ? 1 : machine_.clusters} * (number ? 1 : machine_.cores);
    parts_.push_back(part);
  };
  const auto pes = static_cast<double>(core.mac.pes());
  const MacMultipliers multipliers = this->multipliers(core.mac);
  const double pe_bits = multipliers.operand_bits * kOperandCopies + (core.mac.accumulators == "pe" ? kSumBits : 0) +
                         core.mac.resident_tiles * kWordBits;
  const double lane = mm2("fp32_multiply") + mm2("fp32_add") + mm2("int16_add");
  place(memory_part("l0", l0(core)));
  place(logic("mac", pes * multipliers.mm2, pes * pe_bits));
  place(logic("vec", core.vec.lanes * lane, core.vec.lanes * kLaneBits));
}

void MachineModel::lay_out_cluster(const MachineConfig& m, std::optional<std::uint32_t> number) {
  const auto mm2 = [this](const char* name) { return technology_.mm2(name, nm_); };
  const auto place = [&](ModelPart part) {
    part.in_cluster = true;
    part.cluster = number;
    part.count = number ? 1 : m.clusters;
    parts_.push_back(part);
  };
  place(memory_part("l1", l1(m.l1)));
  place(logic("events", 0, m.events.events * kEventBits));
  place(logic("dma", m.dma.channels * mm2("dma_channel"), 0));
  place(logic("cpu", mm2("core"), 0));
  if (m.has_equal_cores()) {
    lay_out_core(m.core(0), number, {});
  } else {
    for (std::uint32_t k = 0; k < m.cores; ++k) lay_out_core(m.core(k), number, k);
  }
}

void MachineModel::lay_out() {
  const MachineConfig& m = machine_;
  if (l2_.area_mm2 > 0) parts_.push_back(memory_part("l2", l2_));
  const bool equal = m.has_equal_clusters();
  if (equal) lay_out_cluster(m.with_cluster(0), {});
  for (std::uint32_t c = 0; !equal && c < m.clusters; ++c) lay_out_cluster(m.with_cluster(c), c);
  cluster_mm2_.assign(equal ? 1 : m.clusters, 0);

  const Replaced& replaced = technology_.replaced();
  const auto leakage = replacing_.find(kLeakage);
  const double mw_per_pj = machine_.clock_hz / kPjPerMwSecond;  // per cycle
  for (ModelPart& part : parts_) {
    const auto um2 = replaced.um2.find(part.module);
    if (um2 != replaced.um2.end()) part.area_mm2 = um2->second * 1e-6;
    if (leakage == replacing_.end()) continue;
    const auto of_module = leakage->second.find(part.module);
    if (of_module == leakage->second.end()) continue;
    const config::EnergyTable::EnergyAction cycle = of_machines_cycle(of_module->second, machine_.clock_hz);
    part.leakage_mw = {cycle.pj * mw_per_pj, cycle.low, cycle.high};
  }
  const double spread = 1 / technology_.factor("utilization").value;
  for (const ModelPart& part : parts_) {
    const double together = part.area_mm2 * static_cast<double>(part.count) * spread;
    area_mm2_ += together;
    if (part.in_cluster) cluster_mm2_[part.cluster.value_or(0)] += together / (part.cluster ? 1 : m.clusters);
  }
}

double MachineModel::spare_mm2() const { return area_mm2_ * (1 - technology_.factor("utilization").value); }

Figure MachineModel::area_range() const {
  const Figure covered = technology_.factor("utilization");
  return {area_mm2_, 1 / covered.high, 1 / covered.low};
}

// Average distance: half the side of the square that contains both ends.
Figure MachineModel::words_over(double side_mm2) const { return pj("wire") * (kWordBits * std::sqrt(side_mm2) / 2); }

void MachineModel::fill(config::EnergyTable& table, std::uint32_t cluster, std::uint32_t number) const {
  const MachineConfig m = machine_.with_cluster(cluster);
  const CoreConfig core = m.core(number);
  const MemoryModel l0 = this->l0(core), l1 = this->l1(m.l1);
  const auto set = [&table](const char* component, const std::string& name, const Figure& f) {
    table.set(component, name, action(f));
  };
  const double cycle_s = 1 / m.clock_hz;

  const Figure add = pj("fp32_add"), step = pj("fp16_multiply") + pj("fp32_add");
  set("attnvp.mac", "compute", step + pj("register_write") * kOperandBits);
  // Other types: operands of their width; INT8 sums are integers.
  set("attnvp.mac", "compute_bf16", pj("bf16_multiply") + add + pj("register_write") * kOperandBits);
  set("attnvp.mac", "compute_fp8", pj("fp8_multiply") + add + pj("register_write") * (kOperandBits / 2));
  set("attnvp.mac", "compute_int8", pj("int8_multiply") + pj("int32_add") + pj("register_write") * (kOperandBits / 2));
  set("attnvp.mac", "accumulate", (pj("register_read") + pj("register_write")) * kSumBits);
  set("attnvp.mac", "max", pj("int16_add"));
  set("attnvp.mac", "add", add);
  set("attnvp.mac", "exp", step * std::max(1U, core.mac.exp_cycles));
  set("attnvp.vec", "max", pj("int16_add"));
  set("attnvp.vec", "add", add);
  set("attnvp.vec", "multiply", pj("fp32_multiply"));
  set("attnvp.vec", "exp", pj("exponential"));
  set("attnvp.vec", "divide", pj("division"));
  // A lane-cycle of softmax: maximum, difference, exponential, sum and product with the reciprocal, divided by the
  // cycles.
  set("attnvp.vec", "compute",
      (pj("int16_add") + add * 2 + pj("exponential") + pj("fp32_multiply")) * (1.0 / core.vec.softmax_lane_cycles));

  const Figure to_l1 = words_over(cluster_mm2_[std::min<std::size_t>(cluster, cluster_mm2_.size() - 1)]);
  set("attnvp.l0", "read", l0.read_pj);
  set("attnvp.l0", "write", l0.write_pj);
  set("attnvp.l1", "read", l1.read_pj + to_l1);
  set("attnvp.l1", "write", l1.write_pj + to_l1);

  if (l2_.area_mm2 > 0) {
    set("attnvp.l2", "read", l2_.read_pj);
    set("attnvp.l2", "write", l2_.write_pj);
  }

  fill_dram(table);
  set("attnvp.dma", "burst", pj("burst"));
  set("attnvp.dma", "byte", (pj("register_read") + pj("register_write")) * kBitsPerByte);
  set("attnvp.control", "access", pj("instruction"));
  // RISC-V core: an instruction and the work of its class.
  const Figure instruction = pj("instruction"), add32 = pj("int32_add"), word = pj("core_memory");
  set("attnvp.control", "alu", instruction + add32);
  set("attnvp.control", "branch", instruction + add32);
  set("attnvp.control", "multiply", instruction + pj("int32_multiply"));
  const Figure steps = technology_.factor("division_steps");
  const Figure step_pj = add32 + pj("register_write") * kCoreBits;
  set("attnvp.control", "divide",
      instruction + Figure{step_pj.value * steps.value, step_pj.low * steps.low, step_pj.high * steps.high});
  for (const char* of_memory : {"load", "store"}) set("attnvp.control", of_memory, instruction + add32 + word);
  set("attnvp.control", "system", instruction);
  set("attnvp.control", "bus_byte", (pj("register_read") + pj("register_write")) * kBitsPerByte);
  set("attnvp.events", "signal", pj("event"));
  set("attnvp.events", "take", pj("event"));
  set("attnvp.network", "access", pj("hop"));
  set("attnvp.network", "flit_hop", pj("hop"));
  set("attnvp.network", "byte", words_over(area_mm2_) * (kBitsPerByte / kWordBits));
  constexpr double kWokenTogether = 1000;
  set("attnvp.gating", "wake",
      pj("wake") * (std::max(static_cast<double>(core.mac.pes()), 1.0 * core.vec.lanes) / kWokenTogether));

  for (const ModelPart& part : parts_) {
    if ((part.core && *part.core != number) || (part.cluster && *part.cluster != cluster)) continue;
    set(kLeakage, part.module, part.leakage_mw * (cycle_s * kPjPerMwSecond));
    if (part.clock_pj.value > 0) set(kClock, part.module, part.clock_pj);
  }
  // Streaming graphs: FIFOs are registers, nodes are lanes.
  set("attnvp.fifo", "read", pj("register_read") * kWordBits);
  set("attnvp.fifo", "write", pj("register_write") * kWordBits);
  set("attnvp.node", "compute", add);
  set("attnvp.node", "exp", pj("exponential"));
  set("attnvp.node", "divide", pj("division"));
  for (const auto& [component, actions] : replacing_) {
    for (const auto& [name, energy] : actions) {
      table.set(component, name, stands_for_time(component, name) ? of_machines_cycle(energy, m.clock_hz) : energy);
    }
  }
}

// By command for parts with commands, otherwise by bit.
void MachineModel::fill_dram(config::EnergyTable& table) const {
  const MachineConfig& m = machine_;
  const auto set = [&table](const char* name, const Figure& f) { table.set("attnvp.dram", name, action(f)); };
  const auto of_cycle = [&](double seconds) { return seconds * kPjPerMwSecond; };
  const double cycle_s = 1 / m.clock_hz, bytes = static_cast<double>(m.dram.size_bytes);
  if (m.dram.policy != "banked") {
    const std::string& type = keys_.dram_type;
    set("read", technology_.dram_pj_per_bit(type) * kWordBits);
    set("write", technology_.dram_pj_per_bit(type) * kWordBits);
    set("background", technology_.dram_mw_per_gib(type) * (bytes / kGiB * of_cycle(cycle_s)));
    return;
  }
  const auto& part = m.own<BankedConfig>();
  const DramCommands c = technology_.dram_commands(part.type);
  const double row_kib = part.columns * (part.width / kBitsPerByte) / 1024;
  const double burst_bits = part.burst_bytes() * kBitsPerByte;
  const double channel_bytes = static_cast<double>(part.channel_bytes());
  const double rank_mib = channel_bytes / part.units() / (1024 * 1024);
  const double ranks = bytes / channel_bytes * part.units();
  set("activate", c.activate_pj_per_kib * row_kib);
  set("read_burst", c.read_pj_per_bit * burst_bits);
  set("write_burst", c.write_pj_per_bit * burst_bits);
  set("read", c.read_io_pj_per_bit * kWordBits);
  set("write", c.write_io_pj_per_bit * kWordBits);
  set("refresh", c.refresh_pj_per_mib * rank_mib);
  set("refresh_bank", c.refresh_pj_per_mib * (rank_mib / part.banks_of_unit()));
  set("background", c.closed_mw * (ranks * of_cycle(cycle_s)));
  set("open", Figure{c.open_mw.value - c.closed_mw.value, c.open_mw.low, c.open_mw.high} * of_cycle(part.tCK_seconds));
}

const Technology& technology_of(const config::EnergyTable& table) {
  return table.is_model() ? Technology::of(table.source()) : Technology::cmos();
}

config::EnergyTable resolved(config::EnergyTable table, const MachineConfig& machine) {
  if (table.is_model()) {
    const MachineModel model(machine, Technology::of(table.source()));
    if (!machine.has_equal_clusters()) {
      std::vector<config::EnergyTable> all(std::size_t{machine.clusters} * machine.cores, table);
      for (std::uint32_t i = 0; i < all.size(); ++i) model.fill(all[i], i / machine.cores, i % machine.cores);
      model.fill(table);
      table.set_cores(std::move(all), machine.cores);
      return table;
    }
    std::vector<config::EnergyTable> cores(machine.has_equal_cores() ? 0 : machine.cores, table);
    for (std::uint32_t k = 0; k < cores.size(); ++k) model.fill(cores[k], 0, k);
    model.fill(table);
    table.set_cores(std::move(cores));
    return table;
  }
  const config::EnergyTable::Components as_given = table.components();
  for (const auto& [component, actions] : as_given) {
    for (const auto& [name, energy] : actions) {
      if (stands_for_time(component, name)) table.set(component, name, of_machines_cycle(energy, machine.clock_hz));
    }
  }
  return table;
}

}  // namespace attnvp::energy
