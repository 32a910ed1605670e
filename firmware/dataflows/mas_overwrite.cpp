// MAS-Attention with the proactive overwrite of section 4.3. P_i has rows of its own in L1, and C_{i+1} reuses those of
// P_{i-1}. If the next rows of P_i do not fit, they evict an operand of the MAC engines: V during O, K during C. MAC
// engines stop, and softmax continues in the freed space. When P_i is complete, C_i's rows are free; the evicted tensor
// is loaded again, and MAC engines resume.
//
// All decisions are made when commands are issued, from the tiling, the L1 capacity and the engines' rates. L1 is
// allocated strip by strip in program order, and a barrier of all engines separates rounds. MAC engines therefore stop
// between two strips of rows, and no work is repeated.
#include "firmware/dataflows/mas_overwrite.h"

#include "firmware/runtime/arena.h"
#include "firmware/runtime/attention/attention.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kMaxCores = 16;
constexpr uint32_t kMaxStrips = 64;  // per row block
constexpr uint32_t kAll = 0xFFFF'FFFF;

// K or V of the current head.
struct ResidentTensor {
  uint64_t dram = 0;
  uint64_t l1 = 0;  // 0: not in L1
  L1Region region = L1Region::kK;
  uint32_t emb = 0;  // columns
  uint32_t head = 0;
  Events ready;                // one token per core after a load
  bool fresh[kMaxCores] = {};  // loaded, but the core has not taken its token yet
};

// Row blocks in a core's pipeline.
struct CoreState {
  Item c{}, p{}, o{};                   // blocks for which C, P and O are computed in this round
  uint64_t q = 0;                       // Q_i
  uint64_t c_strip[kMaxStrips] = {};    // C_i, in computation
  uint64_t s_strip[kMaxStrips] = {};    // C_{i-1}, input of softmax
  uint64_t p_strip[kMaxStrips] = {};    // P_{i-1}
  uint64_t old_strip[kMaxStrips] = {};  // P_{i-2}
  uint64_t o_block = 0;
  uint32_t own = 0;  // strips of P_{i-1} that have free space
};

class Guarded {
 public:
  Guarded(Runtime& rt, const Work& work, const RowTiling& tiling);
  void run();

 private:
  // Eviction in a round: tensors, and the number of strips after which every MAC engine stops.
  struct GiveWay {
    ResidentTensor* tensor[2] = {};
    uint32_t matmuls = kAll;
    bool any() const { return tensor[0] != nullptr; }
  };
  uint32_t strips(const Item& item) const {
    return item.valid ? static_cast<uint32_t>(ceil_div(item.rows, strip_rows_)) : 0;
  }
  uint32_t rows_in(const Item& item, uint32_t strip) const { return min(strip_rows_, item.rows - strip * strip_rows_); }
  uint64_t strip_bytes() const { return uint64_t{strip_rows_} * seq_kv_ * kHalfBytes; }
  uint64_t must(uint64_t address);
  void begin(const Work::Round& c, const Work::Round& p, const Work::Round& o);
  void load(ResidentTensor& tensor);
  GiveWay place_p();
  uint32_t matmuls_by_then() const;
  void compute_p(uint32_t core, const GiveWay& given);
  void round(const Work::Round& c, const Work::Round& p, const Work::Round& o);
  void multiply(uint32_t core, uint32_t from, uint32_t to);
  Command next_matmul(const CoreState& s, uint32_t n) const;
  void stop(uint32_t core, const GiveWay& given);
  bool k_gives_way(uint32_t matmuls) const;
  void take(ResidentTensor& tensor, uint32_t core, Command& command);
  void restore(const GiveWay& given, const Work::Round& c, const Work::Round& p);
  void end();

  Events barrier() const { return {start_.first, 2 * rt_.cores() + 1}; }
  Command at_start(uint32_t engine) const { return fence().after(start_.of(engine), 2 * rt_.cores()); }

