// MAS-Attention with the proactive overwrite of section 4.3. L1 space is taken and given back as the schedule runs, in
// strips of rows. P_i has strips of its own; C_{i+1} takes over those of P_{i-1}. When there is no space for the next
// rows of P_i, what the MAC stream is reading gives way: V when it computes O, K when it computes C. The MAC engines
// are halted, softmax goes on in the freed space, and when P_i is complete C_i's strips are free: the tensor is loaded
// anew, and the interrupted matmul is done again. The processor follows every command, so that it can decide with what
// it sees.
#include "firmware/dataflows/mas_overwrite.h"

#include "firmware/runtime/arena.h"
#include "firmware/runtime/attention.h"
#include "firmware/runtime/strip_pool.h"

namespace attnvp::firmware {

namespace {

constexpr uint32_t kMaxCores = 16;
constexpr uint32_t kMaxStrips = 64;  // of one row block

// K or V of the head at hand.
struct Tensor {
  uint64_t dram = 0;
  uint64_t l1 = 0;    // 0: not there
  bool away = false;  // gave way to P
  uint32_t head = 0;
};

// What a core keeps of the row blocks in its pipeline.
struct CoreState {
  Item c, p, o;                         // the blocks that C, P and O are computed for in this round
  uint64_t q = 0;                       // Q_i
  uint64_t c_strip[kMaxStrips] = {};    // C_i, being computed
  uint64_t s_strip[kMaxStrips] = {};    // C_{i-1}, being turned into P
  uint64_t p_strip[kMaxStrips] = {};    // P_{i-1}
  uint64_t old_strip[kMaxStrips] = {};  // P_{i-2}
  uint64_t o_block = 0;
  uint32_t softmax_strips = 0;  // done or under way in this round
  uint32_t matmuls = 0;         // likewise: strips of O, then of C
  bool mac_busy = false, vec_busy = false, halted = false;
  uint32_t mac_done = 0, vec_done = 0;  // the engines' done counters when last seen
};

class Guarded {
 public:
  Guarded(Runtime& rt, const Work& work, const RowTiling& tiling);
  void run();

 private:
  uint32_t strips(const Item& item) const {
    return item.valid ? static_cast<uint32_t>(ceil_div(item.rows, strip_rows_)) : 0;
  }
  uint32_t rows_in(const Item& item, uint32_t strip) const { return min(strip_rows_, item.rows - strip * strip_rows_); }
  uint64_t strip_bytes() const { return uint64_t{strip_rows_} * seq_kv_ * kHalfBytes; }
  uint64_t must(uint64_t bytes, L1Region region);
  uint64_t must_strip();
  void transfer(const Matrix& from, const Matrix& to, const Item& item);
  void load(Tensor& tensor, uint32_t head);
  void begin(const Work::Round& c, const Work::Round& p, const Work::Round& o);
  void end();
  void round();
  void start_matmul(uint32_t core);
  Command next_matmul(const CoreState& s) const;
  void start_softmax(uint32_t core);
  bool give_way(uint32_t core);
  void restore();
  void collect();
  bool all_softmax_done() const;

