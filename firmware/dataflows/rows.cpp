// Single row operations from DRAM to DRAM: softmax of C, and the layer operations between products. Blocks of nq rows
// are distributed over all cores, with three of each tensor in L1. Operations on whole rows use all columns, the others
// blocks of nkv columns. Results replace the rows, except those of a conversion, which have another type.
//
// With option `turn` a block loads its columns in turns, as the threads of a GPU's block do in a loop: each turn begins
// when the one before has arrived. Turns of the blocks that are in L1 together overlap.
#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kLoads = 0, kStores = 1;  // DMA channels
constexpr uint32_t kRing = 3;
// Blocks in L1 with option `turn`: the columns of their turns together, as a multiprocessor of 2,048 threads with four
// elements each holds them, shared by the cores.
constexpr uint32_t kColumnsInTurns = 8192, kMostInTurns = 16;

const char* const kReads[] = {"once", "chained", nullptr};
const char* const kTurns[] = {"whole", "256", "512", "1024", "2048", "4096", "8192", nullptr};
constexpr uint32_t kTurnColumns[] = {0, 256, 512, 1024, 2048, 4096, 8192};
constexpr DataflowOption kTurnEntry = {
    "turn", kTurns, "columns that a block loads at a time, each time after the one before: its threads' elements"};
const DataflowOption kRowsOptions[] = {
    kStepKernelsOption,
    {"reads", kReads,
     "chained: a norm of a sum loads the stored sum again, a rotary embedding its positions before its factors"},
    kTurnEntry,
    {nullptr, nullptr, nullptr}};
enum : uint32_t { kReadsOption = 1, kTurnOption = 2 };

struct RowsTiling {
  uint32_t nq, nkv;
  enum : uint32_t { kNkv = 1 };
};
const Parameter* const kRowsParameters[] = {&parameter::kNq, &parameter::kNkv, nullptr};

// Tensors in DRAM, and the operation on a block.
struct RowJob {
  hal::Opcode opcode = hal::Opcode::kSoftmax;
  uint32_t tail[2] = {};
  Matrix in, second, out;  // second: 0 columns if unused
  uint32_t columns = 0;    // per block; the second operand has the same number, or all of its columns
  Matrix vectors[2];       // gamma and beta; 0 columns if unused
  Matrix sum;              // of input and second operand, which the operation is of; 0 columns if unused
  bool chained = false;    // option `reads`
  uint32_t turn = 0;       // option `turn`: columns; 0: all at once
};

class Rows {
 public:
  Rows(Runtime& rt, const RowJob& step, uint32_t nq)
      : rt_(rt), s_(step), nq_(nq), loads_(step.second.columns > 0 ? 2 : 1), cores_(rt.cores()) {
    if (step.turn > 0) ring_ = min(max(kColumnsInTurns / step.turn / cores_, kRing), kMostInTurns);
    check_step_channels(rt);
    const bool scores = step.opcode == hal::Opcode::kSoftmax;
    block_ = {0, ring_ * cores_, nq, step.columns};
    second_ = {0, ring_ * cores_, nq, min(step.columns, step.second.columns)};
    block_.make(rt, scores ? L1Region::kScores : L1Region::kOther);
    if (loads_ > 1) second_.make(rt, L1Region::kOther);
    converted_ = {0, ring_ * cores_, nq, step.columns, rt.out_bytes()};
    if (converts()) converted_.make(rt, L1Region::kOther);
    for (uint32_t i = 0; i < 2; ++i) {
      kept_[i] = step.vectors[i];
      if (kept_[i].columns > 0) kept_[i].address = rt.allocate(uint64_t{kept_[i].columns} * kHalfBytes);
    }
    ready_ = rt.events(cores_);
    done_ = rt.events(cores_);
    free_ = rt.events(cores_, ring_ * loads_);
    stored_ = rt.events(1);
    if (has_sum()) {
      summed_ = rt.events(cores_);
      sum_ready_ = rt.events(cores_);
      sum_stored_ = rt.events(cores_);
    }
    if (in_turns()) {
      for (uint32_t l = 0; l < loads_; ++l) {
        turned_[l] = rt.events(cores_ * ring_);
        arrived_[l] = rt.events(cores_ * ring_);
      }
    }
    if (reloads()) reloaded_ = rt.events(cores_);
    if (has_positions()) {
      positions_ = rt.allocate(cores_ * kPositionBytes);
      positions_ready_ = rt.events(cores_);
    }
    if (has_vectors()) vectors_ready_ = rt.events(cores_);
  }

