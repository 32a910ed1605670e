#include "firmware/runtime/attention/online_attention.h"

#include "firmware/runtime/attention/attention.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kTilesAhead = 2;  // resident: loads beyond the current tile
constexpr uint32_t kSlabsAhead = 3;  // loads of Q, including the current one

// Bytes of a slab's Q, before its sums; rounded to whole FP32 words.
uint64_t q_bytes(const Runtime& rt, uint32_t rows) {  // later reused for O
  return round_up(max(uint64_t{rows} * rt.layer().emb * rt.bytes(), uint64_t{rows} * rt.value_emb() * rt.out_bytes()),
                  kPartialBytes);
}
}  // namespace

OnlinePlan plan_online(Runtime& rt, bool in_array, bool serial) {
  const hal::MachineInfo& m = rt.machine();
  OnlinePlan p;
  p.tiling = rt.parameters<OnlineTiling>();
  const OnlineTiling& t = p.tiling;
  if (!rt.ok()) return p;
  p.serial = serial;
  p.in_array = in_array && m.resident_tiles > 0;
  p.lag = t.steps - 1;
  p.slots = t.slots();
  p.ring = p.lag + 2;
  p.kv_ring = t.kv_buffers == hal::kWord ? p.lag + 3 : t.kv_buffers;
  if (p.lag > (serial ? 0 : OnlineAttention::kMaxLag)) rt.refuse(OnlineTiling::kSteps, t.steps);
  // A slab is loaded after the previous one in its slot was stored, a tile after the previous one was used.
  if (p.lag >= p.kv_ring) rt.refuse(OnlineTiling::kSteps, t.steps);
  if (p.lag >= p.slots) rt.refuse(OnlineTiling::kSteps, t.steps);
  if (p.in_array) {
    p.slot_tiles = static_cast<uint32_t>(ceil_div(t.nq, m.mac_rows) * ceil_div(t.nkv, m.mac_columns));
#if ATTNVP_HETEROGENEOUS_CORES
    if (rt.is_heterogeneous()) {  // of the core that needs the most
      p.slot_tiles =
          static_cast<uint32_t>(ceil_div(t.nq, rt.deal().least_rows()) * ceil_div(t.nkv, rt.deal().least_columns()));
    }
#endif
    if (p.slot_tiles * (p.lag + 1) > m.resident_tiles) rt.refuse(OnlineTiling::kNq, t.nq);
  } else {
    rt.check_l0(t.l0);
  }
  return p;
}

OnlineAttention::OnlineAttention(Runtime& rt, const OnlinePlan& plan)
    : rt_(rt),
      plan_(plan),
      cut_(rt, plan.tiling.nkv),
#if ATTNVP_HETEROGENEOUS_CORES
      window_(rt.is_heterogeneous() ? window_of(rt, plan.tiling.nq, plan.tiling.nkv, plan.tiling.row_buffers)
                                    : Window{plan.tiling.nq, plan.tiling.nq}),
      rows_(rt, window_.rows, window_.unit, 1)
#else
      rows_(rt, plan.tiling.nq, plan.tiling.nq, 1)