  Runtime& rt_;
  const Work& work_;
  RowTiling tiling_;
  Arena arena_;
  uint32_t strip_rows_, emb_, seq_kv_;
  StripPool strips_;
  uint32_t generation_ = 0;  // of the row blocks that C is computed for
  Tensor k_, v_;
  Events done_, moved_;
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
      strips_(arena_, round_up(strip_bytes(), 64), round_up(uint64_t{seq_kv_} * emb_ * kHalfBytes, 64)),
      done_(rt.events(1)),
      moved_(rt.events(1)) {
  // C_i beside P_{i-2} or C_{i-1} must fit; P_{i-1} is what K or V gives way to.
  const uint64_t rows = min(tiling.nq, rt.layer().seq_q);
  const uint64_t need =
      2 * round_up(uint64_t{seq_kv_} * emb_ * kHalfBytes, 64) +
      rt.cores() * (2 * round_up(rows * emb_ * kHalfBytes, 64) + 2 * round_up(rows * seq_kv_ * kHalfBytes, 64));
  if (need > rt.machine().l1_bytes) rt.fail(Status::kL1TooSmall, need, rt.machine().l1_bytes);
  if (rt.dry()) rt.allocate(need);
  k_.dram = rt.layer().k;
  v_.dram = rt.layer().v;
  if (rt.cores() > kMaxCores) {
    rt.fail(Status::kBadJob);
    return;
  }
  // What stays comes first, so that strips and tensors share one stretch.
  const uint64_t rows_bytes = uint64_t{min(tiling.nq, rt.layer().seq_q)} * emb_ * kHalfBytes;
  for (uint32_t n = 0; n < rt.cores(); ++n) {
    core_[n].q = must(rows_bytes, L1Region::kQ);
    core_[n].o_block = must(rows_bytes, L1Region::kO);
  }
}

// Space that nothing can give way for.
uint64_t Guarded::must(uint64_t bytes, L1Region region) {
  const uint64_t address = arena_.allocate(bytes, region);
  if (address == 0) rt_.fail(Status::kL1TooSmall, arena_.used() + bytes, rt_.machine().l1_bytes);
  return address;
}

uint64_t Guarded::must_strip() {
  const uint64_t address = strips_.allocate(generation_);
  if (address == 0) rt_.fail(Status::kL1TooSmall, arena_.used() + strip_bytes(), rt_.machine().l1_bytes);
  return address;
}

void Guarded::transfer(const Matrix& from, const Matrix& to, const Item& item) {
  const bool load = to.address >= hal::kL1Base;
  rt_.dma(load ? kLoadChannel : kStoreChannel, copy(from, to).then(moved_).label(item.head, item.block));
}

// Blocks until the tensor's head is in L1.
void Guarded::load(Tensor& tensor, uint32_t head) {
  const uint32_t stride = emb_ * kHalfBytes;
  tensor.head = head;
  if (tensor.l1 == 0) tensor.l1 = must(strips_.slot_bytes(), &tensor == &k_ ? L1Region::kK : L1Region::kV);
  Item item;
  item.head = head;
  transfer({tensor.dram + uint64_t{head} * seq_kv_ * stride, seq_kv_, emb_, stride}, {tensor.l1, seq_kv_, emb_, stride},
           item);
  rt_.wait(moved_);
}

// A round's items and the loads it needs.
void Guarded::begin(const Work::Round& c, const Work::Round& p, const Work::Round& o) {
  const uint32_t stride = emb_ * kHalfBytes;
  if (c.valid && c.round == 0) load(k_, work_.head_of(c.group, 0));
  if (o.valid && o.round == 0) load(v_, work_.head_of(o.group, 0));
  ++generation_;
  uint32_t loads = 0;
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    CoreState& s = core_[n];
    const auto item = [&](const Work::Round& r) { return r.valid ? work_.item(r.group, r.round, n) : Item{}; };
    s.c = item(c);
    s.p = item(p);
    s.o = item(o);
    s.softmax_strips = s.matmuls = 0;
    if (s.c.valid) {
      // C_i follows P_{i-2}, strip for strip, and is of one generation with it.
      for (uint32_t i = 0; i < strips(s.c); ++i) s.c_strip[i] = i < strips(s.o) ? s.old_strip[i] : must_strip();
      const uint64_t row = uint64_t{s.c.head} * rt_.layer().seq_q + s.c.row;
      transfer({rt_.layer().q + row * stride, s.c.rows, emb_, stride}, {s.q, s.c.rows, emb_, stride}, s.c);
      ++loads;
    }
  }
  rt_.wait(moved_, loads);
}

// Stores O and gives back what the round has used up; what it made moves on one stage.
void Guarded::end() {
  const uint32_t stride = emb_ * kHalfBytes;
  uint32_t stores = 0;
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    const CoreState& s = core_[n];
    if (!s.o.valid) continue;
    const uint64_t row = uint64_t{s.o.head} * rt_.layer().seq_q + s.o.row;
    transfer({s.o_block, s.o.rows, emb_, stride}, {rt_.layer().o + row * stride, s.o.rows, emb_, stride}, s.o);
    ++stores;
  }
  rt_.wait(moved_, stores);
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    CoreState& s = core_[n];
    for (uint32_t i = strips(s.c); i < strips(s.o); ++i) strips_.free(s.old_strip[i]);
    for (uint32_t i = 0; i < strips(s.p); ++i) s.old_strip[i] = s.p_strip[i];
    for (uint32_t i = 0; i < strips(s.c); ++i) s.s_strip[i] = s.c_strip[i];
  }
}

