#include "firmware/runtime/attention/decode.h"

#include "firmware/hal/job.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kMostRing = 3;
constexpr uint32_t kMostTiles = 32;  // resident tiles of a head: bits of WorkerState::here
constexpr uint32_t kParts = 8;       // partial results that a merge kernel loads ahead

uint32_t ring(const DecodePlan& p) { return p.lag + 2; }  // tiles' sums in flight

uint64_t q_bytes(const Runtime& rt, const DecodePlan& p) {  // later reused for O
  return round_up(
      max(uint64_t{p.rows} * rt.layer().emb * rt.bytes(), uint64_t{p.rows} * rt.value_emb() * rt.out_bytes()), 64);
}

uint64_t slot_bytes(const Runtime& rt, const DecodePlan& p) {
  return q_bytes(rt, p) + round_up(Sums::bytes(p.rows, rt.value_emb()), 64);
}

const char* const kGrids[] = {"workers", "blocks", nullptr};
const char* const kStepGrids[] = {"workers", "blocks", "steps", "heads", nullptr};
const char* const kShares[] = {"1", "2", "3", "4", nullptr};
const char* const kKernels[] = {"0", "1", "2", "3", nullptr};
constexpr DataflowOption kShareEntry = {"share", kShares, "workers, or thread blocks, that share a core"};
constexpr DataflowOption kKernelsEntry = {
    "kernels", kKernels, "kernels that are launched besides: what brings tensors into order before and after"};

}  // namespace

const DataflowOption kGridOptions[] = {
    {"grid", kGrids,
     "workers go on from piece to piece, loading ahead; blocks: a GPU's thread blocks, each dealt when the one before "
     "is done, tiles padded to m0 x n0, pieces merged by a kernel of its own"},
    kShareEntry,
    kKernelsEntry,
    {nullptr, nullptr, nullptr}};

const DataflowOption kFlash2Options[] = {
    {"grid", kStepGrids,
     "as of flash3; steps: a Pallas grid, every tile of keys dealt when the one before is done, tiles loading ahead; "
     "heads: as blocks, with the blocks of all heads before the next row block"},
    kShareEntry,
    kKernelsEntry,
    {nullptr, nullptr, nullptr}};

DecodePlan plan_decode(Runtime& rt, bool grids) {
  DecodePlan p;
  if (grids) {
    const uint32_t* option = rt.job().option;
    p.grid = static_cast<Grid>(option[kGridOption]);
    p.heads_first = p.grid == Grid::kHeads;
    if (p.heads_first) p.grid = Grid::kBlocks;
    p.share = option[kShareOption] + 1;
    p.kernels = option[kKernelsOption];
  }
  p.tiling = rt.parameters<DecodeTiling>();
  const uint32_t rows = rt.layer().seq_q;
  rt.check_extents(min(p.tiling.nq, rows), min(p.tiling.nkv, rt.layer().seq_kv));
  rt.check_l0(p.tiling.l0);
  p.kv_ring = p.tiling.kv_buffers == hal::kWord ? kMostRing : p.tiling.kv_buffers;
  p.lag = p.grid == Grid::kSteps ? 0 : min(p.kv_ring - 1, uint32_t{1});
  p.ahead = p.kv_ring - 1 - p.lag;
  p.slots = p.ahead + p.lag + 2;
  const bool blocks = p.grid == Grid::kBlocks;
  // Grouped queries give many row blocks per head.
  const uint32_t tiles = KeyBlocks(rt, max(p.tiling.nkv, uint32_t{1})).count();
  p.resident = p.grid == Grid::kWorkers && !rt.is_heterogeneous() && rt.rules().group > 1 && rt.layer().ragged == 0 &&
               p.tiling.nq < rows && tiles <= p.kv_ring && tiles <= kMostTiles;
  if (p.resident) {
    p.kv_ring = tiles;
    p.lag = p.ahead = 1;
    p.slots = p.ahead + p.lag + 2;
  }
  p.rows = blocks ? round_up(p.tiling.nq, max(p.tiling.l0.m0, uint32_t{1})) : p.tiling.nq;
  p.keys = blocks ? round_up(p.tiling.nkv, max(p.tiling.l0.n0, uint32_t{1})) : p.tiling.nkv;
  p.parts = blocks ? kParts : ring(p);
  return p;
}