#endif
{
  const hal::Layer& l = rt.layer();
  const OnlineTiling& t = plan.tiling;
  slabs_ = rows_.count();
  const uint32_t cores = rt.is_heterogeneous() ? rt.cores() : rt.use_cores(slabs_);
  emb_ = l.emb;
  value_emb_ = rt.value_emb();
  slabs_per_block_ = min(rt.is_heterogeneous() ? t.row_buffers : t.row_buffers * cores, slabs_);
  blocks_per_head_ = static_cast<uint32_t>(ceil_div(slabs_, slabs_per_block_));
  rt.check_extents(min(t.nq, l.seq_q), min(t.nkv, l.seq_kv));
  // Grouped queries give many row blocks per head: its tiles are loaded once if all of them fit.
  resident_ = rt.rules().group > 1 && blocks_per_head_ > 1 && cut_.count() <= plan_.kv_ring;
  if (resident_) plan_.kv_ring = cut_.count();
  const auto scores = [&](uint32_t block) { return scores_of(block); };
  const uint32_t heads = l.batch * l.heads, clusters = rt.machine().clusters;
  uint32_t parts = 0;
  if (resident_ && clusters > 1) {
    SharedGroups g;
    g.groups = heads;
    g.items = blocks_per_head_;
    g.lanes = 1;
    g.commands = 5 * slabs_per_block_ * cut_.count();
    g.loads = 2 * cut_.count();
    g.keys = rows_.most_keys();
    for (uint32_t block = 0; block < blocks_per_head_; ++block) g.scores += scores(block) / cores;
    parts = parts_of_a_group_for(rt, g);
  }
  Share own = parts == 0 ? share(heads, blocks_per_head_, !rows_.uneven(), scores, rt.cluster(), clusters)
                         : share_parts(heads, blocks_per_head_, !rows_.uneven(), scores, parts, rt.cluster(), clusters);
#if ATTNVP_HETEROGENEOUS_CORES
  if (rt.has_unequal_clusters()) {
    own = weighted_share(rt.cluster_deal(), heads, blocks_per_head_, !rows_.uneven(), scores, rt.cluster());
  }
#endif
  first_block_ = own.first;
  last_block_ = own.last;
  loads_.block = first_block_;

  for (OnlineCore& c : core_) c.load_block = first_block_;

  slab_bytes_ = q_bytes(rt, t.nq) + Sums::bytes(t.nq, value_emb_);
  const uint64_t tile_keys = uint64_t{plan_.kv_ring} * t.nkv;
  k_ = rt.allocate(tile_keys * emb_ * rt.bytes(), L1Region::kK);
  v_ = rt.allocate(tile_keys * value_emb_ * rt.bytes(), L1Region::kV);
  for (uint32_t c = 0; rt.ok() && c < cores; ++c) {
    core_[c].slots = rt.allocate(plan.slots * round_up(slab_bytes_, 64), L1Region::kQ);
    core_[c].tiles =
        rt.allocate(uint64_t{plan.ring} * round_up(Sums::bytes(t.nq, value_emb_), 64), L1Region::kPartials);
    if (!plan.in_array)
      core_[c].scores = rt.allocate(uint64_t{plan.ring} * t.nq * t.nkv * kHalfBytes, L1Region::kScores);
  }
  q_ready_ = rt.events(cores);
  slot_free_ = rt.events(cores, plan.slots);
  k_ready_ = rt.events(cores);
  v_ready_ = rt.events(cores);
  k_free_ = rt.events(cores, plan_.kv_ring);
  v_free_ = rt.events(cores, plan_.kv_ring);
  scored_ = rt.events(cores);
  maxed_ = rt.events(cores);
  summed_ = rt.events(cores);
  ring_free_ = rt.events(cores, plan.ring);
  o_ready_ = rt.events(cores);
  turn_ = rt.events(cores, 1);
  stored_ = rt.events(1);
  rt.expect_scores(cores, min(t.nq, l.seq_q), min(t.nkv, l.seq_kv), rt.own_channel());
}

uint32_t OnlineAttention::slabs_in(uint32_t block) const {
  return min(slabs_per_block_, slabs_ - block % blocks_per_head_ * slabs_per_block_);
}

#if ATTNVP_HETEROGENEOUS_CORES
Item OnlineAttention::slab_of(uint32_t core, uint32_t block, uint32_t place) const {
  Item item{};
  item.valid = true;
  item.head = block / blocks_per_head_;
  rows_.fill(item, block % blocks_per_head_ * slabs_per_block_ + place);
  const uint32_t unit = window_.unit;
  const uint64_t from = item.head * ceil_div(uint64_t{rt_.layer().seq_q}, uint64_t{unit}) + item.row / unit;
  narrow(rt_, item, plan_.tiling.nq, unit, core, from, (place & 1) != 0);
  return item;
}
#endif

// Uneven slabs are assigned to cores in alternating order.
uint32_t OnlineAttention::slabs_of(uint32_t core, uint32_t block) const {
#if ATTNVP_HETEROGENEOUS_CORES
  if (rt_.is_heterogeneous()) {
    uint32_t slabs = 0;
    for (uint32_t place = 0; place < slabs_in(block); ++place) slabs += slab_of(core, block, place).valid ? 1 : 0;
    return slabs;
  }
#endif
  const uint32_t all = slabs_in(block), cores = rt_.cores();
  const uint32_t turn = rows_.uneven() && (all / cores & 1) != 0 ? cores - 1 - core : core;
  return all / cores + (turn < all % cores ? 1 : 0);
}