  Runtime& rt_;
  const Work& work_;
  RowTiling tiling_;
  Arena arena_;
  uint32_t strip_rows_, emb_, seq_kv_;
  StripPool strips_;
  uint32_t generation_ = 0;  // of the row blocks whose C is computed
  ResidentTensor k_, v_;
  Events start_;  // start of a round: all MAC engines, all VEC engines and the loads
  Events q_ready_, gave_, p_done_, o_ready_, o_free_, stored_;
  uint32_t stores_ = 0;
  CoreState core_[kMaxCores];
};

Guarded::Guarded(Runtime& rt, const Work& work, const RowTiling& tiling)
    : rt_(rt),
      work_(work),
      tiling_(tiling),
      arena_(rt),
      strip_rows_(max(rt.machine().mac_rows, static_cast<uint32_t>(ceil_div(tiling.nq, kMaxStrips)))),
      emb_(rt.layer().emb),
      seq_kv_(rt.layer().seq_kv),
      strips_(arena_, round_up(strip_bytes(), 64),
              round_up(uint64_t{seq_kv_} * max(emb_, rt.value_emb()) * rt.bytes(), 64)) {
  if (rt.cores() > kMaxCores) {
    rt.fail(Status::kBadJob);
    return;
  }
  rt.check_l0(tiling.l0);
  if (seq_kv_ > rt.most_scaled()) rt.refuse(RowTiling::kNkv, tiling.nkv);  // the product with V covers all keys
  // C_i must fit together with P_{i-2} or C_{i-1}; P_{i-1} may evict K or V.
  const uint64_t rows_bytes =
      uint64_t{min(tiling.nq, rt.layer().seq_q)} * max(emb_ * rt.bytes(), rt.value_emb() * rt.out_bytes());
  const uint64_t need = 2 * round_up(uint64_t{seq_kv_} * max(emb_, rt.value_emb()) * rt.bytes(), 64) +
                        rt.cores() * 2 * (round_up(rows_bytes, 64) + score_block_bytes(rt, tiling)) +
                        rt.addend_bytes(rt.cores(), strip_rows_, seq_kv_);
  if (!rt.has_space(need)) return;
  if (rt.dry()) rt.allocate(need);
  const uint32_t cores = rt.cores();
  k_ = {rt.layer().k, 0, L1Region::kK, emb_, 0, rt.events(cores), {}};
  v_ = {rt.layer().v, 0, L1Region::kV, rt.value_emb(), 0, rt.events(cores), {}};
  start_ = rt.events(2 * cores + 1, 2 * cores);
  q_ready_ = rt.events(cores);
  gave_ = rt.events(cores);
  p_done_ = rt.events(1);
  o_ready_ = rt.events(cores);
  o_free_ = rt.events(cores, 1);
  stored_ = rt.events(1);
  // Permanent buffers come first, so that strips and tensors share one contiguous region.
  for (uint32_t n = 0; !rt.dry() && n < cores; ++n) {
    core_[n].q = must(arena_.allocate(rows_bytes, L1Region::kQ));
    core_[n].o_block = must(arena_.allocate(rows_bytes, L1Region::kO));
  }
  const uint64_t addends = rt.addend_bytes(cores, strip_rows_, seq_kv_);
  if (addends == 0) return;
  const uint64_t l1 = rt.dry() ? 0 : must(arena_.allocate(addends, L1Region::kScores));
  rt.hold_addends(l1, cores, strip_rows_, seq_kv_, rt.own_channel());
}

// Checks an allocation that eviction cannot satisfy.
uint64_t Guarded::must(uint64_t address) {
  if (address == 0) rt_.fail(Status::kL1TooSmall, arena_.used() + strips_.slot_bytes(), rt_.machine().l1_bytes);
  return address;
}

// Loads the tensor of its head into free space and signals every core.
void Guarded::load(ResidentTensor& tensor) {
  const uint32_t stride = tensor.emb * rt_.bytes();
  if (tensor.l1 == 0) tensor.l1 = must(arena_.allocate(strips_.slot_bytes(), tensor.region));
  const Matrix from{tensor.dram + uint64_t{tensor.head} * seq_kv_ * stride, seq_kv_, tensor.emb, stride, rt_.type()};
  rt_.dma(kLoadChannel,
          copy(from, {tensor.l1, seq_kv_, tensor.emb, stride, rt_.type()}).then(tensor.ready).label(tensor.head, 0));
  for (uint32_t n = 0; n < rt_.cores(); ++n) tensor.fresh[n] = true;
}