Decode::Decode(Runtime& rt, const DecodePlan& plan, const Contexts& contexts, const StreamK& work)
    : rt_(rt), plan_(plan), contexts_(contexts), work_(work), emb_(rt.layer().emb), value_emb_(rt.value_emb()) {
  const uint32_t cores = lanes();
  if (cores > kMaxCores) rt.fail(Status::kBadJob);
  for (uint32_t c = 0; rt.ok() && c < cores; ++c) {
    WorkerState& lane = lane_[c];
    lane.k = rt.allocate(uint64_t{plan.kv_ring} * plan.keys * emb_ * rt.bytes(), L1Region::kK);
    lane.v = rt.allocate(uint64_t{plan.kv_ring} * plan.keys * value_emb_ * rt.bytes(), L1Region::kV);
    lane.tiles = rt.allocate(ring(plan) * round_up(Sums::bytes(plan.rows, value_emb_), 64), L1Region::kPartials);
    lane.scores = rt.allocate(uint64_t{ring(plan)} * plan.rows * plan.keys * kHalfBytes, L1Region::kScores);
    lane.slots = rt.allocate(plan.slots * slot_bytes(rt, plan), L1Region::kQ);
    lane.scales = rt.allocate(uint64_t{plan.tiling.nq} * 2 * kPartialBytes, L1Region::kPartials);
    lane.parts = lane.tiles;
    if (blocks() && work.merges()) lane.parts = rt.allocate(kParts * part_bytes(), L1Region::kPartials);
    lane.load.segment = lane.compute.segment = work.segment(worker(c), 0);
  }
  scratch_ = rt.scratch(work.records() * Sums::bytes(plan.tiling.nq, value_emb_));
  q_ready_ = rt.events(cores);
  slot_free_ = rt.events(cores, plan.slots);
  k_ready_ = rt.events(cores);
  v_ready_ = rt.events(cores);
  k_free_ = rt.events(cores, plan.kv_ring);
  v_free_ = rt.events(cores, plan.kv_ring);
  scored_ = rt.events(cores);
  maxed_ = rt.events(cores);
  summed_ = rt.events(cores);
  ring_free_ = rt.events(cores, ring(plan));
  o_ready_ = rt.events(cores);
  merged_ = rt.events(cores);
  part_ready_ = rt.events(cores);
  part_free_ = blocks() ? rt.events(cores, kParts) : ring_free_;
  over_ = blocks() || steps() ? rt.events(cores) : Events{};
  stored_ = rt.events(1);
  rt.expect_scores(cores, plan.rows, plan.keys, {0, rt.machine().dma_channels - 1U});
}

// The write stalls for as long as the machine takes to dispatch.
void Decode::dispatch(uint32_t what) { rt_.write(hal::kDispatchAddress, &what, sizeof what); }

uint32_t Decode::load_channel(uint32_t core) const { return core % (rt_.machine().dma_channels - 1); }

uint64_t Decode::slot(uint32_t core, uint32_t piece) const {
  return lane_[core].slots + piece % plan_.slots * slot_bytes(rt_, plan_);
}

Item Decode::rows_of(const Segment& s) const { return contexts_.rows(s.context, s.head); }

Matrix Decode::q_rows(uint32_t core, uint32_t piece, uint32_t rows) const {
  return {slot(core, piece), rows, emb_, emb_ * rt_.bytes(), rt_.type()};
}

Sums Decode::running(uint32_t core, uint32_t piece, uint32_t rows) const {
  return {slot(core, piece) + q_bytes(rt_, plan_), rows, value_emb_};
}

Sums Decode::tile_sums(uint32_t core, uint32_t number, uint32_t rows) const {
  return {lane_[core].tiles + number % ring(plan_) * round_up(Sums::bytes(plan_.rows, value_emb_), 64), rows,
          value_emb_};
}

uint64_t Decode::part_bytes() const {
  return round_up(Sums::bytes(blocks() ? plan_.tiling.nq : plan_.rows, value_emb_), 64);
}

Sums Decode::part_sums(uint32_t core, uint32_t number, uint32_t rows) const {
  return {lane_[core].parts + number % plan_.parts * part_bytes(), rows, value_emb_};
}

Matrix Decode::scores(uint32_t core, const TileStep& s) const {
  const uint32_t stride = plan_.keys * kHalfBytes;
  return {lane_[core].scores + uint64_t{s.number % ring(plan_)} * plan_.rows * stride, s.all_rows, s.all_keys, stride};
}