Item OnlineAttention::slab(uint32_t core, uint32_t block, uint32_t index) const {
#if ATTNVP_HETEROGENEOUS_CORES
  if (rt_.is_heterogeneous()) {
    for (uint32_t place = 0;; ++place) {
      Item item = slab_of(core, block, place);
      if (!item.valid || index-- > 0) continue;
      if (!rows_.uneven()) return item;
      const hal::Layer& l = rt_.layer();
      rows_.see(item, rt_.mask().is_padded() ? rt_.valid_keys(item.head / l.heads) : l.seq_kv);
      return item;
    }
  }
#endif
  const uint32_t cores = rt_.cores();
  const uint32_t turn = rows_.uneven() && (index & 1) != 0 ? cores - 1 - core : core;
  Item item{};
  item.valid = true;
  item.head = block / blocks_per_head_;
  rows_.fill(item, block % blocks_per_head_ * slabs_per_block_ + index * cores + turn);
  if (rt_.mask().is_padded()) rows_.see(item, rt_.valid_keys(item.head / rt_.layer().heads));
  return item;
}

uint64_t OnlineAttention::scores_of(uint32_t block) const {
  uint64_t scores = 0;
  const uint32_t first = block * slabs_per_block_;
  for (uint32_t s = first; s < min(first + slabs_per_block_, slabs_); ++s) scores += rows_.scores(s);
  return scores;
}

bool OnlineAttention::needed(uint32_t block, uint32_t j) const {
  if (!rows_.uneven()) return true;
  const uint32_t first = block % blocks_per_head_ * slabs_per_block_;
  for (uint32_t s = first; s < min(first + slabs_per_block_, slabs_); ++s) {
    Item item{};
    rows_.fill(item, s);
    if (rt_.mask().is_padded()) rows_.see(item, rt_.valid_keys(block / blocks_per_head_ / rt_.layer().heads));
    if (cut_.part(item, j).any()) return true;
  }
  return false;
}

bool OnlineAttention::comes(const TilePosition& tile) const {
  if (!resident_) return true;
  const uint32_t head = tile.block / blocks_per_head_ * blocks_per_head_;
  for (uint32_t block = max(head, first_block_); block < tile.block; ++block) {
    if (needed(block, tile.j)) return false;
  }
  return true;
}

OnlineAttention::TilePosition OnlineAttention::at_or_after(TilePosition tile) const {
  for (; tile.block < last_block_; ++tile.block, tile.j = 0) {
    for (; tile.j < cut_.count(); ++tile.j) {
      if (needed(tile.block, tile.j)) return tile;
    }
  }
  return tile;
}

Sums OnlineAttention::running(uint32_t core, const SlabStep& s) const {
  const uint64_t slot = core_[core].slots + uint64_t{s.slab % plan_.slots} * round_up(slab_bytes_, 64);
  return {slot + q_bytes(rt_, plan_.tiling.nq), s.rows, value_emb_};
}

Sums OnlineAttention::tile_sums(uint32_t core, const SlabStep& s) const {
  const uint64_t bytes = round_up(Sums::bytes(plan_.tiling.nq, value_emb_), 64);
  return {core_[core].tiles + uint64_t{s.number % plan_.ring} * bytes, s.rows, value_emb_};
}

Matrix OnlineAttention::q_rows(uint32_t core, uint32_t slab, uint32_t rows) const {
  return {core_[core].slots + uint64_t{slab % plan_.slots} * round_up(slab_bytes_, 64), rows, emb_, emb_ * rt_.bytes(),
          rt_.type()};
}

Matrix OnlineAttention::scores(uint32_t core, const SlabStep& s) const {
  const uint32_t stride = plan_.tiling.nkv * kHalfBytes;
  return {core_[core].scores + uint64_t{s.number % plan_.ring} * plan_.tiling.nq * stride, s.rows, s.keys.keys, stride};
}

Matrix OnlineAttention::kv_tile(uint64_t base, uint32_t tile, uint32_t rows, uint32_t emb) const {
  const uint32_t stride = emb * rt_.bytes();
  return {base + uint64_t{tile % plan_.kv_ring} * plan_.tiling.nkv * stride, rows, emb, stride, rt_.type()};
}

Matrix OnlineAttention::kv_tile(uint64_t base, const SlabStep& s, uint32_t emb) const {
  return rows_of(kv_tile(base, s.tile, s.key + s.keys.keys, emb), s.key, s.keys.keys);
}