// The next matmul of a core in this round: strips of O_{i-2}, then C_i.
Command Guarded::next_matmul(const CoreState& s) const {
  const uint32_t stride = emb_ * kHalfBytes;
  if (s.matmuls < strips(s.o)) {
    const uint32_t rows = rows_in(s.o, s.matmuls);
    const uint64_t o = s.o_block + uint64_t{s.matmuls} * strip_rows_ * stride;
    Command command = matmul_ab({s.old_strip[s.matmuls], rows, seq_kv_, seq_kv_ * kHalfBytes},
                                {v_.l1, seq_kv_, emb_, stride}, {o, rows, emb_, stride}, tiling_.l0);
    return command.then(done_).label(s.o.head, s.o.block);
  }
  const uint32_t strip = s.matmuls - strips(s.o);
  const uint32_t rows = rows_in(s.c, strip);
  Command command =
      matmul_abt({s.q + uint64_t{strip} * strip_rows_ * stride, rows, emb_, stride}, {k_.l1, seq_kv_, emb_, stride},
                 {s.c_strip[strip], rows, seq_kv_, seq_kv_ * kHalfBytes}, tiling_.l0);
  return command.then(done_).label(s.c.head, s.c.block);
}

void Guarded::start_matmul(uint32_t core) {
  CoreState& s = core_[core];
  const uint32_t all = strips(s.o) + strips(s.c);
  if (s.mac_busy || s.matmuls == all) return;
  const Tensor& needed = s.matmuls < strips(s.o) ? v_ : k_;
  if (needed.away) return;  // not before it is there again
  rt_.mac(core, next_matmul(s));
  s.mac_busy = true;
}

void Guarded::start_softmax(uint32_t core) {
  CoreState& s = core_[core];
  if (s.vec_busy || s.softmax_strips == strips(s.p)) return;
  const uint32_t rows = rows_in(s.p, s.softmax_strips);
  const uint32_t stride = seq_kv_ * kHalfBytes;
  // P_{i-1} will be followed by C_{i+1}.
  uint64_t to = strips_.allocate(generation_ + 1);
  if (to == 0 && give_way(core)) to = strips_.allocate(generation_ + 1);
  if (to == 0) {
    rt_.fail(Status::kL1TooSmall, arena_.used() + strip_bytes(), rt_.machine().l1_bytes);
    return;
  }
  s.p_strip[s.softmax_strips] = to;
  const Matrix in{s.s_strip[s.softmax_strips], rows, seq_kv_, stride};
  rt_.vec(core, softmax(in, {to, rows, seq_kv_, stride}).then(done_).label(s.p.head, s.p.block));
  s.vec_busy = true;
}