Matrix Decode::kv_tile(uint64_t base, uint32_t number, uint32_t keys, uint32_t emb) const {
  const uint32_t stride = emb * rt_.bytes();
  return {base + uint64_t{number % plan_.kv_ring} * plan_.keys * stride, keys, emb, stride, rt_.type()};
}

Matrix Decode::rows_in_dram(uint64_t tensor, uint64_t row, uint32_t rows, uint32_t emb, hal::ElementType type) const {
  const uint32_t stride = emb * hal::element_bytes(type);
  return {tensor + row * stride, rows, emb, stride, type};
}

// Loads a tile of K or V with one transfer per contiguous range.
void Decode::load_keys(uint32_t core, const Segment& s, const KeyBlocks::KeyPart& part, uint64_t tensor,
                       const Matrix& tile, FreeBuffers free, Events ready, uint32_t label) {
  for (uint32_t done = 0; rt_.ok() && done < part.keys;) {
    const uint32_t key = part.key + done, keys = contexts_.run_of(key, part.keys - done);
    const uint64_t row = contexts_.key_row(rt_, s.context, s.head, key);
    Command load = copy(rows_in_dram(tensor, row, keys, tile.columns, rt_.type()), firmware::rows_of(tile, done, keys));
    if (done == 0) load.after(free.events, free.places);
    done += keys;
    if (done == part.keys) load.then(ready);
    rt_.dma(load_channel(core), load.label(label, s.first + lane_[core].load.tile));
  }
}

// Rows of K or V that a step needs.
Matrix Decode::kv_of(uint64_t base, const TileStep& s, uint32_t emb) const {
  if (!plan_.resident) return kv_tile(base, s.number, s.all_keys, emb);
  const uint32_t row = s.keys.key - s.first_key;
  return firmware::rows_of(kv_tile(base, s.block, row + s.all_keys, emb), row, s.all_keys);
}

// Partial result in DRAM: rows of sums with their maxima, in units of FP16 because it is copied.
Matrix Decode::record(uint32_t index, uint32_t rows) const {
  const uint32_t stride = Sums::stride(value_emb_);
  return {scratch_ + uint64_t{index} * plan_.tiling.nq * stride, rows, stride / kHalfBytes, stride};
}

void Decode::advance(uint32_t core, Cursor& cursor) const {
  ++cursor.number;
  if (++cursor.tile < cursor.segment.tiles) return;
  cursor.tile = 0;
  cursor.segment = work_.segment(worker(core), ++cursor.piece);
}

// Loads the next tile of K and V, and Q with a piece's first tile.
void Decode::load_one(uint32_t core) {
  WorkerState& lane = lane_[core];
  Cursor& at = lane.load;
  if (!at.segment.valid) return;
  const Segment& s = at.segment;
  const Item rows = rows_of(s);
  const uint32_t head = rows.head, channel = load_channel(core);
  KeyBlocks::KeyPart part = contexts_.keys(s.context, s.first + at.tile);
  uint32_t place = at.number;
  bool comes = true;
  if (plan_.resident) {  // the whole tile, once
    place = contexts_.block(s.context, s.first + at.tile);
    comes = (lane.here >> place & 1) == 0;
    part = contexts_.whole(s.context, place);
    lane.here |= 1U << place;
    lane.came += comes ? 1 : 0;
    const uint32_t bit = 1U << at.number % 32;
    lane.coming = comes ? lane.coming | bit : lane.coming & ~bit;
  }
  if (at.tile == 0) {
    const Matrix q = rows_in_dram(rt_.layer().q, contexts_.query_row(s.context, rows), rows.rows, emb_, rt_.type());
    rt_.dma(channel, copy(q, q_rows(core, at.piece, rows.rows))
                         .after(slot_free_.of(core))
                         .then(q_ready_.of(core))
                         .label(head, rows.block));
  }
  if (comes) {
    const uint32_t places = !plan_.resident ? 1 : lane.came == 1 ? plan_.kv_ring : 0;  // all of a head at once
    load_keys(core, s, part, rt_.layer().k, kv_tile(lane.k, place, part.keys, emb_), {k_free_.of(core), places},
              k_ready_.of(core), head);
    load_keys(core, s, part, rt_.layer().v, kv_tile(lane.v, place, part.keys, value_emb_), {v_free_.of(core), places},
              v_ready_.of(core), head);
  }
  advance(core, at);
}