// Loads K and V up to tile `until` of this cluster. Resident tiles are loaded only for the current head, because those
// of the next head replace them.
void OnlineAttention::load_tiles(uint32_t until, uint32_t head_now) {
  const hal::Layer& l = rt_.layer();
  const uint32_t stride = emb_ * rt_.bytes(), v_stride = value_emb_ * rt_.bytes();
  const Events cores_k_free{k_free_.first, rt_.cores()}, cores_v_free{v_free_.first, rt_.cores()};
  while (rt_.ok() && loads_.number < until) {
    loads_ = at_or_after(loads_);
    if (loads_.block >= last_block_) return;
    if (resident_ && loads_.block / blocks_per_head_ != head_now) return;
    if (!comes(loads_)) {
      ++loads_.j;
      continue;
    }
    const uint32_t head = loads_.block / blocks_per_head_, j = loads_.j++, count = loads_.number++;
    const uint32_t number = resident_ ? j : count;
    const uint32_t places = !resident_ ? 1 : head == head_loading_ ? 0 : plan_.kv_ring;  // all of a head at once
    head_loading_ = head;
    const uint32_t rows = cut_.rows(j);
    const uint64_t row = uint64_t{head} * l.seq_kv + cut_.row(j);
    rt_.dma(kLoadChannel, copy({l.k + row * stride, rows, emb_, stride, rt_.type()}, kv_tile(k_, number, rows, emb_))
                              .after(cores_k_free, places)
                              .then(k_ready_)
                              .label(head, j));
    rt_.dma(kLoadChannel,
            copy({l.v + row * v_stride, rows, value_emb_, v_stride, rt_.type()}, kv_tile(v_, number, rows, value_emb_))
                .after(cores_v_free, places)
                .then(v_ready_)
                .label(head, j));
  }
}

// Loads Q up to the core's slab `until`, limited to slots whose stores have been issued. Loads follow those stores on
// the same channel.
void OnlineAttention::load_slabs(uint32_t core, uint32_t until) {
  OnlineCore& c = core_[core];
  while (rt_.ok() && c.loaded < min(until, c.stored + plan_.slots)) {
    while (c.load_block < last_block_ && c.load_index >= slabs_of(core, c.load_block)) {
      ++c.load_block;
      c.load_index = 0;
    }
    if (c.load_block >= last_block_) return;
    const Item slab = this->slab(core, c.load_block, c.load_index++);
    const Matrix q = q_rows(core, c.loaded++, slab.rows);
    rt_.dma(kStoreChannel,
            copy(dram_q(rt_, slab), q).after(slot_free_.of(core)).then(q_ready_.of(core)).label(slab.head, slab.block));
  }
}

// Scores stay in the array; the VEC engine receives their row maxima and returns the running maxima.
void OnlineAttention::first_half_in_array(uint32_t core, const SlabStep& s) {
  const Sums running = this->running(core, s), tile = tile_sums(core, s);
  const Matrix before = running.maximum(s.j + 3), after = running.maximum(s.j);
  Command score = score_tile(q_rows(core, s.slab, s.rows), kv_tile(k_, s, emb_), tile.tile_maximum(), array_slot(s));
  rt_.scale_scores(score, s.head);
  mask(rt_, score, s.row, s.keys.key);
  score.after(ring_free_.of(core)).then(scored_.of(core)).label(s.head, s.block);
  if (s.takes_tile) score.after(k_ready_.of(core));
  if (s.leaves_tile) score.then(k_free_.of(core));
  score.after(q_ready_.of(core), s.begins);
  if (plan_.serial) score.after(turn_.of(core));
  rt_.scores(core, core, score, {s.head, s.row, s.rows, s.keys.key, s.keys.keys});

  const uint32_t flags = (s.first ? hal::kFirst : 0) | (plan_.serial ? hal::kUnscaled : 0);
  Command max = online_max(tile.tile_maximum(), before, tile.scales(), after, flags);
  rt_.vec(core, max.after(scored_.of(core)).then(maxed_.of(core)).label(s.head, s.block));
  if (!plan_.serial) return;
  Command scale = rescale(running, before, after);
  scale.raw().flags |= hal::kInOrder;
  rt_.vec(core, scale.forwarded(plan_.forwarded).label(s.head, s.block));
}

