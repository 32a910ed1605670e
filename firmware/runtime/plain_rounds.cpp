// The steps of a round in which every lane has an item of one head and all keys count: most rounds of most layers. The
// commands are those that the general steps would issue; here everything that lanes share is set once a round, and of a
// kept command's words only those that change (hal/descriptor.h), as a small processor must keep up with the engines.
#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

// Words of a descriptor.
constexpr uint32_t kRowBlock = 2, kWait = 4, kSignal = 8, kRows = 13;
constexpr uint32_t address(uint32_t operand) { return 14 + 4 * operand; }  // its lower half
constexpr uint32_t columns(uint32_t operand) { return 17 + 4 * operand; }
static_assert(offsetof(Descriptor, head) == 6 && offsetof(Descriptor, row_block) == 4 * kRowBlock, "words");
static_assert(offsetof(Descriptor, wait) == 4 * kWait && offsetof(Descriptor, signal) == 4 * kSignal, "words");
static_assert(offsetof(Descriptor, rows) == 4 * kRows && offsetof(Descriptor, operand) == 4 * address(0), "words");
static_assert(offsetof(hal::Operand, columns) == 4 * (columns(0) - address(0)), "words");

// For a head. Events are those that it had.
inline Command::Word* of_head(Command& command, uint32_t head) {
  command.raw().head = static_cast<std::uint16_t>(head);
  return command.words();
}

// Of lane 0; a lane's number is added.
inline uint32_t lane_event(Events events, uint32_t tokens = 1) { return events.first | 1 << 12 | tokens << 20; }

inline void set(Command::Word* words, uint32_t operand, uint64_t at) {
  words[address(operand)] = static_cast<uint32_t>(at);
  words[address(operand) + 1] = static_cast<uint32_t>(at >> 32);
}

}  // namespace

// Of the first item's head.
uint64_t Attention::head_rows(uint64_t tensor, const Item& item) const { return tensor + item.head * head_bytes_; }

// Rows of the round's blocks.
void Attention::plain_load_q(const Work::Round& i) {
  if (i.index == 0) return plain_first_q(i);
  const Item* item = work_.items(i);
  Command::Word* const d = of_head(load_q_, item->head);
  const uint64_t head = head_rows(rt_.layer().q, *item);
  const uint32_t queue = rt_.dma_queue(kLoadChannel);
  uint32_t free = lane_event(q_free_), ready = lane_event(q_ready_);
  Lane* lane = lane_;
  for (const Lane* end = lane + lanes_.count; lane != end; ++lane, ++item) {
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    set(d, 0, head + item->row * row_bytes_);
    d[address(1)] = lane->q_load;
    d[kWait] = free++;
    d[kSignal] = ready++;
    rt_.again(queue, load_q_);
    turn(lane->q_load, lane->q, q_bytes_);
  }
}

// At first those of a strip, then, strip by strip, the others.
void Attention::plain_first_q(const Work::Round& i) {
  if (load_q_.raw().opcode == hal::Opcode::kNop) make_copy(load_q_, true);
  const Item* item = work_.items(i);
  last_first_ = 1;
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    Lane& lane = lane_[c];
    plain_q_rows(*item, 0, min(first_strip(), item->rows));
    turn(lane.q_load, lane.q, q_bytes_);
    lane.first = 1;
  }
}

// On slow control every strip of Q but the last is followed by its C, whose first strip is made by then.
void Attention::plain_rest_of_q(const Work::Round& i) {
  const Item* item = work_.items(i);
  const uint32_t strip = first_strip();
  const bool with_c = made_ == Made::kFirst;
  Command::Word* const d = c_.words();
  if (with_c) d[kWait + 1] = 0;
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    if (with_c) d[kRowBlock] = item->block, d[kWait] = lane_event(q_ready_) + c;
    for (uint32_t row = strip; row < item->rows; row += strip) {
      plain_q_rows(*item, row, min(strip, item->rows - row));
      if (!with_c || row + strip >= item->rows) continue;
      d[address(0)] = lane_[c].q_use + row * row_bytes_;
      d[address(2)] = lane_[c].c + row * score_bytes_;
      rt_.again(rt_.mac_queue(c), c_);
    }
  }
  if (with_c) made_ = Made::kAllButLast;
}

