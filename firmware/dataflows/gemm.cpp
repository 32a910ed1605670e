// Single GEMM, C = Q.K^T to DRAM. Blocks are dispatched like thread blocks of a GPU. Partial sums stay in L0 between
// slices of the depth if they fit, else in L1. A block's result may be changed before it is stored (epilogue.h). B may
// have fewer bits than A (weights.h): a block's epilogue then follows the conversion of the next block's first tile.
//
// With a norm or a second product, L1 holds whole rows of A, which are normalised before their first product. Each
// cluster then has consecutive blocks, the columns of a row block first, so that it loads and normalises few rows. A
// second product D = C.E^T follows the first one of a row block, whose whole rows of C stay in L1.
#include "firmware/runtime/gemm.h"

#include "firmware/runtime/product/epilogue.h"
#include "firmware/runtime/product/weights.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLoads = 0, kStores = 1;  // DMA channels
constexpr uint32_t kBand = 8;                // row blocks processed together, so that shared operands stay in a cache

// One of the products of a row block; without columns: none.
struct ChainedProduct {
  ChainedProduct(Runtime& rt, uint64_t weights, uint64_t weight_scales, uint32_t columns, uint32_t depth,
                 const GemmTiling& t, const hal::FusedProduct& fused, bool panels, uint32_t least)
      : epilogue(rt, fused, columns, t, panels, least),
        b(weights),
        scales(weight_scales),
        n(columns),
        k(depth),
        blocks(static_cast<uint32_t>(ceil_div(n, t.nkv))),
        slices(n == 0 ? 0 : static_cast<uint32_t>(ceil_div(k, t.kd))),
        parts(fused.is_gated != 0 ? 2 : 1),
        is_kept(slices > 1 && rt.holds(uint64_t{t.nq} * t.nkv, t.l0)) {}

  Epilogue epilogue;
  uint64_t b, scales;  // DRAM addresses; of the scales of weights in a type of their own
  uint32_t n, k, blocks, slices, parts;
  bool is_kept;  // partial sums stay in L0
  Events done;   // of each core's blocks
};

// The cores of a cluster process consecutive row blocks and share operand B.
class GemmDataflow {
 public:
  GemmDataflow(Runtime& rt, const GemmTiling& t, const hal::FusedProduct& what, const hal::SecondProduct& second,
               const hal::Weights& weights, const hal::CachedColumns& cached, bool panels)
      : rt_(rt),
        t_(t),
        has_rows_(what.gamma != 0 || second.columns != 0),
        has_second_(second.columns != 0),
        cores_(rt.cores()),
        least_(least_cores(rt, t)),
        m_(rt.layer().seq_q),
        row_blocks_(static_cast<uint32_t>(ceil_div(m_, uint64_t{t.nq} * cores_))),
        panels_(panels),
        first_(rt, rt.layer().k, weights.scales, rt.layer().seq_kv, rt.layer().emb, t, of_first(what, second), panels,
               least_),
        second_(rt, second.b, second.scales, second.columns, first_.epilogue.of_result(first_.n), t,
                of_second(what, second), panels, least_),
        weights_(rt, weights, t, {first_.k, has_second_ ? second_.k : 0}, first_.parts, panels),
        a_rows_(rt, what, t, min<uint32_t>(min<uint32_t>(t.ring, 2), row_blocks_)),
        cache_(rt, cached, rt.layer().seq_kv) {
    rt.check_l0(t.l0);
    check_step_channels(rt);
    if (t.nkv % cache_.grain() != 0) rt.refuse(GemmTiling::kNkv, t.nkv);
    a_ = {0, t.ring * cores_, t.nq, t.kd, rt.bytes()};
    b_ = {0, weights_.any() ? WeightTiles::slots(t) : t.ring, t.nkv, t.kd, rt.bytes()};
    c_ = {0, 2 * cores_, t.nq, t.nkv, rt.out_bytes()};
    sums_ = {0, cores_, t.nq, t.nkv, kPartialBytes};
    hidden_ = {0, cores_, t.nq, second_.k, rt.out_bytes()};
    // Buffers before events: a layout that does not fit is tried again in another one.
    has_rows_ ? a_rows_.make_rows() : a_.make(rt, L1Region::kQ);
    b_.make(rt, L1Region::kK);
    c_.make(rt, L1Region::kScores);
    if (first_.slices > 1 || second_.slices > 1) sums_.make(rt, L1Region::kPartials);
    if (has_second_) hidden_.make(rt, L1Region::kScores);
    if (has_rows_) {
      a_rows_.make_events();
    } else {
      a_ready_ = rt.events(cores_);
      a_free_ = rt.events(cores_, t.ring);
    }
    if (!weights_.any()) {
      b_ready_ = rt.events(cores_);
      b_free_.make(rt, t.ring, first_.parts, least_);
    }
    first_.done = rt.events(cores_);
    c_free_ = has_second_ ? rt.events(2 * cores_, 1) : rt.events(cores_, 2);
    stored_ = rt.events(1);
    if (has_rows_) a_rows_.make_norm();
    if (has_second_) {
      second_.done = rt.events(cores_);
      hidden_ready_ = rt.events(cores_);
      hidden_free_ = rt.events(cores_, 1);
    }
  }

