// Single GEMM, C = Q.K^T to DRAM. Blocks are dispatched like thread blocks of a GPU. Partial sums stay in L0 between
// slices of the depth if they fit, else in L1. A block's result may be changed before it is stored (epilogue.h). B may
// have fewer bits than A (weights.h): a block's epilogue then follows the conversion of the next block's first tile.
//
// With a norm, L1 holds whole rows of A, which are normalised before their first product. Each cluster then has
// consecutive blocks, the columns of a row block first, so that it loads and normalises few rows.
#include "firmware/runtime/gemm.h"

#include "firmware/runtime/product/cache_rows.h"
#include "firmware/runtime/product/epilogue.h"
#include "firmware/runtime/product/weights.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLoads = 0, kStores = 1;  // DMA channels
constexpr uint32_t kBand = 8;                // row blocks processed together, so that shared operands stay in a cache

// The cores of a cluster process consecutive row blocks and share operand B.
class GemmDataflow {
 public:
  GemmDataflow(Runtime& rt, const GemmTiling& t, const hal::FusedProduct& what, const hal::Weights& weights,
               const hal::CachedColumns& cached, bool panels)
      : rt_(rt),
        t_(t),
        what_(what),
        epilogue_(rt, what, t, panels, least_cores(rt, t)),
        weights_(rt, weights, t, what.is_gated != 0 ? 2 : 1, panels),
        cache_(rt, cached, rt.layer().seq_kv),
        cores_(rt.cores()),
        least_(least_cores(rt, t)),
        m_(rt.layer().seq_q),
        n_(rt.layer().seq_kv),
        k_(rt.layer().emb),
        slices_(static_cast<uint32_t>(ceil_div(k_, t.kd))),
        parts_(what.is_gated != 0 ? 2 : 1),
        panels_(panels),
        kept_(slices_ > 1 && rt.holds(uint64_t{t.nq} * t.nkv, t.l0)) {
    rt.check_l0(t.l0);
    check_step_channels(rt);
    if (t.nkv % cache_.grain() != 0) rt.refuse(GemmTiling::kNkv, t.nkv);
    const auto row_blocks = static_cast<uint32_t>(ceil_div(m_, uint64_t{t.nq} * cores_));
    a_slots_ = has_norm() ? min<uint32_t>(min<uint32_t>(t.ring, 2), row_blocks) : t.ring;
    a_ = {0, a_slots_ * cores_, t.nq, has_norm() ? k_ : t.kd, rt.bytes()};
    b_ = {0, weights_.any() ? WeightTiles::slots(t) : t.ring, t.nkv, t.kd, rt.bytes()};
    c_ = {0, 2 * cores_, t.nq, t.nkv, rt.out_bytes()};
    sums_ = {0, cores_, t.nq, t.nkv, kPartialBytes};
    a_.make(rt, L1Region::kQ);
    b_.make(rt, L1Region::kK);
    c_.make(rt, L1Region::kScores);
    if (slices_ > 1) sums_.make(rt, L1Region::kPartials);
    a_ready_ = rt.events(cores_);
    a_free_ = rt.events(cores_, a_slots_);
    if (!weights_.any()) {
      b_ready_ = rt.events(cores_);
      b_free_.make(rt, t.ring, parts_, least_);
    }
    done_ = rt.events(cores_);
    c_free_ = rt.events(cores_, 2);
    stored_ = rt.events(1);
    if (has_norm()) make_norm();
  }

  void run() {
    if (rt_.dry()) return;
    const auto rows = static_cast<uint32_t>(ceil_div(m_, uint64_t{t_.nq} * cores_));
    const auto columns = static_cast<uint32_t>(ceil_div(n_, t_.nkv));
    has_norm() ? run_normalised(rows, columns) : run_in_bands(rows, columns);
    if (unfinished_.block.cores > 0) finish(unfinished_);
    rt_.wait(stored_, stores_);
  }

 private:
  // A block whose products are issued.
  struct IssuedBlock {
    ProductBlock block;
    uint32_t head;
  };