// Of a lane's first block.
void Attention::plain_q_rows(const Item& item, uint32_t row, uint32_t rows) {
  Command::Word* const d = of_head(load_q_, item.head);
  d[kRowBlock] = item.block;
  d[kRows] = rows;
  set(d, 0, head_rows(rt_.layer().q, item) + (item.row + row) * row_bytes_);
  d[address(1)] = lane_[item.lane].q.at + row * row_bytes_;
  d[kWait] = row == 0 ? lane_event(q_free_) + item.lane : 0;
  d[kSignal] = lane_event(q_ready_) + item.lane;
  rt_.again(rt_.dma_queue(kLoadChannel), load_q_);
}

void Attention::plain_c(KvBuffer& k, const Work::Round& i, Loads& ahead) {
  if (c_.raw().opcode == hal::Opcode::kNop) make_c();
  const uint32_t blocks = k.blocks();
  uint32_t keys_at = k.resident_at(i.group), key_bytes = 0;
  const bool slow = rt_.machine().slow_control != 0;
  if (i.index == 0 && slow) plain_first_c(k, i);
  ahead.rest_for_c();
  for (uint32_t j = 0; j < blocks; ++j) {
    if (!slow) ahead.pump();
    const Item* item = work_.items(i);
    Command::Word* const d = of_head(c_, item->head);
    const uint32_t keys = k.block_rows(j);
    const bool first = j == 0, last = j + 1 == blocks, strips = first && i.index == 0;
    d[address(1)] = keys_at;
    d[columns(2)] = keys;
    // The first sub-block waits for rows of Q, every one in the group's first round for itself; the last one tells.
    const uint32_t arrived = i.round == 0 ? lane_event(k.ready()) : 0;
    uint32_t wait0 = first ? lane_event(q_ready_) : arrived, wait1 = first ? arrived : 0;
    uint32_t c_ready = last ? lane_event(c_ready_) : 0, q_free = last ? lane_event(q_free_) : 0,
             k_free = last && i.ends ? lane_event(k.free()) : 0;
    const uint32_t waits0 = wait0 != 0, waits1 = wait1 != 0, tells = last, leaves = k_free != 0;
    uint32_t queue = rt_.mac_queue(0);
    Lane* lane = lane_;
    for (const Lane* end = lane + lanes_.count; lane != end; ++lane, ++item) {
      d[kRowBlock] = item->block;
      d[kRows] = item->rows;
      d[address(0)] = lane->q_use;
      d[address(2)] = lane->c + key_bytes;
      d[kWait] = wait0;
      d[kWait + 1] = wait1;
      if (strips) plain_strips(d, queue, *item);
      d[kSignal] = c_ready;
      d[kSignal + 1] = q_free;
      d[kSignal + 2] = k_free;
      rt_.again(queue, c_);
      queue += Runtime::kNextCore;
      wait0 += waits0, wait1 += waits1, c_ready += tells, q_free += tells, k_free += leaves;
      if (!last) continue;
      turn(lane->q_use, lane->q, q_bytes_);
      turn(lane->c, lane->scores, scores_bytes_);
    }
    keys_at += keys * row_bytes_;
    key_bytes += keys * kHalfBytes;
    if (slow && last) ahead.pump_one_round();
  }
  if (i.round == 0) k.all_taken(i.group);
  if (i.index != 0) return;
  made_ = Made::kNone;
  for (uint32_t c = 0; c < lanes_.count; ++c) lane_[c].first_c = false;
}

// Of the first round the first strip, before the loads behind it are made.
void Attention::plain_first_c(KvBuffer& k, const Work::Round& i) {
  const Item* item = work_.items(i);
  Command::Word* const d = of_head(c_, item->head);
  const uint32_t strip = first_strip();
  d[address(1)] = k.resident_at(i.group);
  d[columns(2)] = k.block_rows(0);
  d[kRows] = strip;
  for (uint32_t s = 0; s < hal::kSignals; ++s) d[kSignal + s] = 0;
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    if (item->rows <= strip) continue;  // all that there is of it, which is no strip
    d[kRowBlock] = item->block;
    d[address(0)] = lane_[c].q_use;
    d[address(2)] = lane_[c].c;
    d[kWait] = lane_event(q_ready_) + c;
    d[kWait + 1] = lane_event(k.ready()) + c;
    rt_.again(rt_.mac_queue(c), c_);
  }
  made_ = Made::kFirst;
}