// Variant without the array's row operations: scores pass through L1.
void OnlineAttention::first_half(uint32_t core, const SlabStep& s) {
  const Matrix scores = this->scores(core, s);
  Command multiply = matmul_abt(q_rows(core, s.slab, s.rows), kv_tile(k_, s, emb_), scores, plan_.tiling.l0);
  rt_.scale_scores(multiply, s.head);
  multiply.after(ring_free_.of(core)).then(scored_.of(core)).label(s.head, s.block);
  if (s.takes_tile) multiply.after(k_ready_.of(core));
  if (s.leaves_tile) multiply.then(k_free_.of(core));
  multiply.after(q_ready_.of(core), s.begins);
  if (plan_.serial) multiply.after(turn_.of(core));
  rt_.scores(core, core, multiply, {s.head, s.row, s.rows, s.keys.key, s.keys.keys});
  Command softmax = online_softmax(scores, rt_.in(scores), running(core, s).maximum(), tile_sums(core, s), s.first);
  mask(rt_, softmax, s.row, s.keys.key);
  rt_.vec(core, softmax.after(scored_.of(core)).then(maxed_.of(core)).label(s.head, s.block));
}

void OnlineAttention::second_half(uint32_t core, const SlabStep& s) {
  const Sums running = this->running(core, s), tile = tile_sums(core, s);
  const Matrix v = kv_tile(v_, s, value_emb_);
  Command sums = plan_.in_array ? attend_tile(running.maximum(s.j), v, tile, array_slot(s))
                                : numerators(rt_.in(scores(core, s)), v, tile, plan_.tiling.l0);
  sums.forwarded(plan_.forwarded);
  rt_.scale_values(sums, s.head);
  rt_.place_values(sums, {s.head, s.row, s.rows, s.keys.key, s.keys.keys});
  sums.after(maxed_.of(core)).then(summed_.of(core)).label(s.head, s.block);
  if (s.takes_tile) sums.after(v_ready_.of(core));
  if (s.leaves_tile) sums.then(v_free_.of(core));
  rt_.mac(core, sums);

  const bool unscaled = plan_.in_array && plan_.serial;
  Command add = scale_add(
      running, tile,
      (s.first ? hal::kFirst : 0) | (unscaled ? hal::kUnscaled : 0) | (plan_.forwarded ? hal::kForwarded : 0));
  add.after(summed_.of(core)).then(ring_free_.of(core));
  if (plan_.serial) add.then(turn_.of(core));
  rt_.vec(core, add.label(s.head, s.block));
  if (s.last && !rt_.map().any()) end_slab(core, s);
}

// O reuses the space of Q.
void OnlineAttention::end_slab(uint32_t core, const SlabStep& s) {
  const uint32_t stride = value_emb_ * rt_.out_bytes();
  const Matrix o{q_rows(core, s.slab, 0).address, s.rows, value_emb_, stride, rt_.out_type()};
  const Sums sums = running(core, s);
  Command last = divide(sums, o);
  add_sinks(rt_, last, sums.maximum(plan_.in_array ? s.j : 0), s.head, s.row, rt_.mask());
  rt_.vec(core, last.then(o_ready_.of(core)).label(s.head, s.block));
  const uint64_t row = uint64_t{s.head} * rt_.layer().seq_q + s.row;
  Command store = copy(o, {rt_.layer().o + row * stride, s.rows, value_emb_, stride, rt_.out_type()});
  store.after(o_ready_.of(core)).then(slot_free_.of(core)).then(stored_).label(s.head, s.block);
  rt_.dma(kStoreChannel, store);
  ++stores_;
  ++core_[core].stored;
}

// A core without a slab for the tile releases it, after its own earlier tiles.
void OnlineAttention::pass(uint32_t core) {
  drain(core, 0);
  Command pass = fence();
  pass.after(k_ready_.of(core)).after(v_ready_.of(core));
  if (!resident_) pass.then(k_free_.of(core)).then(v_free_.of(core));
  rt_.mac(core, pass);
}

void OnlineAttention::give_back() {
  for (uint32_t c = 0; rt_.ok() && c < rt_.cores(); ++c) {
    drain(c, 0);
    rt_.mac(c, fence().then(k_free_.of(c), plan_.kv_ring).then(v_free_.of(c), plan_.kv_ring));
  }
}