// Pads keys to whole sub-tiles, unless the layer's mask would make the padding visible to a query.
uint32_t Decode::padded_keys(const TileStep& s) const {
  const uint32_t keys = s.keys.keys, all = static_cast<uint32_t>(round_up(keys, plan_.tiling.l0.n0));
  const hal::Mask rule = contexts_.mask(s.segment.context);
  const auto seen = [&](uint32_t columns) {
    return hal::visible_rows(rule, s.rows.row, s.rows.rows, s.keys.key + columns).count();
  };
  if (rule.by_key()) return keys;
  return !rule.by_place() || seen(all) == seen(keys) ? all : keys;
}

void Decode::step(uint32_t core) {
  WorkerState& lane = lane_[core];
  Cursor& at = lane.compute;
  TileStep s;
  s.segment = at.segment;
  s.piece = at.piece;
  s.number = at.number;
  s.tile = s.segment.first + at.tile;
  s.rows = rows_of(s.segment);
  s.keys = contexts_.keys(s.segment.context, s.tile);
  s.first = at.tile == 0;
  s.last = at.tile + 1 == s.segment.tiles;
  s.all_rows = blocks() ? plan_.rows : s.rows.rows;
  s.all_keys = blocks() ? padded_keys(s) : s.keys.keys;
  if (blocks() && s.first) {
    if (plan_.share == 1 && s.piece > 0) rt_.wait(over_.of(core));
    dispatch(hal::kBlock);
  }
  if (steps()) {
    if (s.number > 0) rt_.wait(over_.of(core));
    dispatch(hal::kBlock);
  }
  if (plan_.resident) change_head(core, s.rows.head);
  while (rt_.ok() && lane.load.segment.valid && lane.load.number <= s.number + plan_.ahead &&
         (!blocks() || lane.load.piece == s.piece) &&
         (!plan_.resident || rows_of(lane.load.segment).head == s.rows.head)) {
    load_one(core);
  }
  s.comes = true;
  if (plan_.resident) {
    s.comes = (lane.coming >> s.number % 32 & 1) != 0;
    s.block = contexts_.block(s.segment.context, s.tile);
    s.first_key = contexts_.whole(s.segment.context, s.block).key;
  }

  const uint32_t head = s.rows.head, rows = s.all_rows;
  const auto absent = static_cast<std::uint16_t>(s.all_keys - s.keys.keys);  // padding rows of the tile
  const Matrix scores = this->scores(core, s);
  Command score = matmul_abt(q_rows(core, s.piece, rows), kv_of(lane.k, s, emb_), scores, plan_.tiling.l0);
  score.raw().tail.matmul.absent = absent;
  rt_.scale_scores(score, head);
  hal::Mask rule = contexts_.mask(s.segment.context);
  score.after(k_ready_.of(core), s.comes ? 1 : 0).after(ring_free_.of(core)).then(scored_.of(core));
  if (!plan_.resident) score.then(k_free_.of(core));
  if (s.first) score.after(q_ready_.of(core));
  rt_.scores(core, core_of(core), score.label(head, s.tile), {head, s.rows.row, s.rows.rows, s.keys.key, s.keys.keys},
             rule);
  Command softmax = online_softmax(scores, rt_.in(scores), running(core, s.piece, rows).maximum(),
                                   tile_sums(core, s.number, rows), s.first);
  hal::BlockMask map = rt_.map();
  if (s.all_keys > s.keys.keys && !rule.by_place()) {  // a mask that hides the padding
    rule = {1, 0, 0, 1, s.keys.key + s.keys.keys - 1, 0, 0, 0};
    map = {};
  }
  mask(rule, map, softmax, s.rows.row, s.keys.key);
  rt_.vec(core_of(core), softmax.after(scored_.of(core)).then(maxed_.of(core)).label(head, s.tile));

  lane.waiting[lane.waiting_count++] = s;
  advance(core, at);
  lane.may_wait = at.segment.valid && !(blocks() && s.last) ? plan_.lag : 0;
  if (plan_.share == 1) finish(core);
}

// Issues the second halves of all waiting tiles but those that may wait for later tiles.
void Decode::finish(uint32_t core) {
  WorkerState& lane = lane_[core];
  while (rt_.ok() && lane.waiting_count > lane.may_wait) {
    second_half(core, lane.waiting[0]);
    --lane.waiting_count;
    for (uint32_t i = 0; i < lane.waiting_count; ++i) lane.waiting[i] = lane.waiting[i + 1];
  }
}

