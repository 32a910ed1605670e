// The steps of a round in which every lane has an item of one head and all keys count: most rounds of most layers. The
// commands are those that the general steps would issue; here everything that lanes share is set once a round, and of a
// kept command's words only those that change (hal/descriptor.h), as a small processor must keep up with the engines.
#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

// Words of a descriptor.
constexpr uint32_t kFlagsHead = 1, kRowBlock = 2, kWait = 4, kSignal = 8, kRows = 13;
constexpr uint32_t address(uint32_t operand) { return 14 + 4 * operand; }  // its lower half
constexpr uint32_t columns(uint32_t operand) { return 17 + 4 * operand; }
static_assert(offsetof(Descriptor, head) == 6 && offsetof(Descriptor, row_block) == 4 * kRowBlock, "words");
static_assert(offsetof(Descriptor, wait) == 4 * kWait && offsetof(Descriptor, signal) == 4 * kSignal, "words");
static_assert(offsetof(Descriptor, rows) == 4 * kRows && offsetof(Descriptor, operand) == 4 * address(0), "words");
static_assert(offsetof(hal::Operand, columns) == 4 * (columns(0) - address(0)), "words");

// For a head, without events.
inline Command::Word* anew(Command& command, uint32_t head) {
  Command::Word* const words = command.words();
  words[kFlagsHead] = (words[kFlagsHead] & 0xFFFF) | head << 16;
#pragma GCC unroll 8
  for (uint32_t i = 0; i < hal::kWaits + hal::kSignals; ++i) words[kWait + i] = 0;
  return words;
}

// Of lane 0; a lane's number is added.
inline uint32_t lane_event(Events events, uint32_t tokens = 1) { return hal::event_ref(events.first, 1, tokens).bits; }

inline void set(Command::Word* words, uint32_t operand, uint64_t at) {
  words[address(operand)] = static_cast<uint32_t>(at);
  words[address(operand) + 1] = static_cast<uint32_t>(at >> 32);
}

}  // namespace

// Of the first item's head.
uint64_t Attention::head_rows(uint64_t tensor, const Item& item) const { return tensor + item.head * head_bytes_; }

// Rows of the round's blocks: at first those of a strip, then, strip by strip, the others.
void Attention::plain_load_q(const Work::Round& i) {
  if (load_q_.raw().opcode == hal::Opcode::kNop) make_copy(load_q_, true);
  const Item* item = work_.items(i);
  Command::Word* const d = anew(load_q_, item->head);
  const uint64_t head = head_rows(rt_.layer().q, *item);
  const bool starts = i.index == 0;
  const uint32_t free = lane_event(q_free_), ready = lane_event(q_ready_), queue = rt_.dma_queue(kLoadChannel);
  if (starts) last_first_ = 1;
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    Lane& lane = lane_[c];
    d[kRowBlock] = item->block;
    d[kRows] = starts ? min(first_strip(), item->rows) : item->rows;
    set(d, 0, head + item->row * row_bytes_);
    d[address(1)] = lane.q_load;
    d[kWait] = free + c;
    d[kSignal] = ready + c;
    rt_.again(queue, load_q_);
    turn(lane.q_load, lane.q, q_bytes_);
    if (starts) lane.first = 1;
  }
}

void Attention::plain_rest_of_q(const Work::Round& i) {
  const Item* item = work_.items(i);
  Command::Word* const d = anew(load_q_, item->head);
  const uint32_t ready = lane_event(q_ready_), queue = rt_.dma_queue(kLoadChannel), strip = first_strip();
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    uint64_t from = head_rows(rt_.layer().q, *item) + item->row * row_bytes_;
    uint32_t to = lane_[c].q.at;
    d[kRowBlock] = item->block;
    d[kSignal] = ready + c;
    for (uint32_t row = strip; row < item->rows; row += strip) {
      d[kRows] = min(strip, item->rows - row);
      set(d, 0, from += strip * row_bytes_);
      d[address(1)] = to += strip * row_bytes_;
      rt_.again(queue, load_q_);
    }
  }
}

