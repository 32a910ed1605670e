// What every run must take. t counts cycles from the start of the job.
//
// (1) Nothing is in L1 before boot + latency: firmware reads the job block and writes one descriptor before the DMA may
//     begin, and DRAM answers after its latency. The bus moves B bytes a cycle, so that D bytes are in L1 no earlier
//     than arrival(D) = boot + latency + D / B, whichever bytes they are.
// (2) A matmul reads an L0 sub-tile of both operands before it computes (fill), and waits for whole transfers: a row
//     block of Q (its first strip, where a lane's first block comes strip by strip), a sub-block of K of all of its
//     group's heads, all of V (when resident) or a sub-block of V.
//     first_load = arrival(shortest first rows of Q + first sub-block of K) + fill.
// (3) An engine does one thing at a time; its share of the work takes at least the cycles in Counts (array passes with
//     ragged edges; or its L1 traffic over its port). Some core has at least the mean.
// (4) The last rows of O leave behind the last matmul: the pipeline's depth, then their way over the bus (tail).
//     With e_1 <= e_2 <= ... the cycles at which the P cores' last matmuls end, the stores of core k, k+1, ..., P come
//     after e_k, so T >= e_k + (P - k + 1) s / B with s the least bytes of one store. The mean over k is
//     T >= mean(e) + (P + 1) / 2 s / B. (Were there cores without any work, the mean of the others' e would grow by
//     more than the tail shrinks as long as 2 B x work >= s P^2: then only is it used.)
// (5) MAC: mean(e) >= first_load + work / P.
// (6) start: loads go over one channel in the order in which the dataflow needs them: Q of a round for all cores (of a
//     lane's first block one strip), then K if the group is new (or streamed; after its first sub-block the rest of
//     those first blocks' Q), and V for the first O (mas: two rounds later). So the bytes before each of them are
//     known, and (1) says when it is there at the earliest. Every core computes C of its first `ahead` row blocks, each
//     sub-block behind the arrival of what it reads, before its first O, which needs V and P. With s_c the cycle at
//     which core c may begin its first O, e_c >= s_c + what is left for it: mean(e) >= mean(s) + (work - done) / P.
//     (Cores without any work: as in (4), with s instead of a store; not needed where the first group has blocks for
//     all cores.)
#include "explore/search/bound.h"

#include <algorithm>
#include <cmath>

#include "firmware/hal/descriptor.h"