void Guarded::take(ResidentTensor& tensor, uint32_t core, Command& command) {
  if (tensor.fresh[core]) command.after(tensor.ready.of(core));
  tensor.fresh[core] = false;
}

void Guarded::begin(const Work::Round& c, const Work::Round& p, const Work::Round& o) {
  const uint32_t stride = emb_ * rt_.bytes();
  rt_.dma(kLoadChannel, at_start(2 * rt_.cores()));
  if (o.valid && o.round == 0) {
    v_.head = work_.head_of(o.group, 0);
    load(v_);
  }
  if (c.valid && c.round == 0) {
    k_.head = work_.head_of(c.group, 0);
    load(k_);
  }
  ++generation_;
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    CoreState& s = core_[n];
    const auto item = [&](const Work::Round& r) { return r.valid ? work_.item(r, n) : Item{}; };
    s.c = item(c);
    s.p = item(p);
    s.o = item(o);
    if (!s.c.valid) continue;
    // C_i reuses the strips of P_{i-2} and belongs to the same generation.
    for (uint32_t i = 0; i < strips(s.c); ++i) {
      s.c_strip[i] = i < strips(s.o) ? s.old_strip[i] : must(strips_.allocate(generation_));
    }
    rt_.dma(kLoadChannel, copy(dram_q(rt_, s.c), {s.q, s.c.rows, emb_, stride, rt_.type()})
                              .then(q_ready_.of(n))
                              .label(s.c.head, s.c.block));
  }
}

// Strips that MAC has at least begun when the first VEC engine has used up its own space.
uint32_t Guarded::matmuls_by_then() const {
  uint64_t softmax_cycles = ~uint64_t{0};
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    const CoreState& s = core_[n];
    if (s.own == strips(s.p)) continue;
    softmax_cycles = min(softmax_cycles, uint64_t{s.own} * strip_rows_ * seq_kv_ * 16 / rt_.machine().softmax_rate);
  }
  const uint64_t matmul_cycles =
      ceil_div(strip_rows_, rt_.machine().mac_rows) * ceil_div(uint64_t{seq_kv_} * emb_, rt_.machine().mac_columns);
  return static_cast<uint32_t>(min(ceil_div(softmax_cycles, matmul_cycles), uint64_t{2} * kMaxStrips));
}

// Allocates P_{i-1} core by core, strip by strip, and determines the eviction if space is insufficient.
Guarded::GiveWay Guarded::place_p() {
  GiveWay given;
  uint32_t most = 0, victims = 0;
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    core_[n].own = strips(core_[n].p);
    most = max(most, core_[n].own);
  }
  for (uint32_t j = 0; rt_.ok() && j < most; ++j) {
    for (uint32_t n = 0; rt_.ok() && n < rt_.cores(); ++n) {
      CoreState& s = core_[n];
      if (j >= strips(s.p)) continue;
      // C_{i+1} will reuse the strips of P_{i-1}.
      while ((s.p_strip[j] = strips_.allocate(generation_ + 1)) == 0 && victims < 2) {
        if (victims == 0) {
          for (uint32_t k = 0; k < rt_.cores(); ++k) core_[k].own = min(core_[k].own, j + (k < n ? 1 : 0));
          given.matmuls = matmuls_by_then();
        }
        ResidentTensor& victim = k_gives_way(given.matmuls) == (victims == 0) ? k_ : v_;
        ++victims;
        if (victim.l1 == 0) continue;
        arena_.free(victim.l1);
        given.tensor[given.any() ? 1 : 0] = &victim;
        rt_.count(0, 1);
        rt_.count(&victim == &k_ ? 2 : 3, 1);
      }
      must(s.p_strip[j]);
    }
  }
  return given;
}

// True if no core has strips of O left after `matmuls` strips, or if there is no further C, which makes K unused.
bool Guarded::k_gives_way(uint32_t matmuls) const {
  bool o = false, c = false;
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    o = o || matmuls < strips(core_[n].o);
    c = c || core_[n].c.valid;
  }
  return !c || !o;
}