// Another head's tiles are loaded after all tiles of the previous head have been used.
void Decode::change_head(uint32_t core, uint32_t head) {
  WorkerState& lane = lane_[core];
  if (lane.head == head + 1) return;
  for (uint32_t i = 0; i < lane.waiting_count; ++i) second_half(core, lane.waiting[i]);
  lane.waiting_count = 0;
  if (lane.came > 0) {
    rt_.mac(core_of(core), fence().then(k_free_.of(core), plan_.kv_ring).then(v_free_.of(core), plan_.kv_ring));
  }
  lane.head = head + 1;
  lane.here = lane.came = 0;
}

void Decode::second_half(uint32_t core, const TileStep& s) {
  const uint32_t head = s.rows.head, rows = s.all_rows;
  const Sums tile = tile_sums(core, s.number, rows);
  Command sums = numerators(rt_.in(scores(core, s)), kv_of(lane_[core].v, s, value_emb_), tile, plan_.tiling.l0);
  sums.raw().tail.matmul.absent = static_cast<std::uint16_t>(s.all_keys - s.keys.keys);
  rt_.scale_values(sums, head);
  rt_.place_values(sums, {head, s.rows.row, rows, s.keys.key, s.all_keys})
      .after(maxed_.of(core))
      .after(v_ready_.of(core), s.comes ? 1 : 0)
      .then(summed_.of(core));
  if (!plan_.resident) sums.then(v_free_.of(core));
  rt_.mac(core_of(core), sums.label(head, s.tile));
  Command add = scale_add(running(core, s.piece, rows), tile, s.first ? hal::kFirst : 0);
  if (steps()) add.then(over_.of(core));
  rt_.vec(core_of(core), add.after(summed_.of(core)).then(ring_free_.of(core)).label(head, s.tile));
  if (s.last) end_piece(core, s);
}

void Decode::end_piece(uint32_t core, const TileStep& s) {
  ++lane_[core].pieces;
  if (s.segment.parts == 1) {
    store_o(core, s.segment, s.piece, false);
    return;
  }
  const uint32_t rows = s.rows.rows;
  const Sums sums = running(core, s.piece, rows);
  rt_.vec(core_of(core), fence().then(o_ready_.of(core)));
  const Matrix all{sums.address, rows, Sums::stride(value_emb_) / kHalfBytes, Sums::stride(value_emb_)};
  Command store = copy(all, record(s.segment.record, rows));
  store.after(o_ready_.of(core)).then(slot_free_.of(core)).then(stored_);
  if (blocks() && plan_.share == 1) store.then(over_.of(core));
  const uint32_t clusters = rt_.machine().clusters;
  store.then_remote(s.segment.host % clusters, merged_.of(s.segment.host / clusters));
  rt_.dma(store_channel(), store.label(s.rows.head, s.segment.part));
  ++stores_;
}

void Decode::store_o(uint32_t core, const Segment& s, uint32_t piece, bool merged) {
  const Item rows = rows_of(s);
  const Matrix o{slot(core, piece), rows.rows, value_emb_, value_emb_ * rt_.out_bytes(), rt_.out_type()};
  const Sums sums = running(core, piece, rows.rows);
  Command last = divide(sums, o);
  add_sinks(rt_, last, sums.maximum(), rows.head, rows.row, contexts_.mask(s.context));
  if (merged) last.raw().flags |= hal::kInOrder;
  rt_.vec(core_of(core), last.then(o_ready_.of(core)).label(rows.head, rows.block));
  Command store =
      copy(o, rows_in_dram(rt_.layer().o, contexts_.query_row(s.context, rows), rows.rows, value_emb_, rt_.out_type()));
  store.after(o_ready_.of(core)).then(slot_free_.of(core)).then(stored_);
  if (blocks() && plan_.share == 1 && !merged) store.then(over_.of(core));  // no command waits for a merge
  rt_.dma(store_channel(), store.label(rows.head, rows.block));
  ++stores_;
}