// L1 is full and this core's softmax needs rows: takes V or K, first the one its MAC engine is reading.
bool Guarded::give_way(uint32_t core) {
  const bool computes_c = core_[core].matmuls >= strips(core_[core].o);
  Tensor* victim = computes_c ? &k_ : &v_;
  if (victim->l1 == 0) victim = computes_c ? &v_ : &k_;
  if (victim->l1 == 0) return false;
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    CoreState& s = core_[n];
    const bool reads_k = s.matmuls >= strips(s.o);
    if (s.mac_busy && !s.halted && reads_k == (victim == &k_)) s.halted = rt_.halt_mac(n);
  }
  arena_.free(victim->l1);
  victim->l1 = 0;
  victim->away = true;
  rt_.count(0, 1);
  rt_.count(1, uint64_t{seq_kv_} * emb_ * kHalfBytes);
  rt_.count(victim == &k_ ? 2 : 3, 1);
  return true;
}

bool Guarded::all_softmax_done() const {
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    if (core_[n].vec_busy || core_[n].softmax_strips < strips(core_[n].p)) return false;
  }
  return true;
}

// P_i is complete, C_i's strips are free: what was taken comes back, interrupted matmuls are done again.
void Guarded::restore() {
  Tensor* const both[] = {&v_, &k_};
  for (Tensor* tensor : both) {
    if (!tensor->away) continue;
    load(*tensor, tensor->head);
    tensor->away = false;
    for (uint32_t n = 0; n < rt_.cores(); ++n) {
      CoreState& s = core_[n];
      const bool reads_k = s.matmuls >= strips(s.o);
      if (!s.halted || reads_k != (tensor == &k_)) continue;
      rt_.replace_mac(n, next_matmul(s));
      s.halted = false;
    }
  }
}

// Which engines have finished since the last look.
void Guarded::collect() {
  for (uint32_t n = 0; n < rt_.cores(); ++n) {
    CoreState& s = core_[n];
    if (s.mac_busy) {
      const uint32_t done = rt_.mac_done(n);
      if (done != s.mac_done) {
        s.mac_done = done;
        s.mac_busy = false;
        ++s.matmuls;
      }
    }
    if (s.vec_busy) {
      const uint32_t done = rt_.vec_done(n);
      if (done != s.vec_done) {
        s.vec_done = done;
        s.vec_busy = false;
        ++s.softmax_strips;
      }
    }
  }
}

void Guarded::round() {
  bool scores_free = false;
  while (rt_.ok()) {
    bool busy = false;
    for (uint32_t n = 0; rt_.ok() && n < rt_.cores(); ++n) {
      start_matmul(n);
      start_softmax(n);
    }
    if (!scores_free && all_softmax_done()) {
      for (uint32_t n = 0; n < rt_.cores(); ++n) {
        for (uint32_t s = 0; s < strips(core_[n].p); ++s) strips_.free(core_[n].s_strip[s]);
      }
      scores_free = true;
    }
    if (scores_free && (k_.away || v_.away)) {
      restore();
      continue;
    }
    for (uint32_t n = 0; n < rt_.cores(); ++n) busy = busy || core_[n].mac_busy || core_[n].vec_busy;
    if (!busy) return;
    rt_.wait(done_);
    collect();
  }
}

void Guarded::run() {
  Work::Round i = work_.first(), i_1, i_2;
  while (rt_.ok() && (i.valid || i_1.valid || i_2.valid)) {
    begin(i, i_1, i_2);
    round();
    end();
    i_2 = i_1;
    i_1 = i;
    i = work_.after(i);
  }
}

}  // namespace

void run_mas_overwrite(Runtime& rt, const RowTiling& tiling) {
  rt.check_l0(tiling.l0);
  // One head's K and V, resident, and nothing buffered twice.
  const uint32_t given[] = {tiling.bb, tiling.hh, 1, 1, 1, 1, 1, tiling.kv_buffers, tiling.row_buffers};
  for (uint32_t i = 0; i < 9; ++i) {
    if (given[i] != 1) rt.refuse(i, given[i]);
  }
  const Work work(rt, tiling);
  Guarded guarded(rt, work, tiling);
  guarded.run();
}

}  // namespace attnvp::firmware
