#include "platform/schedule/bus.h"

#include <algorithm>
#include <cstring>

#include "firmware/hal/registers.h"
#include "platform/schedule/programs.h"

namespace attnvp::schedule {

namespace {

template <typename T>
T value_of(const void* data) {
  T value{};
  std::memcpy(&value, data, sizeof value);
  return value;
}

// Copies a part of an object that lies at `base`.
template <typename T>
bool copy_from(const T& object, std::uint64_t base, std::uint64_t address, void* data, std::size_t bytes) {
  if (address < base || address + bytes > base + sizeof object) return false;
  std::memcpy(data, reinterpret_cast<const unsigned char*>(&object) + (address - base), bytes);
  return true;
}

}  // namespace

namespace {
double scores_of(const hal::Mask& m, double rows, std::uint32_t keys) {
  if (!m.any()) return rows * keys;
  double seen = 0;
  for (std::uint32_t t = 0; t < m.queries; ++t) seen += hal::visible_tokens(m, t, t, keys).count();
  return rows / m.queries * seen;
}
}  // namespace

const Job::MailboxTable* Job::table_at(std::uint64_t address) const {
  for (const MailboxTable& t : tables) {
    if (address >= t.address && address < t.end()) return &t;
  }
  return nullptr;
}

// With a block mask or padding: their visible scores.
double Job::scores() const {
  if (rules.mask.by_key()) {
    const MailboxTable *map = table_at(hal::kMapAddress), *valid = table_at(hal::kContextsAddress);
    const hal::Layer& l = block.layer;
    const hal::Mask& m = rules.mask;
    const hal::BlockMask blocks{map == nullptr ? nullptr : map->words.data(),
                                m.block == 0 ? 0 : hal::map_stride(m, l.seq_kv)};
    double seen = 0;
    for (std::uint32_t b = 0; b < l.batch; ++b) {
      const std::uint32_t keys = valid == nullptr ? l.seq_kv : valid->words[b];
      for (std::uint32_t t = 0; t < m.queries; ++t) seen += hal::count_of_token(m, blocks, t, keys);
    }
    return seen * l.heads * (l.seq_q / m.queries);
  }
  const hal::Layer& l = block.layer;
  double scores = 0;
  for (std::size_t b = 0; b < contexts.size(); b += std::max(l.ragged, 1U)) {
    hal::Mask m = rules.mask;
    double rows = l.seq_q;
    if (l.ragged == 2) {
      m.queries = contexts[b];
      m.history = contexts[b + 1] - contexts[b];
      rows = 1.0 * rules.group * contexts[b];
    }
    scores += scores_of(m, rows, contexts[b + (l.ragged == 2 ? 1 : 0)]);
  }
  if (contexts.empty()) scores = l.batch * scores_of(rules.mask, l.seq_q, l.seq_kv);
  return scores * l.heads;
}

double Job::query_rows() const {
  const hal::Layer& l = block.layer;
  if (l.ragged != 2) return 1.0 * l.batch * l.heads * l.seq_q;
  double rows = 0;
  for (std::size_t b = 0; b < contexts.size(); b += 2) rows += contexts[b];
  return rows * rules.group * l.heads;
}

double Job::key_rows() const {
  if (rules.mask.by_key()) return 1;  // lower bound
  const hal::Layer& l = block.layer;
  double rows = 0;
  for (std::size_t b = 0; b < contexts.size(); b += std::max(l.ragged, 1U)) {
    if (l.ragged != 2) {
      rows += contexts[b];
      continue;
    }
    hal::Mask m = rules.mask;
    m.queries = contexts[b];
    m.history = contexts[b + 1] - contexts[b];
    rows += hal::visible_rows(m, 0, m.queries, contexts[b + 1]).count();
  }
  if (contexts.empty()) rows = 1.0 * l.batch * hal::visible_rows(rules.mask, 0, l.seq_q, l.seq_kv).count();
  return rows * l.heads;
}

Bus::QueueState& Bus::state(const Queue& queue) {
  const std::size_t at = std::size_t{queue.index} * 3 + static_cast<std::size_t>(queue.unit);
  if (at >= queues_.size()) queues_.resize(at + 1);
  return queues_[at];
}

bool queue_at(std::uint64_t offset, Queue& queue, std::uint64_t& within) {
  if (offset >= hal::kDmaOffset && offset < hal::kDmaOffset + hal::kDmaSize) {
    queue = {Unit::kDma, static_cast<std::uint32_t>((offset - hal::kDmaOffset) / hal::kQueueStride)};
    within = (offset - hal::kDmaOffset) % hal::kQueueStride;
    return true;
  }
  if (offset < hal::kCoreOffset) return false;
  const std::uint64_t in_core = (offset - hal::kCoreOffset) % hal::kCoreStride;
  const bool vec = in_core >= hal::kVecOffset;
  queue = {vec ? Unit::kVec : Unit::kMac, static_cast<std::uint32_t>((offset - hal::kCoreOffset) / hal::kCoreStride)};
  within = in_core - (vec ? hal::kVecOffset : hal::kMacOffset);
  return true;
}

bool Bus::read(std::uint64_t address, void* data, std::size_t bytes) {
  reader_.access(bytes);
  if (reader_.enough()) return false;
  if (copy_from(job_.block, hal::kJobAddress, address, data, bytes)) return true;
  if (copy_from(job_.scratch, hal::kScratchAddress, address, data, bytes)) return true;
  if (copy_from(job_.rules, hal::kRulesAddress, address, data, bytes)) return true;
  if (copy_from(job_.types, hal::kTypesAddress, address, data, bytes)) return true;
  if (const Job::MailboxTable* table = job_.table_at(address)) {
    if (address + bytes > table->end()) return false;
    std::memcpy(data, reinterpret_cast<const unsigned char*>(table->words.data()) + (address - table->address), bytes);
    return true;
  }
  if (address >= hal::kScalesAddress && address < hal::kContextsAddress) {
    const std::uint64_t offset = address - hal::kScalesAddress;
    if (offset + bytes > job_.scales.size() * sizeof(hal::HeadScales)) return false;
    std::memcpy(data, reinterpret_cast<const unsigned char*>(job_.scales.data()) + offset, bytes);
    return true;
  }
  if (address >= hal::kContextsAddress && address < hal::kWorkersAddress) {
    const std::uint64_t offset = address - hal::kContextsAddress;
    if (offset + bytes > job_.contexts.size() * sizeof(std::uint32_t)) return false;
    std::memcpy(data, reinterpret_cast<const unsigned char*>(job_.contexts.data()) + offset, bytes);
    return true;
  }
  if (address >= hal::kPagesAddress && address < hal::kPagesAddress + 4 * std::uint64_t{hal::kMostPages}) {
    const std::uint64_t offset = address - hal::kPagesAddress;
    if (offset + bytes > job_.pages.size() * sizeof(std::uint32_t)) return false;
    std::memcpy(data, reinterpret_cast<const unsigned char*>(job_.pages.data()) + offset, bytes);
    return true;
  }
  std::memset(data, 0, bytes);  // queue levels and engine states: empty and idle
  Queue queue;
  std::uint64_t within = 0;
  if (address < hal::cluster_base(cluster_)) return true;
  if (!queue_at(address - hal::cluster_base(cluster_), queue, within)) return true;
  std::uint32_t value = 0;
  if (within == hal::kQueueDone) value = state(queue).pushed;
  if (within == hal::kQueueLevel) value = reader_.level(queue);
  std::memcpy(data, &value, std::min(bytes, sizeof value));
  return true;
}

bool Bus::write(std::uint64_t address, const void* data, std::size_t bytes) {
  reader_.access(bytes);
  if (reader_.enough()) return false;
  const std::uint64_t in_result = address - hal::result_address(cluster_);
  if (in_result < sizeof result_ && bytes <= sizeof result_ - in_result) {
    std::memcpy(reinterpret_cast<unsigned char*>(&result_) + in_result, data, bytes);
    return true;
  }
  const std::uint64_t base = hal::cluster_base(cluster_);
  if (address < base || address >= base + hal::kClusterStride) return true;  // other words of the mailbox
  return write_control(address - base, data, bytes);
}

bool Bus::write_control(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (offset < hal::kEventsOffset + hal::kEventsSize) {
    const auto event = static_cast<std::uint32_t>((offset - hal::kEventsOffset) / hal::kEventStride);
    const auto tokens = value_of<std::uint32_t>(data);
    if (offset % hal::kEventStride == hal::kEventTake) {
      reader_.take(event, tokens);
    } else {
      reader_.give(event, tokens);
    }
    return true;
  }
  if (offset == hal::kL1ControlOffset + hal::kL1Allocated) {
    const auto value = value_of<std::uint64_t>(data);
    reader_.tagged(static_cast<std::uint32_t>(value >> hal::kL1TagShift));
    reader_.allocated(value & hal::kL1AllocatedBytes);
    return true;
  }
  Queue queue;
  std::uint64_t within = 0;
  return queue_at(offset, queue, within) && write_queue(queue, within, data, bytes);
}

namespace {
// Descriptor as an engine reads it: zeros beyond its length. `copy`: storage if bytes were written there.
const hal::Descriptor& built(const hal::Descriptor& building, std::size_t written, hal::Descriptor& copy) {
  const std::size_t length = std::min<std::size_t>(building.length, sizeof building);
  if (written <= length) return building;
  copy = building;
  std::memset(reinterpret_cast<unsigned char*>(&copy) + length, 0, sizeof copy - length);
  return copy;
}
}  // namespace

bool Bus::write_queue(const Queue& queue, std::uint64_t offset, const void* data, std::size_t bytes) {
  QueueState& q = state(queue);
  if (offset + bytes <= sizeof q.building) {
    std::memcpy(reinterpret_cast<unsigned char*>(&q.building) + offset, data, bytes);
    q.written = std::max<std::size_t>(q.written, offset + bytes);
  } else if (offset == hal::kQueueDoorbell) {
    ++q.pushed;
    hal::Descriptor copy;
    reader_.command(queue, built(q.building, q.written, copy));
  } else if (offset == hal::kEngineControl && value_of<std::uint32_t>(data) == hal::kReplace) {
    hal::Descriptor copy;
    reader_.replace(queue, built(q.building, q.written, copy));
  }
  return true;
}

hal::JobResult read_stream(const Job& job, std::uint32_t cluster, Reader& reader) {
  Bus bus(job, cluster, reader);
  run_firmware(job, bus, cluster);
  return bus.result();
}

}  // namespace attnvp::schedule