  // The n-th blocks of all workers are adjacent, with clusters first, so that few blocks spread over many clusters.
  void run() {
    if (rt_.dry() || !rt_.ok()) return;
    launch(rt_);
    const uint32_t clusters = rt_.machine().clusters;
    const uint32_t tiles = s_.columns == s_.out.columns ? 1 : ceil_div(s_.out.columns, s_.columns);
    const uint32_t blocks = ceil_div(s_.out.rows, nq_) * tiles;
    if (rt_.cluster() < blocks) load_vectors(min(cores_, ceil_div(blocks - rt_.cluster(), clusters)));
    const uint32_t turns = turns_of(s_.columns), together = turns > 1 ? ring_ : 1, wave = clusters * cores_;
    uint32_t stores = 0;
    for (uint32_t n = 0; rt_.ok() && n * wave < blocks; n += together) {
      const auto for_all = [&](auto&& act) {
        for (uint32_t k = n; k < n + together; ++k) {
          for (uint32_t core = 0; core < cores_; ++core) {
            const uint32_t i = k * wave + core * clusters + rt_.cluster();
            if (i < blocks) act(tiles == 1 ? place(core, k, i, i, 0) : place(core, k, i, i / tiles, i % tiles));
          }
        }
      };
      for (uint32_t turn = 0; turns > 1 && turn < turns; ++turn) {
        for_all([&](const BlockOfRows& p) { load(p, turn); });
      }
      for_all([&](const BlockOfRows& p) {
        if (turns == 1) load(p, 0);
        compute(p);
        stores += has_sum() ? 2 : 1;
      });
    }
    rt_.wait(stored_, stores);
  }

 private:
  bool has_vectors() const { return s_.vectors[0].columns > 0; }
  bool has_sum() const { return s_.sum.columns > 0; }
  bool converts() const { return s_.opcode == hal::Opcode::kConvert; }
  bool reloads() const { return s_.chained && has_sum(); }
  bool has_positions() const { return s_.chained && s_.opcode == hal::Opcode::kRotate; }

  // Loaded once for all busy cores of the cluster.
  void load_vectors(uint32_t busy) {
    for (uint32_t i = 0; i < 2; ++i) {
      if (s_.vectors[i].columns == 0) continue;
      rt_.dma(kLoads, copy(s_.vectors[i], kept_[i]).then({vectors_ready_.first, busy}));
    }
  }

  // A block: its core, its number among the core's, its number among all, its rows and columns.
  struct BlockOfRows {
    uint32_t core, n, i, row, rows, column, columns;
  };
  BlockOfRows place(uint32_t core, uint32_t n, uint32_t i, uint32_t row_block, uint32_t tile) const {
    const uint32_t row = row_block * nq_, column = tile * s_.columns;
    return {core, n, i, row, min(nq_, s_.out.rows - row), column, min(s_.columns, s_.out.columns - column)};
  }
  uint32_t slot(const BlockOfRows& p) const { return p.n % ring_ * cores_ + p.core; }
  Matrix rows(const BlockOfRows& p) const { return block_.of(slot(p), p.rows, p.columns); }
  Matrix second(const BlockOfRows& p) const { return second_.of(slot(p), p.rows, min(p.columns, s_.second.columns)); }
  uint32_t turns_of(uint32_t columns) const { return s_.turn == 0 ? 1 : ceil_div(columns, s_.turn); }
  bool in_turns() const { return turns_of(s_.columns) > 1; }
  // Several blocks load at a time if they do so in turns, so that each has events of its own.
  Command& after_loads(Command& command, const BlockOfRows& p) const {
    if (!in_turns()) return command.after(ready_.of(p.core), loads_);
    for (uint32_t l = 0; l < loads_; ++l) command.after(arrived_[l].of(slot(p)));
    return command;
  }

  void load(const BlockOfRows& p, uint32_t turn) {
    if (turn == 0) dispatch(rt_, hal::kBlock);
    load_turn(p, turn, 0, part(s_.in, p.row, p.rows, p.column, p.columns), rows(p));
    if (loads_ == 1) return;
    if (has_positions() && turn == 0) load_positions(p.core, p.i, p.row);
    const Matrix there = second(p);
    load_turn(p, turn, 1, part(s_.second, p.row, p.rows, p.column, there.columns), there);
  }