// Stalls the processor until all partial results of the heads that this worker hosts have arrived.
void Decode::merge(uint32_t core) {
  uint32_t parts = 0;
  Segment last;
  for (uint32_t n = 0;; ++n) {
    const Segment s = work_.segment(worker(core), n);
    if (!s.valid) break;
    if (s.part == 0 && s.parts > 1) parts += s.parts;
    last = s;
  }
  if (parts == 0) return;
  // Partial results reuse the buffers of its tiles, so all of its tiles must be computed first. That holds if its last
  // piece is among the results waited for; otherwise a fence signals it.
  if (!blocks() && (last.parts == 1 || last.host != worker(core))) {
    rt_.vec(core_of(core), fence().then(merged_.of(core)));
    ++parts;
  }
  rt_.wait(merged_.of(core), parts);
  if (blocks()) {
    dispatch(hal::kKernel);
    dispatch(hal::kBlock);
  }
  for (uint32_t n = 0; rt_.ok(); ++n) {
    const Segment s = work_.segment(worker(core), n);
    if (!s.valid) break;
    if (s.part == 0 && s.parts > 1) merge_head(core, s);
  }
}

void Decode::merge_head(uint32_t core, const Segment& s) {
  WorkerState& lane = lane_[core];
  const Item item = rows_of(s);
  const uint32_t piece = lane.pieces++, head = item.head, rows = item.rows;
  const Sums all = running(core, piece, rows);
  const auto in_l1 = [&](const Sums& sums) {
    return Matrix{sums.address, rows, Sums::stride(value_emb_) / kHalfBytes, Sums::stride(value_emb_)};
  };
  const Matrix scales{lane.scales, rows, 2, 2 * kPartialBytes};
  rt_.dma(load_channel(core), copy(record(work_.record(s, 0), rows), in_l1(all))
                                  .after(slot_free_.of(core))
                                  .then(part_ready_.of(core))
                                  .label(head, 0));
  for (uint32_t part = 1; rt_.ok() && part < s.parts; ++part) {
    const Sums other = part_sums(core, lane.parts_merged + part, rows);
    rt_.dma(load_channel(core), copy(record(work_.record(s, part), rows), in_l1(other))
                                    .after(part_free_.of(core))
                                    .then(part_ready_.of(core))
                                    .label(head, part));
    Command max = online_max(other.maximum(), all.maximum(), scales, all.maximum(), hal::kTwoScales | hal::kInOrder);
    rt_.vec(core_of(core), max.after(part_ready_.of(core), part == 1 ? 2 : 1).label(head, part));
    Command add = scale_add(all, other, scales, hal::kTwoScales | hal::kInOrder);
    rt_.vec(core_of(core), add.then(part_free_.of(core)).label(head, part));
  }
  lane.parts_merged += s.parts - 1;
  store_o(core, s, piece, true);
}

void Decode::run() {
  if (rt_.dry()) return;
  const uint32_t cores = lanes();
  for (uint32_t i = 0; i < plan_.kernels; ++i) dispatch(hal::kKernel);
#if ATTNVP_HETEROGENEOUS_CORES
  uint64_t turn = 0;
#endif
  for (bool any = true; rt_.ok() && any;) {
    any = false;
    for (uint32_t c = 0; c < cores; ++c) {
      if (!lane_[c].compute.segment.valid) continue;
#if ATTNVP_HETEROGENEOUS_CORES
      // Issues steps in proportion to core speed, because a full queue stalls the processor and thus starves other
      // cores.
      const uint64_t done = uint64_t{lane_[c].compute.number} * rt_.deal().most_weight();
      if (rt_.is_heterogeneous() && done > turn * rt_.deal().weight(c) + rt_.deal().most_weight() / 2) {
        any = true;
        continue;
      }
#endif
      step(c);
      any = true;
    }
    // Workers that share a core: the product of one worker's tile runs during the softmax of another's.
    for (uint32_t c = 0; rt_.ok() && plan_.share > 1 && c < cores; ++c) finish(c);
#if ATTNVP_HETEROGENEOUS_CORES
    ++turn;
#endif
  }
  for (uint32_t c = 0; rt_.ok() && c < cores; ++c) merge(c);
  rt_.wait(stored_, stores_);
  for (uint32_t c = 0; rt_.ok() && c < rt_.machine().cores; ++c) {
    uint32_t tiles = 0;
    for (uint32_t lane = c * plan_.share; lane < min((c + 1) * plan_.share, cores); ++lane) {
      tiles += lane_[lane].compute.number;
    }
    rt_.write(hal::worker_tiles_address(rt_.cluster(), c), &tiles, sizeof tiles);
  }
  if (rt_.cluster() == 0) work_.report(rt_);
}

}  // namespace attnvp::firmware