void Guarded::compute_p(uint32_t core, const GiveWay& given) {
  const CoreState& s = core_[core];
  const uint32_t stride = seq_kv_ * kHalfBytes;
  rt_.vec(core, at_start(rt_.cores() + core));
  if (given.any() && s.own == strips(s.p)) rt_.vec(core, fence().after(gave_.of(core), rt_.cores()));
  for (uint32_t i = 0; i < strips(s.p); ++i) {
    const uint32_t rows = rows_in(s.p, i);
    const auto strip = [&](uint64_t l1, hal::ElementType type) {
      return columns_of(Matrix{l1, rows, seq_kv_, stride, type}, s.p.key, s.p.keys);
    };
    Command command = softmax(strip(s.s_strip[i], hal::ElementType::kFp16), strip(s.p_strip[i], rt_.type()));
    mask(rt_, command, s.p.row + i * strip_rows_, s.p.key);
    rt_.add_sinks(command, s.p.head, s.p.row + i * strip_rows_);
    if (given.any() && i == s.own) command.after(gave_.of(core), rt_.cores());
    rt_.vec(core, command.label(s.p.head, s.p.block));
  }
  Command done = fence().then(barrier());
  if (given.any()) done.then(p_done_);
  rt_.vec(core, done);
}

// Strip n of a core in this round: strips of O_{i-2}, then of C_i.
Command Guarded::next_matmul(const CoreState& s, uint32_t n) const {
  const uint32_t stride = emb_ * rt_.bytes(), o_stride = v_.emb * rt_.out_bytes();
  if (n < strips(s.o)) {
    const uint32_t rows = rows_in(s.o, n);
    const Matrix p{s.old_strip[n], rows, seq_kv_, seq_kv_ * kHalfBytes, rt_.type()},
        v{v_.l1, seq_kv_, v_.emb, v_.emb * rt_.bytes(), rt_.type()};
    const Matrix o{s.o_block + uint64_t{n} * strip_rows_ * o_stride, rows, v_.emb, o_stride, rt_.out_type()};
    Command command =
        attend(columns_of(p, s.o.key, s.o.keys), rows_of(v, s.o.key, s.o.keys), o, {}, Accumulate::kOnly, tiling_.l0);
    rt_.scale_values(command, s.o.head);
    rt_.place_values(command, {s.o.head, s.o.row + n * strip_rows_, rows, s.o.key, s.o.keys});
    return command.label(s.o.head, s.o.block);
  }
  const uint32_t strip = n - strips(s.o);
  const uint32_t rows = rows_in(s.c, strip);
  const Matrix k{k_.l1, seq_kv_, emb_, stride, rt_.type()}, c{s.c_strip[strip], rows, seq_kv_, seq_kv_ * kHalfBytes};
  const Matrix q{s.q + uint64_t{strip} * strip_rows_ * stride, rows, emb_, stride, rt_.type()};
  Command command = matmul_abt(q, rows_of(k, s.c.key, s.c.keys), columns_of(c, s.c.key, s.c.keys), tiling_.l0);
  rt_.scale_scores(command, s.c.head);
  return command.label(s.c.head, s.c.block);
}

// Issues a core's matmuls from strip `from` on, up to `to` or to the end of the round.
void Guarded::multiply(uint32_t core, uint32_t from, uint32_t to) {
  CoreState& s = core_[core];
  const uint32_t of_o = strips(s.o), all = of_o + strips(s.c);
  for (uint32_t i = from; rt_.ok() && i < min(to, all); ++i) {
    Command command = next_matmul(s, i);
    take(i < of_o ? v_ : k_, core, command);
    if (i == 0 && of_o > 0) command.after(o_free_.of(core));
    if (i == of_o) command.after(q_ready_.of(core));
    if (i + 1 == of_o) command.then(o_ready_.of(core));
    if (i < of_o) {
      rt_.mac(core, command);
    } else {
      const uint32_t row = (i - of_o) * strip_rows_;
      rt_.scores(core, core, command, {s.c.head, s.c.row + row, command.raw().rows, s.c.key, s.c.keys});
    }
  }
}