namespace attnvp::explore {

namespace {
constexpr double kHalf = 2;
double whole(double cycles) { return std::ceil(cycles - 1e-6); }
double real(std::uint64_t n) { return static_cast<double>(n); }
}  // namespace

double CycleBounds::most() const { return std::max({mac, vec, dram, l1, start}); }

const char* CycleBounds::binding() const {
  const double all = most();
  if (all == dram) return "DRAM";
  if (all == start) return "start";
  if (all == mac) return "MAC";
  return all == vec ? "VEC" : "L1";
}

double Bound::dram_cycles(double bytes) const {
  return bytes * problem_.machine.clock_hz / problem_.machine.dram.bytes_per_second;
}

double Bound::boot_cycles() const {
  const ControlConfig& c = problem_.machine.control;
  const auto beats = [&](std::size_t bytes) { return real((bytes + c.bus_bytes - 1) / c.bus_bytes); };
  return (beats(sizeof(hal::JobBlock)) + beats(sizeof(hal::Descriptor)) + 1) * c.access_cycles;
}

double Bound::before_data() const {
  const MachineConfig& m = problem_.machine;
  return boot_cycles() + std::ceil(m.dram.latency_seconds * m.clock_hz - 1e-6);
}

double Bound::first_load(const Counts& c) const {
  const config::Network& n = problem_.network;
  const double kv_rows = real(c.first_members) * std::min<double>(c.nkv, n.seq_kv);
  return before_data() + dram_cycles((real(c.first_rows(c.q_rows)) + kv_rows) * n.emb * kHalf) + real(c.fill_cycles);
}

double Bound::tail(const Counts& c, bool all_lanes) const {
  const double store = dram_cycles(real(c.last_strip_rows) * problem_.network.emb * kHalf);
  const double lanes = real(c.lanes);
  const bool spread =
      all_lanes && (c.members(0) * c.blocks >= c.lanes || 2 * real(c.c_cycles + c.o_cycles) >= store * lanes * lanes);
  return problem_.machine.mac.pipeline_cycles + store * (spread ? (lanes + 1) / 2 : 1);
}

// Argument (6), without the tail: mean(e) at least.
double Bound::mac_start(const Counts& c, double work) const {
  const double row_bytes = problem_.network.emb * kHalf;
  const double fill = real(c.fill_cycles);
  double bytes = 0;  // issued so far
  const auto arrival_of = [&](std::uint64_t rows) {
    bytes += real(rows) * row_bytes;
    return before_data() + dram_cycles(bytes);
  };
  std::vector<double> free_at(c.lanes, 0), softmax_at(c.lanes, 0), k_at(c.sub_blocks);
  double done = 0;
  std::vector<bool> begun(c.lanes, false);  // has had its first block
  std::uint64_t group = 0, round = 0;
  for (std::uint32_t i = 0; i < facts_.ahead && group < c.groups; ++i) {
    std::vector<double> first_q_at(c.lanes, 0), q_at(c.lanes, 0);  // first rows, all rows
    for (std::uint64_t lane = 0; lane < c.lanes; ++lane) {
      const BlockKind* block = c.block_of(group, round, lane);
      if (block == nullptr) continue;
      q_at[lane] = first_q_at[lane] = arrival_of(begun[lane] ? block->rows : c.first_rows(block->rows));
    }
    const auto load_k = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t j = from; (c.streamed || round == 0) && j < to; ++j) {
        k_at[j] = arrival_of(c.members(group) * c.sub_block_rows(j));
      }
    };
    load_k(0, 1);
    for (std::uint64_t lane = 0; lane < c.lanes; ++lane) {
      const BlockKind* block = c.block_of(group, round, lane);
      if (block == nullptr || begun[lane]) continue;
      begun[lane] = true;
      const std::uint64_t rest = block->rows - c.first_rows(block->rows);
      if (rest > 0) q_at[lane] = arrival_of(rest);
    }
    load_k(1, c.sub_blocks);
    for (std::uint64_t lane = 0; lane < c.lanes; ++lane) {
      const BlockKind* block = c.block_of(group, round, lane);
      if (block == nullptr) continue;
      double& t = free_at[lane];
      for (std::uint64_t j = 0; j < c.sub_blocks; ++j) {
        t = std::max(t, std::max(j == 0 ? first_q_at[lane] : q_at[lane], k_at[j]) + fill) +
            real(block->c_until[j] - (j > 0 ? block->c_until[j - 1] : 0));
      }
      done += real(block->c_cycles);
      if (i == 0) softmax_at[lane] = t + real(block->p_cycles);
      if (facts_.serial) {
        t += real(block->p_cycles);
        done += real(block->p_cycles);
      }
    }
    if (++round == c.rounds(group)) {
      round = 0;
      ++group;
    }
  }
  const double v_at = arrival_of(c.members(0) * (c.streamed ? c.sub_block_rows(0) : problem_.network.seq_kv)) + fill;
  double sum = 0, least = 1e300, most = 0;
  for (std::uint64_t lane = 0; lane < c.lanes; ++lane) {
    const double s = std::max({free_at[lane], softmax_at[lane], v_at});
    sum += s;
    least = std::min(least, s);
    most = std::max(most, s);
  }
  const double lanes = real(c.lanes), left = work - done;
  const bool all_work = c.members(0) * c.blocks >= c.lanes || left >= lanes * lanes * most;
  return (all_work ? sum / lanes : least) + left / lanes;
}

double Bound::l1_cycles(const Counts& c) const {
  const MachineConfig& m = problem_.machine;
  const double banks = static_cast<double>(m.l1.banks) * m.l1.bank_bytes_per_cycle * m.clusters;
  const double port = m.l1.port_bytes_per_cycle;
  const double mac = real(c.mac_l1_bytes) / (port * m.clusters * m.cores);
  const double dma = real(c.dram_bytes()) / (port * m.clusters);
  return std::max({real(c.traffic.l1_read + c.traffic.l1_write) / banks, mac, dma});
}