  void compute(const BlockOfRows& p) {
    const uint32_t core = p.core, i = p.i, row = p.row, rows = p.rows, column = p.column, columns = p.columns;
    const uint32_t slot = this->slot(p);
    const Matrix here = this->rows(p), second = this->second(p);
    if (s_.opcode == hal::Opcode::kCopy) {
      Command store = copy(here, part(s_.out, row, rows, column, columns)).deferrable();
      rt_.dma(kStores, after_loads(store, p).then(free_.of(core)).then(stored_).label(0, i));
      return;
    }
    const Matrix converted = rt_.out(converted_.of(slot, rows, columns));
    const Matrix& result = converts() ? converted : has_sum() ? second : here;
    Command command(s_.opcode, rows);
    command.operand(0, here).operand(1, result);
    for (uint32_t w = 0; w < 2; ++w)
      command.words()[offsetof(Descriptor, tail) / sizeof(Command::Word) + w] = s_.tail[w];
    if (loads_ > 1 && !has_sum()) command.operand(2, second);
    if (has_sum()) add(p, here, second);
    for (uint32_t v = 0; v < 2; ++v) {
      if (kept_[v].columns > 0) command.operand(static_cast<int>(2 + v), kept_[v]);
    }
    if (has_vectors() && p.n == 0) command.after(vectors_ready_.of(core), kept_[1].columns > 0 ? 2 : 1);
    if (reloads()) {
      command.after(reloaded_.of(core));
    } else if (has_sum()) {
      command.after(summed_.of(core));
    } else {
      after_loads(command, p);
    }
    rt_.vec(core, command.then(done_.of(core)).label(0, i));
    Command store = copy(result, part(s_.out, row, rows, column, columns));
    if (has_sum() && !reloads()) store.after(sum_stored_.of(core));
    if (s_.opcode != hal::Opcode::kSoftmax) store.deferrable();  // loads are more urgent
    rt_.dma(kStores, store.after(done_.of(core)).then(free_.of(core), loads_).then(stored_).label(0, i));
  }

  // Adds the second operand to the rows, stores the sums and, for reads=chained, loads them again.
  void add(const BlockOfRows& p, const Matrix& rows, const Matrix& second) {
    const uint32_t core = p.core, i = p.i;
    Command sum(hal::Opcode::kAdd, rows.rows);
    sum.operand(0, rows).operand(1, rows).operand(2, second);
    if (!reloads()) sum.then(summed_.of(core));
    rt_.vec(core, after_loads(sum, p).then(sum_ready_.of(core)).label(0, i));
    Command store = copy(rows, rows_of(s_.sum, p.row, rows.rows));
    rt_.dma(kStores, store.after(sum_ready_.of(core)).then(sum_stored_.of(core)).then(stored_).label(0, i));
    if (!reloads()) return;
    Command again = copy(rows_of(s_.sum, p.row, rows.rows), rows);
    rt_.dma(kStores, again.after(sum_stored_.of(core)).then(reloaded_.of(core)).label(0, i));
  }

  // Loads the columns of a turn of one operand, when those of the turn before have arrived.
  void load_turn(const BlockOfRows& p, uint32_t turn, uint32_t operand, const Matrix& from, const Matrix& to) {
    const uint32_t turns = turns_of(to.columns);
    if (turn >= turns) return;
    const uint32_t first = turn * s_.turn, columns = turns == 1 ? to.columns : min(s_.turn, to.columns - first);
    Command command = copy(columns_of(from, first, columns), columns_of(to, first, columns));
    command.after(turn == 0 ? free_.of(p.core) : turned_[operand].of(slot(p)));
    command.then(turn + 1 < turns ? turned_[operand].of(slot(p))
                 : in_turns()     ? arrived_[operand].of(slot(p))
                                  : ready_.of(p.core));
    if (turn == 0 && operand == 1 && has_positions()) command.after(positions_ready_.of(p.core));
    rt_.dma(kLoads, command.label(0, p.i));
  }
  // A layer has no tensor of positions: the first bytes of the rows take their place.
  void load_positions(uint32_t core, uint32_t i, uint32_t row) {
    const Matrix from = part(s_.in, row, 1, 0, kPositionBytes / kHalfBytes);
    const Matrix to = {positions_ + core * kPositionBytes, 1, from.columns, kPositionBytes};
    rt_.dma(kLoads, copy(from, to).then(positions_ready_.of(core)).label(0, i));
  }
  static Matrix part(const Matrix& m, uint32_t row, uint32_t rows, uint32_t column, uint32_t columns) {
    return columns_of(rows_of(m, row, rows), column, columns);
  }