// Evicted space may be written after all MAC engines have signalled.
void Guarded::stop(uint32_t core, const GiveWay& given) {
  Command stopped = fence().then(gave_);
  for (ResidentTensor* tensor : given.tensor) {
    if (tensor != nullptr) take(*tensor, core, stopped);
  }
  rt_.mac(core, stopped);
}

// P_i is complete and C_i's strips are free: reloads the evicted tensor, unless another head's is loaded next.
void Guarded::restore(const GiveWay& given, const Work::Round& c, const Work::Round& p) {
  if (given.any()) rt_.dma(kLoadChannel, fence().after(p_done_, rt_.cores()));
  for (ResidentTensor* tensor : given.tensor) {
    if (tensor == nullptr) continue;
    tensor->l1 = 0;  // P occupies its rows
    const Work::Round next = tensor == &v_ ? p : work_.after(c);
    bool needed = next.valid && next.round != 0;
    for (uint32_t n = 0; n < rt_.cores(); ++n) {
      const uint32_t of_o = strips(core_[n].o);
      const uint32_t end = tensor == &v_ ? of_o : of_o + strips(core_[n].c);
      needed = needed || given.matmuls < end;
    }
    if (!needed) continue;
    load(*tensor);
    rt_.count(1, uint64_t{seq_kv_} * tensor->emb * rt_.bytes());
  }
}

// Stores O, frees the buffers of the round, and advances the pipeline by one stage.
void Guarded::end() {
  const uint32_t stride = v_.emb * rt_.out_bytes();
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    CoreState& s = core_[n];
    for (uint32_t i = strips(s.c); i < strips(s.o); ++i) strips_.free(s.old_strip[i]);
    for (uint32_t i = 0; i < strips(s.p); ++i) s.old_strip[i] = s.p_strip[i];
    for (uint32_t i = 0; i < strips(s.c); ++i) s.s_strip[i] = s.c_strip[i];
    if (!s.o.valid) continue;
    rt_.dma(kStoreChannel, copy({s.o_block, s.o.rows, v_.emb, stride, rt_.out_type()}, dram_o(rt_, s.o))
                               .after(o_ready_.of(n))
                               .then(o_free_.of(n))
                               .then(stored_)
                               .label(s.o.head, s.o.block));
    ++stores_;
  }
}

void Guarded::round(const Work::Round& c, const Work::Round& p, const Work::Round& o) {
  const uint32_t cores = rt_.cores();
  begin(c, p, o);
  const GiveWay given = place_p();
  for (uint32_t n = 0; n < cores; ++n) {
    rt_.mac(n, at_start(n));
    multiply(n, 0, given.matmuls);
    if (given.any()) stop(n, given);
  }
  for (uint32_t n = 0; n < cores; ++n) compute_p(n, given);
  for (uint32_t n = 0; n < cores; ++n) {
    for (uint32_t i = 0; i < strips(core_[n].p); ++i) strips_.free(core_[n].s_strip[i]);
  }
  restore(given, c, p);
  for (uint32_t n = 0; n < cores; ++n) {
    multiply(n, given.matmuls, kAll);
    Command done = fence();
    take(v_, n, done);
    take(k_, n, done);
    rt_.mac(n, done.then(barrier()));
  }
  end();
}

void Guarded::run() {
  Work::Round i = work_.first(), i_1, i_2;
  while (rt_.ok() && (i.valid || i_1.valid || i_2.valid)) {
    round(i, i_1, i_2);
    i_2 = i_1;
    i_1 = i;
    i = work_.after(i);
  }
  rt_.wait(stored_, stores_);
}

}  // namespace

bool can_overwrite(const RowTiling& tiling) {
  return tiling.bb == 1 && tiling.hh == 1 && tiling.kv_buffers == 1 && tiling.row_buffers == 1;
}

uint64_t score_block_bytes(const Runtime& rt, const RowTiling& tiling) {
  return round_up(uint64_t{min(tiling.nq, rt.layer().seq_q)} * rt.layer().seq_kv * kHalfBytes, 64);
}

void run_mas_overwrite(Runtime& rt, const Work& work, const RowTiling& tiling) {
  Guarded guarded(rt, work, tiling);
  guarded.run();
}

}  // namespace attnvp::firmware