  void run() {
    if (rt_.dry()) return;
    has_rows_ ? run_by_rows() : run_in_bands();
    if (unfinished_.block.cores > 0) finish(unfinished_);
    rt_.wait(stored_, stores_);
  }

 private:
  // A block whose products are issued.
  struct IssuedBlock {
    ChainedProduct* product;
    ProductBlock block;
    uint32_t head;
  };

  // Row operations of the first product, and of a second one.
  static hal::FusedProduct of_first(hal::FusedProduct what, const hal::SecondProduct& second) {
    if (second.columns != 0) {
      what.residual = 0;
      what.out = hal::ElementType::kNone;
    }
    return what;
  }
  static hal::FusedProduct of_second(const hal::FusedProduct& what, const hal::SecondProduct& second) {
    hal::FusedProduct last{};
    if (second.columns != 0) {
      last.residual = what.residual;
      last.out = what.out;
    }
    return last;
  }
  // Cores that have rows in the last row block.
  static uint32_t least_cores(const Runtime& rt, const GemmTiling& t) {
    const uint64_t of_block = uint64_t{t.nq} * rt.cores(), rest = rt.layer().seq_q % of_block;
    return rest == 0 ? rt.cores() : static_cast<uint32_t>(ceil_div(rest, uint64_t{t.nq}));
  }