// Under a block map, slabs may end in a different order from that of their slots' reuse.
void OnlineAttention::end_slabs(uint32_t core, uint32_t block) {
  drain(core, 0);
  for (uint32_t index = 0; index < slabs_of(core, block); ++index) {
    const Item slab = this->slab(core, block, index);
    SlabStep s;
    s.slab = core_[core].slabs + index;
    s.head = slab.head;
    s.block = slab.block;
    s.row = slab.row;
    s.rows = slab.rows;
    end_slab(core, s);
  }
}

void OnlineAttention::drain(uint32_t core, uint32_t left) {
  OnlineCore& c = core_[core];
  while (rt_.ok() && c.waiting_count > left) {
    second_half(core, c.waiting[0]);
    --c.waiting_count;
    for (uint32_t i = 0; i < c.waiting_count; ++i) c.waiting[i] = c.waiting[i + 1];
  }
}

void OnlineAttention::step(uint32_t core, const TilePosition& tile, uint32_t index, bool takes_tile, bool leaves_tile) {
  OnlineCore& c = core_[core];
  const Item slab = this->slab(core, tile.block, index);
  SlabStep s;
  s.number = c.steps++;
  s.slab = c.slabs + index;
  s.head = slab.head;
  s.block = slab.block;
  s.row = slab.row;
  s.rows = slab.rows;
  s.tile = resident_ ? tile.j : tile.number;
  s.keys = cut_.part(slab, tile.j);
  s.key = s.keys.key - cut_.row(tile.j);
  s.first = s.keys.first;
  s.last = s.keys.last;
  s.j = cut_.number_of(slab, tile.j);
  s.takes_tile = takes_tile;
  s.leaves_tile = leaves_tile;
  if (s.slab >= c.begun) s.begins = s.slab + 1 - c.begun;
  c.begun += s.begins;
  load_slabs(core, s.slab + kSlabsAhead);
  plan_.in_array ? first_half_in_array(core, s) : first_half(core, s);
  c.waiting[c.waiting_count++] = s;
  drain(core, plan_.lag);
}

// Steps of all cores' slabs whose rows attend to the tile.
void OnlineAttention::steps(const TilePosition& tile) {
  const uint32_t cores = rt_.cores();
  const auto meets = [&](uint32_t core, uint32_t index) {
    return index < slabs_of(core, tile.block) &&
           (!rows_.uneven() || cut_.part(slab(core, tile.block, index), tile.j).any());
  };
  const bool comes = this->comes(tile);
  uint32_t first[kMaxCores], end[kMaxCores];
  for (uint32_t c = 0; c < cores; ++c) {
    first[c] = 0;
    end[c] = slabs_of(c, tile.block);
    while (first[c] < end[c] && !meets(c, first[c])) ++first[c];
    while (end[c] > first[c] && !meets(c, end[c] - 1)) --end[c];
  }
  for (uint32_t index = 0; (rt_.is_heterogeneous() ? index : index * cores) < slabs_in(tile.block); ++index) {
    for (uint32_t c = 0; rt_.ok() && c < cores; ++c) {
      if (first[c] == end[c]) {
        if (index == 0 && comes) pass(c);
      } else if (meets(c, index)) {
        step(c, tile, index, comes && index == first[c], !resident_ && index + 1 == end[c]);
      }
    }
  }
}

void OnlineAttention::run() {
  if (rt_.dry()) return;
  const uint32_t ahead = resident_ ? kTilesAhead : plan_.kv_ring - 1 - min(plan_.lag, plan_.kv_ring - 1);
  const uint32_t cores = rt_.cores();
  for (uint32_t c = 0; c < cores; ++c) load_slabs(c, 1);
  TilePosition tile = loads_;
  for (uint32_t block = first_block_; rt_.ok() && block < last_block_; ++block) {
    for (tile = at_or_after(tile); rt_.ok() && tile.block == block; tile = at_or_after(tile)) {
      load_tiles(tile.number + 1 + ahead, block / blocks_per_head_);
      steps(tile);
      if (comes(tile)) ++tile.number;
      ++tile.j;
    }
    if (resident_ && (block + 1 == last_block_ || (block + 1) % blocks_per_head_ == 0)) {
      give_back();
    }
    for (uint32_t c = 0; c < cores; ++c) {
      if (rt_.map().any()) end_slabs(c, block);
      core_[c].slabs += slabs_of(c, block);
    }
  }
  for (uint32_t c = 0; rt_.ok() && c < cores; ++c) drain(c, 0);
  rt_.wait(stored_, stores_);
}

}  // namespace attnvp::firmware