  bool has_norm() const { return what_.gamma != 0; }
  // Cores that have rows in the last row block.
  static uint32_t least_cores(const Runtime& rt, const GemmTiling& t) {
    const uint64_t of_block = uint64_t{t.nq} * rt.cores(), rest = rt.layer().seq_q % of_block;
    return rest == 0 ? rt.cores() : static_cast<uint32_t>(ceil_div(rest, uint64_t{t.nq}));
  }

  void run_in_bands(uint32_t rows, uint32_t columns) {
    const uint32_t heads = rt_.layer().batch * rt_.layer().heads;
    uint32_t index = 0;
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t band = 0; band < rows; band += kBand) {
        const uint32_t here = min(kBand, rows - band);
        for (uint32_t i = 0; rt_.ok() && i < here * columns; ++i, ++index) {
          if (index % rt_.machine().clusters == rt_.cluster()) block(head, band + i % here, i / here);
        }
      }
    }
  }

  void run_normalised(uint32_t rows, uint32_t columns) {
    const uint32_t clusters = rt_.machine().clusters, blocks = rows * columns;
    const auto from = [&](uint32_t cluster) { return static_cast<uint32_t>(uint64_t{blocks} * cluster / clusters); };
    const uint32_t first = from(rt_.cluster()), end = from(rt_.cluster() + 1);
    for (uint32_t index = first; rt_.ok() && index < end; ++index) {
      const uint32_t i = index / columns, j = index % columns;
      if (index == first) load_vectors(busy_in(i));
      if (index == first || (j == 0 && a_slots_ == 1)) normalise(i);
      is_first_of_rows_ = index == first || j == 0;
      is_last_of_rows_ = index + 1 == end || j + 1 == columns;
      if (a_slots_ > 1 && j + 1 == columns && index + 1 < end) normalise(i + 1);
      block(0, i, j);
      if (is_last_of_rows_) ++used_row_blocks_;
    }
  }

  void make_norm() {
    for (uint32_t i = 0; i < 2; ++i) {
      const uint64_t source = i == 0 ? what_.gamma : what_.beta;
      if (source == 0) continue;
      vectors_[i] = {rt_.allocate(uint64_t{k_} * kHalfBytes), 1, k_, k_ * kHalfBytes};
    }
    vectors_ready_ = rt_.events(cores_);
    normalised_ = rt_.events(cores_);
  }
  void load_vectors(uint32_t busy) {
    for (uint32_t i = 0; i < 2; ++i) {
      if (vectors_[i].columns == 0) continue;
      Matrix source = vectors_[i];
      source.address = i == 0 ? what_.gamma : what_.beta;
      rt_.dma(kLoads, copy(source, vectors_[i]).then({vectors_ready_.first, busy}));
    }
  }
  // Loads the rows of a row block, and normalises them in place.
  void normalise(uint32_t i) {
    const uint32_t busy = busy_in(i);
    for (uint32_t core = 0; core < busy; ++core) {
      const uint32_t row = (i * cores_ + core) * t_.nq, rows = min(t_.nq, m_ - row);
      const Matrix a = a_.of(row_blocks_ % a_slots_ * cores_ + core, rows, k_);
      const Matrix source = in_dram(rt_.layer().q, 0, m_, row, k_, 0, a);
      rt_.dma(kLoads, copy(source, a).after(a_free_.of(core)).then(a_ready_.of(core)).label(0, i));
      Command norm(hal::Opcode::kNorm, rows);
      norm.operand(0, a).operand(1, a).operand(2, vectors_[0]);
      if (vectors_[1].columns > 0) norm.operand(3, vectors_[1]);
      norm.raw().tail.norm = {what_.epsilon, what_.beta != 0 ? 1U : 0U};
      if (row_blocks_ == 0) norm.after(vectors_ready_.of(core), vectors_[1].columns > 0 ? 2 : 1);
      rt_.vec(core, norm.after(a_ready_.of(core)).then(normalised_.of(core)).label(0, i));
    }
    ++row_blocks_;
  }

  uint32_t busy_in(uint32_t i) const {
    return static_cast<uint32_t>(min<uint64_t>(cores_, ceil_div(m_ - i * cores_ * t_.nq, t_.nq)));
  }

  // Processed by all cores together, slice by slice of the depth.
  void block(uint32_t head, uint32_t i, uint32_t j) {
    const hal::Layer& l = rt_.layer();
    const uint32_t row = i * cores_ * t_.nq, columns = min(t_.nkv, n_ - j * t_.nkv);
    const uint32_t column = epilogue_.of_result(j * t_.nkv), width = epilogue_.of_result(columns);
    const uint32_t busy = busy_in(i);
    const auto rows_of = [&](uint32_t core) { return min(t_.nq, m_ - row - core * t_.nq); };
    const IssuedBlock here{{row, i, column, columns, busy}, head};
    dispatch(rt_, hal::kBlock);
    for (uint32_t s = 0; rt_.ok() && s < slices_; ++s, loads_.next(busy == cores_)) {
      const uint32_t from = s * t_.kd, depth = min(t_.kd, k_ - from);
      const Matrix b = rt_.in(b_.of(loads_.all, columns, depth));
      for (uint32_t core = 0; !has_norm() && core < busy; ++core) {
        const Matrix a = a_of(core, rows_of(core), from, depth);
        const Matrix source = in_dram(l.q, head, m_, row + core * t_.nq, k_, from, a);
        rt_.dma(kLoads, copy(source, a).after(a_free_.of(core)).then(a_ready_.of(core)).label(head, i));
      }
      // Gates and factors; packed, they are next to each other.
      const auto first_of = [&](uint32_t part) {
        return panels_ ? parts_ * column + part * width : part * (n_ / 2) + column;
      };
      if (weights_.any()) {
        weights_.prepare(kLoads, {columns, parts_, {first_of(0), first_of(1)}, from, depth, busy, head, i}, b);
        if (unfinished_.block.cores > 0) finish(unfinished_);
      }
      const Events ready{b_ready_.first, busy};
      for (uint32_t part = 0; !weights_.any() && part < parts_; ++part) {
        const Matrix to = attnvp::firmware::rows_of(b, part * width, columns / parts_);
        const Matrix source = in_dram(l.k, head, n_, first_of(part), k_, from, to);
        Command load = copy(source, to);
        b_free_.wait(load, busy, part);
        rt_.dma(kLoads, load.then(ready).label(head, i));
      }
      if (!weights_.any()) b_free_.next(busy);
      for (uint32_t core = 0; core < busy; ++core) {
        const uint32_t rows = rows_of(core);
        Command multiply = matmul_abt(a_of(core, rows, from, depth), b, c_of(blocks_, core, rows, columns),
                                      sums_.of(core, rows, columns), place_of(s, slices_), t_.l0);
        if (!has_norm()) {
          multiply.after(a_ready_.of(core)).then(a_free_.of(core));
        } else {
          if (is_first_of_rows_ && s == 0) multiply.after(normalised_.of(core));
          if (is_last_of_rows_ && s + 1 == slices_) multiply.then(a_free_.of(core));
        }
        if (weights_.any()) {
          weights_.use(multiply, core);
        } else {
          multiply.after(b_ready_.of(core), parts_).then(b_free_.free(core), parts_);
        }
        if (kept_) multiply.kept();
        if (s == 0) multiply.after(c_free_.of(core));
        if (s + 1 == slices_) rt_.scale_scores(multiply, head).then(done_.of(core));
        rt_.mac(core, multiply.label(head, i));
      }
    }
    blocks_.next(busy == cores_);
    if (weights_.any()) {
      unfinished_ = here;
    } else {
      finish(here);
    }
  }
  // Epilogue and stores of a block.
  void finish(const IssuedBlock& issued) {
    const ProductBlock b = issued.block;
    if (epilogue_.any()) epilogue_.load(kLoads, b);
    for (uint32_t core = 0; core < b.cores; ++core, ++stores_) {
      Matrix c = c_of(finished_, core, min(t_.nq, m_ - b.row - core * t_.nq), b.columns);
      if (epilogue_.any()) c = epilogue_.compute(b, core, c, done_.of(core));
      const Events ready = epilogue_.any() ? epilogue_.finished(core) : done_.of(core);
      store(issued, core, c, ready);
    }
    epilogue_.next(b);
    finished_.next(b.cores == cores_);
    unfinished_.block.cores = 0;
  }

  // Stores a core's tile: columns of the result, and those of a cache. A channel ends its copies in order, so that the
  // last one signals for all.
  void store(const IssuedBlock& issued, uint32_t core, const Matrix& c, Events ready) {
    const ProductBlock& b = issued.block;
    const uint32_t row = b.row + core * t_.nq, kept = epilogue_.of_result(cache_.kept());
    Command last;
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
    rt_.dma(kStores, last.then(c_free_.of(core)).then(stored_));
  }

  // Position of a tile in one of the tensor's rows x columns matrices.
  Matrix in_dram(uint64_t tensor, uint32_t head, uint32_t rows, uint32_t row, uint32_t columns, uint32_t column,
                 const Matrix& tile) const {
    const uint64_t before = (uint64_t{head} * rows + row) * columns + uint64_t{column} * (panels_ ? tile.rows : 1);
    const uint32_t bytes = hal::element_bytes(tile.type);
    return {tensor + before * bytes, tile.rows, tile.columns, (panels_ ? tile.columns : columns) * bytes, tile.type};
  }
  // Depth `depth` from `from` on.
  Matrix a_of(uint32_t core, uint32_t rows, uint32_t from, uint32_t depth) const {
    if (!has_norm()) return rt_.in(a_.of(loads_.of(core, least_) % t_.ring * cores_ + core, rows, depth));
    return columns_of(a_.of(used_row_blocks_ % a_slots_ * cores_ + core, rows, k_), from, depth);
  }
  Matrix c_of(const Turns& blocks, uint32_t core, uint32_t rows, uint32_t columns) const {
    return rt_.out(c_.of(blocks.of(core, least_) % 2 * cores_ + core, rows, columns));
  }

  Runtime& rt_;
  GemmTiling t_;
  hal::FusedProduct what_;
  Epilogue epilogue_;
  WeightTiles weights_;
  CacheRows cache_;
  IssuedBlock unfinished_{};
  uint32_t cores_, least_, m_, n_, k_, slices_, parts_, a_slots_ = 1, stores_ = 0;
  Turns loads_, blocks_, finished_;  // slices of blocks; blocks whose products, whose stores are issued
  bool panels_, kept_;
  Buffers a_, b_, c_, sums_;
  Events a_ready_, a_free_, b_ready_, done_, c_free_, stored_;
  SharedSlots b_free_;
  // With a norm: gamma and beta in L1 (0 columns: none), row blocks normalised so far and used so far.
  Matrix vectors_[2];
  uint32_t row_blocks_ = 0, used_row_blocks_ = 0;
  bool is_first_of_rows_ = false, is_last_of_rows_ = false;
  Events vectors_ready_, normalised_;
};

void multiply(Runtime& rt, bool panels) {
  const auto tiling = rt.parameters<GemmTiling>();
  hal::FusedProduct what{};
  if ((rt.job().flags & hal::kFused) != 0) rt.read(hal::kFusedAddress, &what, sizeof what);
  hal::Weights weights{};
  if ((rt.job().flags & hal::kQuantised) != 0) rt.read(hal::kWeightsAddress, &weights, sizeof weights);
  hal::CachedColumns cached{};
  if ((rt.job().flags & hal::kStoresCache) != 0) rt.read(hal::kCachedColumnsAddress, &cached, sizeof cached);
  if (rt.ok() && panels && cached.sequences > 0) rt.fail(Status::kBadJob);
  if (!rt.ok()) return;
  GemmDataflow gemm(rt, tiling, what, weights, cached, panels);
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