  void run_in_bands() {
    const uint32_t heads = rt_.layer().batch * rt_.layer().heads;
    uint32_t index = 0;
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t band = 0; band < row_blocks_; band += kBand) {
        const uint32_t here = min(kBand, row_blocks_ - band);
        for (uint32_t i = 0; rt_.ok() && i < here * first_.blocks; ++i, ++index) {
          if (index % rt_.machine().clusters == rt_.cluster()) block(first_, head, band + i % here, i / here);
        }
      }
    }
  }

  // Row blocks with a second product belong to one cluster.
  void run_by_rows() {
    const uint32_t columns = first_.blocks + second_.blocks, unit = has_second_ ? columns : 1;
    const uint32_t clusters = rt_.machine().clusters, units = row_blocks_ * columns / unit;
    const auto from = [&](uint32_t c) { return static_cast<uint32_t>(uint64_t{units} * c / clusters) * unit; };
    const uint32_t first = from(rt_.cluster()), end = from(rt_.cluster() + 1);
    for (uint32_t index = first; rt_.ok() && index < end; ++index) {
      const uint32_t i = index / columns, j = index % columns;
      if (j >= first_.blocks) {
        block(second_, 0, i, j - first_.blocks);
        continue;
      }
      if (index == first) a_rows_.load_vectors(kLoads, busy_in(i));
      if (index == first || (j == 0 && a_rows_.slots() == 1)) a_rows_.load(kLoads, i, busy_in(i));
      is_first_of_rows_ = index == first || j == 0;
      is_last_of_rows_ = index + 1 == end || j + 1 == first_.blocks;
      const bool is_next_here = (i + 1) * columns < end;
      if (a_rows_.slots() > 1 && j + 1 == first_.blocks && is_next_here) a_rows_.load(kLoads, i + 1, busy_in(i + 1));
      block(first_, 0, i, j);
      if (is_last_of_rows_) a_rows_.next();
    }
  }

  uint32_t busy_in(uint32_t i) const {
    return static_cast<uint32_t>(min<uint64_t>(cores_, ceil_div(m_ - i * cores_ * t_.nq, t_.nq)));
  }
  bool is_second(const ChainedProduct& p) const { return &p == &second_; }
  // The arrays write the result where the second product reads it.
  bool is_direct(const ChainedProduct& p) const { return has_second_ && !is_second(p) && !p.epilogue.any(); }

  // Processed by all cores together, slice by slice of the depth.
  void block(ChainedProduct& p, uint32_t head, uint32_t i, uint32_t j) {
    const hal::Layer& l = rt_.layer();
    const uint32_t row = i * cores_ * t_.nq, columns = min(t_.nkv, p.n - j * t_.nkv);
    const uint32_t column = p.epilogue.of_result(j * t_.nkv), width = p.epilogue.of_result(columns);
    const uint32_t busy = busy_in(i);
    const auto rows_of = [&](uint32_t core) { return min(t_.nq, m_ - row - core * t_.nq); };
    const IssuedBlock here{&p, {row, i, column, columns, busy}, head};
    if (!has_second_ || (j == 0 && !is_second(p))) dispatch(rt_, hal::kBlock);
    for (uint32_t s = 0; rt_.ok() && s < p.slices; ++s, loads_.next(busy == cores_)) {
      const uint32_t from = s * t_.kd, depth = min(t_.kd, p.k - from);
      const Matrix b = rt_.in(b_.of(loads_.all, columns, depth));
      for (uint32_t core = 0; !has_rows_ && core < busy; ++core) {
        const Matrix a = a_of(p, core, rows_of(core), from, depth);
        const Matrix source = in_dram(l.q, head, m_, row + core * t_.nq, p.k, from, a);
        rt_.dma(kLoads, copy(source, a).after(a_free_.of(core)).then(a_ready_.of(core)).label(head, i));
      }
      // Gates and factors; packed, they are next to each other.
      const auto first_of = [&](uint32_t part) {
        return panels_ ? p.parts * column + part * width : part * (p.n / 2) + column;
      };
      if (weights_.any()) {
        weights_.prepare(kLoads, {p.b, p.scales, p.n, p.k},
                         {columns, p.parts, {first_of(0), first_of(1)}, from, depth, busy, head, i}, b);
        if (unfinished_.block.cores > 0) finish(unfinished_);
      }
      const Events ready{b_ready_.first, busy};
      for (uint32_t part = 0; !weights_.any() && part < p.parts; ++part) {
        const Matrix to = attnvp::firmware::rows_of(b, part * width, columns / p.parts);
        const Matrix source = in_dram(p.b, head, p.n, first_of(part), p.k, from, to);
        Command load = copy(source, to);
        b_free_.wait(load, busy, part, first_.parts / p.parts);
        rt_.dma(kLoads, load.then(ready).label(head, i));
      }
      if (!weights_.any()) b_free_.next(busy);
      const uint32_t new_blocks = is_second(p) && j == 0 ? hidden_blocks(from + depth) - hidden_blocks(from) : 0;
      for (uint32_t core = 0; core < busy; ++core) {
        const uint32_t rows = rows_of(core);
        const bool is_last = s + 1 == p.slices;
        const Matrix c = is_direct(p) ? hidden_of(core, rows, column, columns) : c_of(blocks_, core, rows, columns);
        Command multiply = matmul_abt(a_of(p, core, rows, from, depth), b, c, sums_.of(core, rows, columns),
                                      place_of(s, p.slices), t_.l0);
        if (is_second(p)) {
          multiply.after(hidden_ready_.of(core), new_blocks);
          if (is_last && j + 1 == p.blocks) multiply.then(hidden_free_.of(core));
        } else if (has_rows_) {
          a_rows_.use(multiply, core, is_first_of_rows_ && s == 0, is_last_of_rows_ && is_last);
        } else {
          multiply.after(a_ready_.of(core)).then(a_free_.of(core));
        }
        if (weights_.any()) {
          weights_.use(multiply, core);
        } else {
          multiply.after(b_ready_.of(core), p.parts).then(b_free_.free(core), first_.parts);
        }
        if (p.is_kept) multiply.kept();
        if (is_direct(p)) {
          if (s == 0 && j == 0) multiply.after(hidden_free_.of(core));
          if (is_last) multiply.then(hidden_ready_.of(core));
        } else {
          if (s == 0) multiply.after(c_free_of(blocks_, core));
          if (is_last) multiply.then(p.done.of(core));
        }
        if (is_last) rt_.scale_scores(multiply, head);
        rt_.mac(core, multiply.label(head, i));
      }
    }
    if (is_direct(p)) return;
    blocks_.next(busy == cores_);
    if (weights_.any()) {
      unfinished_ = here;
    } else {
      finish(here);
    }
  }
  // Epilogue of a block, and stores unless a second product reads it.
  void finish(const IssuedBlock& issued) {
    const ChainedProduct& p = *issued.product;
    const ProductBlock b = issued.block;
    Epilogue& e = issued.product->epilogue;
    const bool is_stored = is_second(p) || !has_second_;
    if (e.any()) e.load(kLoads, b);
    for (uint32_t core = 0; core < b.cores; ++core) {
      const uint32_t rows = min(t_.nq, m_ - b.row - core * t_.nq);
      const Matrix c = c_of(finished_, core, rows, b.columns);
      const Matrix result = e.result_of(b, core, c);
      const Events done = p.done.of(core), free = c_free_of(finished_, core);
      Landing to{result, {}, {e.finished(core), {}}};
      if (!is_stored) {
        const Events after = b.column == 0 ? hidden_free_.of(core) : Events();
        to = {hidden_of(core, rows, b.column, result.columns), after, {hidden_ready_.of(core), free}};
      }
      if (e.any()) e.compute(b, core, c, done, to);
      if (is_stored) store(issued, core, result, e.any() ? e.finished(core) : done, free);
    }
    e.next(b);
    finished_.next(b.cores == cores_);
    unfinished_.block.cores = 0;
  }

  // Stores a core's tile: columns of the result, and those of a cache. A channel ends its copies in order, so that the
  // last one signals for all.
  void store(const IssuedBlock& issued, uint32_t core, const Matrix& c, Events ready, Events free) {
    const ProductBlock& b = issued.block;
    const ChainedProduct& p = *issued.product;
    const uint32_t row = b.row + core * t_.nq, kept = cache_.any() ? cache_.kept() : p.epilogue.of_result(p.n);
    Command last = fence();  // replaced by the first copy
    uint32_t copies = 0;
    const auto add = [&](Command next) {
      if (copies++ == 0) {
        next.after(ready);
      } else {
        rt_.dma(kStores, last);
      }
      last = next.label(issued.head, b.row_block);
    };
    if (b.column < kept) {
      const Matrix result = columns_of(c, 0, min(c.columns, kept - b.column));
      add(copy(result, in_dram(rt_.layer().c, issued.head, m_, row, kept, b.column, result)));
    }
    cache_.store(c, row, b.column, add);
    rt_.dma(kStores, last.then(free).then(stored_));
    ++stores_;
  }

  // Position of a tile in one of the tensor's rows x columns matrices.
  Matrix in_dram(uint64_t tensor, uint32_t head, uint32_t rows, uint32_t row, uint32_t columns, uint32_t column,
                 const Matrix& tile) const {
    const uint64_t before = (uint64_t{head} * rows + row) * columns + uint64_t{column} * (panels_ ? tile.rows : 1);
    const uint32_t bytes = hal::element_bytes(tile.type);
    return {tensor + before * bytes, tile.rows, tile.columns, (panels_ ? tile.columns : columns) * bytes, tile.type};
  }
  // Depth `depth` from `from` on.
  Matrix a_of(const ChainedProduct& p, uint32_t core, uint32_t rows, uint32_t from, uint32_t depth) const {
    if (is_second(p)) return hidden_of(core, rows, from, depth);
    if (has_rows_) return columns_of(a_rows_.of(core, rows), from, depth);
    return rt_.in(a_.of(loads_.of(core, least_) % t_.ring * cores_ + core, rows, depth));
  }
  Matrix c_of(const Turns& blocks, uint32_t core, uint32_t rows, uint32_t columns) const {
    return rt_.out(c_.of(blocks.of(core, least_) % 2 * cores_ + core, rows, columns));
  }
  // VEC and DMA free the slots of two products, in any order.
  Events c_free_of(const Turns& blocks, uint32_t core) const {
    return c_free_.of((has_second_ ? blocks.of(core, least_) % 2 * cores_ : 0) + core);
  }
  // Columns of the rows between the products.
  Matrix hidden_of(uint32_t core, uint32_t rows, uint32_t column, uint32_t columns) const {
    return columns_of(rt_.out(hidden_.of(core, rows, second_.k)), column, columns);
  }
  // Blocks of the first product that have the columns before `end`.
  uint32_t hidden_blocks(uint32_t end) const { return ceil_div(end, first_.epilogue.of_result(t_.nkv)); }

  Runtime& rt_;
  GemmTiling t_;
  bool has_rows_, has_second_;  // L1 holds whole rows of A; of the first product
  uint32_t cores_, least_, m_, row_blocks_;
  bool panels_;
  ChainedProduct first_, second_;
  WeightTiles weights_;
  WholeRows a_rows_;
  CacheRows cache_;
  IssuedBlock unfinished_{};
  uint32_t stores_ = 0;
  Turns loads_, blocks_, finished_;  // slices of blocks; blocks whose products, whose stores are issued
  Buffers a_, b_, c_, sums_, hidden_;
  Events a_ready_, a_free_, b_ready_, c_free_, stored_, hidden_ready_, hidden_free_;
  SharedSlots b_free_;
  bool is_first_of_rows_ = false, is_last_of_rows_ = false;
};