CycleBounds Bound::fused(const Counts& c) const {
  const MachineConfig& m = problem_.machine;
  const double cores = static_cast<double>(m.clusters) * m.cores;
  const double first = first_load(c);
  CycleBounds b;
  b.dram = before_data() + dram_cycles(real(c.dram_bytes()));
  b.l1 = l1_cycles(c);
  if (facts_.split_cores) {
    // C on some cores, O on the others (on one core, both): each half has the other's least block before or behind it.
    const double lanes = real(c.lanes);
    const bool apart = c.lanes < static_cast<std::uint64_t>(m.clusters) * m.cores;
    const double work = apart ? real(std::max(c.c_cycles, c.o_cycles)) : real(c.c_cycles + c.o_cycles);
    const double other = apart ? real(std::min(c.least_c, c.least_o)) : 0;
    b.mac = first + work / lanes + other + tail(c, false);
  } else {
    const double serial = facts_.serial ? real(c.p_cycles) : 0;
    const double work = real(c.c_cycles + c.o_cycles) + serial;
    b.mac = first + work / cores + tail(c, true);
    if (facts_.ahead > 0 && m.clusters == 1) b.start = mac_start(c, work) + tail(c, true);
    if (facts_.lock_step) b.mac = before_data() + dram_cycles(real(c.dram_bytes())) + work / cores;
  }
  b.vec = first + real(c.least_c) + real(c.p_cycles) / cores + real(c.least_o) + tail(c, false);
  return b;
}

// Operators one after the other; each ends with its last store. Softmax is an operator of its own or runs beside C.
CycleBounds Bound::unfused(const Counts& c) const {
  const double cores = static_cast<double>(problem_.machine.clusters) * problem_.machine.cores;
  const double first = first_load(c);
  const double c_mac = first + real(c.c_cycles) / cores, p_vec = real(c.p_cycles) / cores;
  const double o_mac = real(c.o_cycles) / cores + tail(c, false);
  const double qk = dram_cycles(real(c.q_bytes) + real(c.kv_bytes) / 2);
  const double ov = qk;                                                    // V and O are as large as K and Q
  const double scores = dram_cycles(real(c.score_bytes) / facts_.scores);  // once over the bus
  CycleBounds b;
  const bool layerwise = facts_.scores == 4;
  b.l1 = l1_cycles(c);
  b.dram = dram_cycles(real(c.dram_bytes()));
  const double last = std::max(o_mac, ov + scores);
  if (layerwise) {
    b.mac = std::max(c_mac, qk + scores) + std::max(p_vec, 2 * scores) + last;
  } else {
    b.mac = std::max({c_mac, p_vec, qk + scores}) + last;
  }
  b.vec = p_vec;
  return b;
}

CycleBounds Bound::cycle_bounds(const hal::Tiling& tiling) const {
  const Counts c(problem_, facts_, tiling);
  CycleBounds b;
  if (!facts_.known) {
    b.dram = dram_cycles(real(2 * c.q_bytes + 2 * c.k_bytes));
    return b;
  }
  return facts_.fused ? fused(c) : unfused(c);
}

double Bound::cycles(const hal::Tiling& tiling) const { return whole(cycle_bounds(tiling).most()); }

// Counts times the table's entries; DRAM and L1 words are 16 bits.
double Bound::energy_pj(const hal::Tiling& tiling) const {
  const Counts c(problem_, facts_, tiling);
  const MachineConfig& m = problem_.machine;
  const config::EnergyTable& e = problem_.energy;
  const auto words = [&](const char* component, const char* action, std::uint64_t bytes, std::uint64_t size) {
    return real(bytes / 2) * e.pj(component, action, size);
  };
  const std::uint64_t written = c.q_bytes + c.score_bytes / 2;
  double pj = words("attnvp.dram", "read", c.dram_bytes() - written, m.dram.size_bytes) +
              words("attnvp.dram", "write", written, m.dram.size_bytes);
  if (!facts_.known) return pj;
  pj += words("attnvp.l1", "read", c.traffic.l1_read, m.l1.size_bytes);
  pj += words("attnvp.l1", "write", c.traffic.l1_write, m.l1.size_bytes);
  pj += words("attnvp.l0", "read", c.traffic.l0_read, m.l0.size_bytes);
  pj += words("attnvp.l0", "write", c.traffic.l0_write, m.l0.size_bytes);
  pj += real(c.traffic.macs) * e.pj("attnvp.mac", "compute", 0);
  return pj + real(c.traffic.lane_ops) * e.pj("attnvp.vec", "compute", 0);
}

}  // namespace attnvp::explore