// Of a lane's first block all strips but the last, which is left in the command; on slow control they are made already.
void Attention::plain_strips(Command::Word* d, uint32_t queue, const Item& item) {
  const uint32_t strip = first_strip();
  Made made = made_;
  for (uint32_t i = 0; i < hal::kSignals; ++i) d[kSignal + i] = 0;
  uint32_t left = item.rows;
  for (; left > strip; left -= strip) {
    d[kRows] = strip;
    if (made == Made::kNone) rt_.again(queue, c_);
    if (made == Made::kFirst) made = Made::kNone;
    d[address(0)] += strip * row_bytes_;
    d[address(2)] += strip * score_bytes_;
    d[kWait + 1] = 0;
  }
  d[kRows] = left;
}

void Attention::plain_p(const Work::Round& i) {
  const Item* item = work_.items(i);
  if (p_.raw().opcode == hal::Opcode::kNop) {
    const Matrix l1{hal::l1_base(rt_.cluster()), 0, item->keys, score_bytes_};
    p_ = softmax(l1, l1);
  }
  Command::Word* const d = of_head(p_, item->head);
  d[columns(0)] = d[columns(1)] = item->keys;
  uint32_t c_ready = lane_event(c_ready_), p_ready = lane_event(p_ready_), queue = rt_.vec_queue(0);
  Lane* lane = lane_;
  for (const Lane* end = lane + lanes_.count; lane != end; ++lane, ++item) {
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    d[address(0)] = d[address(1)] = lane->p;
    d[kWait] = c_ready++;
    d[kSignal] = p_ready++;
    rt_.again(queue, p_);
    queue += Runtime::kNextCore;
    turn(lane->p, lane->scores, scores_bytes_);
  }
}

void Attention::plain_o(KvBuffer& v, const Work::Round& i) {
  const Item* item = work_.items(i);
  if (o_keys_ != item->keys) make_o(item->keys, 0, Accumulate::kOnly);
  Command::Word* const d = of_head(o_, item->head);
  d[address(1)] = v.resident_at(i.group);
  uint32_t p_ready = lane_event(p_ready_), o_free = lane_event(o_free_), o_ready = lane_event(o_ready_),
           arrived = i.round == 0 ? lane_event(v.ready(), v.blocks()) : 0, v_free = i.ends ? lane_event(v.free()) : 0;
  const uint32_t waits = arrived != 0, leaves = v_free != 0;
  uint32_t queue = rt_.mac_queue(0);
  Lane* lane = lane_;
  for (const Lane* end = lane + lanes_.count; lane != end; ++lane, ++item) {
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    d[address(0)] = lane->o_p;
    d[address(2)] = lane->o_at;
    d[kWait] = p_ready++;
    d[kWait + 1] = o_free++;
    d[kWait + 2] = arrived;
    d[kSignal] = o_ready++;
    d[kSignal + 1] = v_free;
    rt_.again(queue, o_);
    queue += Runtime::kNextCore;
    arrived += waits, v_free += leaves;
    turn(lane->o_p, lane->scores, scores_bytes_);
  }
  if (i.round == 0) v.all_taken(i.group);
  plain_store_o(i);
}

void Attention::plain_store_o(const Work::Round& i) {
  const Item* item = work_.items(i);
  if (store_o_.raw().opcode == hal::Opcode::kNop) make_copy(store_o_, false);
  Command::Word* const d = of_head(store_o_, item->head);
  d[kSignal] = lane_event(stored_);
  const uint64_t head = head_rows(rt_.layer().o, *item);
  uint32_t o_ready = lane_event(o_ready_), o_free = lane_event(o_free_);
  const uint32_t queue = rt_.dma_queue(kStoreChannel);
  Lane* lane = lane_;
  for (const Lane* end = lane + lanes_.count; lane != end; ++lane, ++item) {
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    d[address(0)] = lane->o_at;
    set(d, 1, head + item->row * row_bytes_);
    d[kWait] = o_ready++;
    d[kSignal + 1] = o_free++;
    rt_.again(queue, store_o_);
    turn(lane->o_at, lane->o, q_bytes_);
  }
  stores_ += lanes_.count;
}

}  // namespace attnvp::firmware