void Attention::plain_c(KvBuffer& k, const Work::Round& i, Loads& ahead) {
  if (c_.raw().opcode == hal::Opcode::kNop) make_c();
  const uint32_t blocks = k.blocks(), keys_at = k.place(i.group, 0, 0, 0);
  const bool arrives = i.round == 0, leaves = work_.is_last(i, 0), starts = i.index == 0;
  const uint32_t q_ready = lane_event(q_ready_), arrived = lane_event(k.ready()), c_ready = lane_event(c_ready_),
                 q_free = lane_event(q_free_), k_free = lane_event(k.free());
  for (uint32_t j = 0, key = 0; j < blocks; ++j) {
    ahead.pump();
    const Item* item = work_.items(i);
    Command::Word* const d = anew(c_, item->head);
    const uint32_t keys = k.block_rows(j), key_bytes = key * kHalfBytes;
    const bool last = j + 1 == blocks;
    d[address(1)] = keys_at + key * row_bytes_;
    d[columns(2)] = keys;
    Command::Word* const wait = j == 0 ? d + kWait + 1 : d + kWait;
    uint32_t queue = rt_.mac_queue(0);
    for (uint32_t c = 0; c < lanes_.count; ++c, ++item, queue += Runtime::kNextCore) {
      Lane& lane = lane_[c];
      d[kRowBlock] = item->block;
      d[kRows] = item->rows;
      d[address(0)] = lane.q_use;
      d[address(2)] = lane.c + key_bytes;
      if (j == 0) d[kWait] = q_ready + c;
      if (arrives) *wait = arrived + c;
      if (starts && j == 0) plain_strips(d, queue, *item);
      if (last) {
        d[kSignal] = c_ready + c;
        d[kSignal + 1] = q_free + c;
        if (leaves) d[kSignal + 2] = k_free + c;
        turn(lane.q_use, lane.q, q_bytes_);
        turn(lane.c, lane.scores, scores_bytes_);
      }
      rt_.again(queue, c_);
    }
    key += keys;
  }
  if (arrives) k.all_taken(i.group);
  if (!starts) return;
  for (uint32_t c = 0; c < lanes_.count; ++c) lane_[c].first_c = false;
}

// Of a lane's first block all strips but the last, which is left in the command.
void Attention::plain_strips(Command::Word* d, uint32_t queue, const Item& item) {
  const uint32_t strip = first_strip();
  uint32_t left = item.rows;
  for (uint32_t i = 0; i < hal::kSignals; ++i) d[kSignal + i] = 0;
  for (; left > strip; left -= strip) {
    d[kRows] = strip;
    rt_.again(queue, c_);
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
  Command::Word* const d = anew(p_, item->head);
  d[columns(0)] = d[columns(1)] = item->keys;
  const uint32_t c_ready = lane_event(c_ready_), p_ready = lane_event(p_ready_);
  uint32_t queue = rt_.vec_queue(0);
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item, queue += Runtime::kNextCore) {
    Lane& lane = lane_[c];
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    d[address(0)] = d[address(1)] = lane.p;
    d[kWait] = c_ready + c;
    d[kSignal] = p_ready + c;
    rt_.again(queue, p_);
    turn(lane.p, lane.scores, scores_bytes_);
  }
}

void Attention::plain_o(KvBuffer& v, const Work::Round& i) {
  const Item* const items = work_.items(i);
  if (o_keys_ != items->keys) make_o(items->keys, 0, Accumulate::kOnly);
  const bool arrives = i.round == 0, leaves = work_.is_last(i, 0);
  const uint32_t p_ready = lane_event(p_ready_), o_free = lane_event(o_free_), o_ready = lane_event(o_ready_),
                 arrived = lane_event(v.ready(), v.blocks()), v_free = lane_event(v.free());
  Command::Word* d = anew(o_, items->head);
  d[address(1)] = v.place(i.group, 0, 0, 0);
  uint32_t queue = rt_.mac_queue(0);
  const Item* item = items;
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item, queue += Runtime::kNextCore) {
    Lane& lane = lane_[c];
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    d[address(0)] = lane.o_p;
    d[address(2)] = lane.o_at;
    d[kWait] = p_ready + c;
    d[kWait + 1] = o_free + c;
    if (arrives) d[kWait + 2] = arrived + c;
    d[kSignal] = o_ready + c;
    if (leaves) d[kSignal + 1] = v_free + c;
    rt_.again(queue, o_);
    turn(lane.o_p, lane.scores, scores_bytes_);
  }
  if (arrives) v.all_taken(i.group);
  if (store_o_.raw().opcode == hal::Opcode::kNop) make_copy(store_o_, false);
  d = anew(store_o_, items->head);
  d[kSignal] = lane_event(stored_);
  const uint64_t head = head_rows(rt_.layer().o, *items);
  queue = rt_.dma_queue(kStoreChannel);
  item = items;
  for (uint32_t c = 0; c < lanes_.count; ++c, ++item) {
    Lane& lane = lane_[c];
    d[kRowBlock] = item->block;
    d[kRows] = item->rows;
    d[address(0)] = lane.o_at;
    set(d, 1, head + item->row * row_bytes_);
    d[kWait] = o_ready + c;
    d[kSignal + 1] = o_free + c;
    rt_.again(queue, store_o_);
    turn(lane.o_at, lane.o, q_bytes_);
  }
  stores_ += lanes_.count;
}

}  // namespace attnvp::firmware
