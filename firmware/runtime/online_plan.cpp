#include "firmware/runtime/online_attention.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLag = 2;
constexpr uint32_t kSlotsAhead = 2;   // slabs that may be loaded or stored while a row block is computed
constexpr uint32_t kRowPasses = 4;    // of a slab, where the array does not limit it
constexpr uint32_t kLeastKeys = 256;  // of a tile for VEC: makes the work per row small beside the work per element

uint64_t slab_bytes(const OnlinePlan& p, uint32_t emb) {
  return round_up(q_bytes(p.tiling.nq, emb) + Sums::bytes(p.tiling.nq, emb), 64);
}

uint64_t other_bytes(const OnlinePlan& p, uint32_t emb, uint32_t cores) {
  const hal::Tiling& t = p.tiling;
  const uint64_t kv = 2 * round_up(uint64_t{p.kv_ring} * t.nkv * emb * kHalfBytes, 64);
  const uint64_t tiles = p.ring * round_up(Sums::bytes(t.nq, emb), 64);
  const uint64_t scores = p.in_array ? 0 : round_up(uint64_t{p.ring} * t.nq * t.nkv * kHalfBytes, 64);
  return kv + cores * (tiles + scores);
}

// Slabs of a row block per core, at most `most`: all alike where the number has a divisor of that kind.
uint32_t even_slabs(uint32_t slabs, uint32_t most) {
  if (slabs <= most) return slabs;
  for (uint32_t n = most; 2 * n >= most; --n) {
    if (slabs % n == 0) return n;
  }
  return static_cast<uint32_t>(ceil_div(slabs, ceil_div(slabs, most)));
}

// Completes the plan for the tile sizes in it. False: L1 cannot hold it; `need` says what it would have to hold.
bool fit(OnlinePlan& p, const Runtime& rt, uint64_t& need) {
  const uint32_t cores = rt.cores(), emb = rt.layer().emb;
  const auto slabs = static_cast<uint32_t>(ceil_div(ceil_div(rt.layer().seq_q, p.tiling.nq), cores));
  const uint64_t each = cores * slab_bytes(p, emb), others = other_bytes(p, emb, cores);
  const uint32_t asked = rt.job().tiling.row_buffers;
  need = others + max(asked, 1U) * each;
  if (need > rt.machine().l1_bytes) return false;
  const uint64_t room = (rt.machine().l1_bytes - others) / each;
  const auto most = static_cast<uint32_t>(min<uint64_t>(room, slabs + kSlotsAhead));
  p.tiling.row_buffers = asked > 0 ? asked : even_slabs(slabs, min(most, slabs));
  p.slots = min(most, p.tiling.row_buffers + kSlotsAhead);
  return true;
}

}  // namespace

OnlinePlan plan_online(Runtime& rt, bool in_array, bool serial) {
  const hal::MachineInfo& m = rt.machine();
  const hal::Layer& l = rt.layer();
  const hal::Tiling& given = rt.job().tiling;
  OnlinePlan p;
  p.serial = serial;
  p.in_array = in_array && m.resident_tiles > 0;
  p.lag = serial ? 0 : kLag;
  hal::Tiling& t = p.tiling;
  t = given;
  t.bb = t.hh = 1;
  const bool streamed = given.kv_buffers == hal::kKvAuto || given.kv_buffers == hal::kKvStream;
  if (streamed) t.kv_buffers = hal::kKvStream;
  const auto tiles = [&] { return static_cast<uint32_t>(ceil_div(t.nq, m.mac_rows) * ceil_div(t.nkv, m.mac_columns)); };
  if (p.in_array) {
    while (p.lag > 0 && m.resident_tiles < p.lag + 1) --p.lag;
    if (t.nkv == 0) t.nkv = m.mac_columns;
    if (t.nq == 0) t.nq = m.mac_rows * (serial ? 1 : max(uint32_t{m.resident_tiles} / (p.lag + 1), 1U));
  } else {
    if (t.nkv == 0) t.nkv = max(m.mac_columns, kLeastKeys);
    if (t.nq == 0) t.nq = m.mac_rows * (serial ? 1 : kRowPasses);
  }
  t.nkv = min(t.nkv, l.seq_kv);
  const auto share = static_cast<uint32_t>(ceil_div(l.seq_q, m.cores));  // rows of a core, if there is one row block
  t.nq = min(t.nq, given.nq > 0 ? l.seq_q : static_cast<uint32_t>(min<uint64_t>(round_up(share, m.mac_rows), l.seq_q)));
  if (t.m0 == 0 || t.n0 == 0 || t.k0 == 0) choose_l0(rt, t);
  uint64_t need = 0;
  while (rt.ok()) {
    if (p.in_array) {
      p.slot_tiles = tiles();
      while (p.lag > 0 && p.slot_tiles * (p.lag + 1) > m.resident_tiles) --p.lag;
      if (p.slot_tiles > m.resident_tiles) rt.fail(Status::kBadTiling, 2, t.nq);
    }
    p.ring = p.lag + 2;
    p.kv_ring = streamed ? p.lag + 3 : given.kv_buffers;
    p.lag = min(p.lag, p.kv_ring - 1);
    if (fit(p, rt, need)) {
      p.lag = min(p.lag, p.slots - 1);  // a slab is loaded when the one before it in its slot has been stored
      return p;
    }
    // Smaller slabs first, then fewer tiles under way, then smaller tiles.
    if (given.nq == 0 && t.nq > 1) {
      t.nq = (t.nq + 1) / 2;
    } else if (p.lag > 0) {
      --p.lag;
    } else if (given.nkv == 0 && t.nkv > 1) {
      t.nkv = (t.nkv + 1) / 2;
    } else {
      rt.fail(Status::kL1TooSmall, need, m.l1_bytes);
    }
  }
  return p;
}

}  // namespace attnvp::firmware