void multiply(Runtime& rt, bool panels) {
  const auto tiling = rt.parameters<GemmTiling>();
  hal::FusedProduct what{};
  if ((rt.job().flags & hal::kFused) != 0) rt.read(hal::kFusedAddress, &what, sizeof what);
  hal::SecondProduct second{};
  if ((rt.job().flags & hal::kSecond) != 0) rt.read(hal::kSecondAddress, &second, sizeof second);
  hal::Weights weights{};
  if ((rt.job().flags & hal::kQuantised) != 0) rt.read(hal::kWeightsAddress, &weights, sizeof weights);
  hal::CachedColumns cached{};
  if ((rt.job().flags & hal::kStoresCache) != 0) rt.read(hal::kCachedColumnsAddress, &cached, sizeof cached);
  if (rt.ok() && panels && cached.sequences > 0) rt.fail(Status::kBadJob);
  if (!rt.ok()) return;
  GemmDataflow gemm(rt, tiling, what, second, weights, cached, panels);
  launch(rt);
  if (rt.ok()) gemm.run();
}

void run_rows(Runtime& rt) { multiply(rt, false); }
void run_panels(Runtime& rt) { multiply(rt, true); }

const Dataflow kGemm = {"gemm",
                        "one GEMM by itself, C = Q.K^T to DRAM",
                        run_rows,
                        kGemmParameters,
                        kStepOptions,
                        nullptr,
                        hal::kScoresCAndP,
                        kChain | kOneStep};
ATTNVP_DATAFLOW(kGemm);
const Dataflow kPanels = {"gemm-panels",     "the same, each matrix in DRAM tile behind tile, as a library packs it",
                          run_panels,        kGemmParameters,
                          kStepOptions,      nullptr,
                          hal::kScoresCAndP, kChain | kOneStep | kPacked};
ATTNVP_DATAFLOW(kPanels);

}  // namespace

}  // namespace attnvp::firmware