  Runtime& rt_;
  RowJob s_;
  uint32_t nq_, loads_, cores_, ring_ = kRing;
  Buffers block_, second_, converted_;
  Matrix kept_[2];
  static constexpr uint32_t kPositionBytes = 8;
  uint64_t positions_ = 0;
  Events turned_[2], arrived_[2];  // a turn of an operand, and its last one, for each slot
  Events ready_, done_, free_, stored_, vectors_ready_, summed_, sum_ready_, sum_stored_, reloaded_, positions_ready_;
};

Matrix in_dram(uint64_t address, uint32_t rows, uint32_t columns) {
  return {address, rows, columns, columns * kHalfBytes};
}

uint64_t bytes_of(const Matrix& m) { return uint64_t{m.rows} * m.stride; }

void run_softmax(Runtime& rt) {
  const auto tiling = rt.parameters<GemmTiling>();
  if (!rt.ok()) return;
  const hal::Layer& l = rt.layer();
  RowJob s;
  const uint32_t rows = l.batch * l.heads * l.seq_q;
  s.in = in_dram(l.c, rows, l.seq_kv);
  s.out = in_dram(l.p, rows, l.seq_kv);
  s.columns = l.seq_kv;
  Rows(rt, s, tiling.nq).run();
}

void run_step(Runtime& rt) {
  const auto tiling = rt.parameters<RowsTiling>();
  hal::RowStep what{};
  rt.read(hal::kRowStepAddress, &what, sizeof what);
  if (!rt.ok()) return;
  const hal::Layer& l = rt.layer();
  RowJob s;
  s.opcode = what.opcode;
  s.in = in_dram(l.q, l.seq_q, l.seq_kv);
  s.out = in_dram(l.p, l.seq_q, l.seq_kv);
  s.columns = tiling.nkv;
  s.chained = rt.job().option[kReadsOption] == 1;
  s.turn = kTurnColumns[rt.job().option[kTurnOption]];
  bool whole = false;
  switch (what.opcode) {
    case hal::Opcode::kNorm:
      whole = true;
      s.tail[0] = what.number;
      s.tail[1] = what.centred;
      s.vectors[0] = in_dram(l.k, 1, l.seq_kv);
      if (what.centred != 0) s.vectors[1] = in_dram(l.v, 1, l.seq_kv);
      if (what.residual == 0) break;
      s.second = in_dram(l.q + bytes_of(s.in), l.seq_q, l.seq_kv);
      s.sum = in_dram(l.p + bytes_of(s.out), l.seq_q, l.seq_kv);
      break;
    case hal::Opcode::kAdd:
      s.second = in_dram(l.k, l.seq_q, l.seq_kv);
      break;
    case hal::Opcode::kCopy:
      break;
    case hal::Opcode::kConvert:
      s.tail[0] = what.number;
      s.out = rt.out(s.out);
      s.out.stride = l.seq_kv * rt.out_bytes();
      break;
    case hal::Opcode::kActivate:
      s.tail[0] = static_cast<uint32_t>(what.function);
      if (what.gated == 0) break;
      s.in.stride *= 2;
      s.second = s.in;
      s.second.address += l.seq_kv * kHalfBytes;
      break;
    case hal::Opcode::kRotate:
      whole = true;
      s.second = in_dram(l.k, l.seq_q, l.emb);
      break;
    default:
      return rt.fail(Status::kBadJob);
  }
  if (whole && tiling.nkv != l.seq_kv) return rt.refuse(RowsTiling::kNkv, tiling.nkv);
  Rows(rt, s, tiling.nq).run();
}

const Dataflow kSoftmax = {"softmax-rows",    "softmax by itself, P of C in DRAM",
                           run_softmax,       kGemmParameters,
                           kStepOptions,      nullptr,
                           hal::kScoresCAndP, kOneStep};
ATTNVP_DATAFLOW(kSoftmax);
const Dataflow kSteps = {
    "rows",        "one norm, sum, activation, copy, conversion or rotary embedding by itself, in DRAM",
    run_step,      kRowsParameters,
    kRowsOptions,  nullptr,
    hal::kScoresP, kOneStep | kRowStep};
ATTNVP_DATAFLOW(kSteps);

}  // namespace

}  // namespace attnvp::firmware
