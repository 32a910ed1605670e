// Command list: the recorded register and mailbox writes of one cluster's firmware in a job, in program order. The host
// leaves it in DRAM when firmware has run beforehand (control.lists). A list is executed in order: a write that stalls
// (full queue, missing tokens) delays all later ones. A command stores only the words that changed in the queue's
// window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/hal/job.h"

namespace attnvp::hal {

struct CommandList {
  std::uint64_t address;  // in DRAM
  std::uint32_t bytes, reserved;
};
static_assert(sizeof(CommandList) == 16, "the same bytes on every processor");

// One per cluster, valid with the job flag kListed.
constexpr std::uint64_t kListsAddress = kJobAddress + 0x2'2000;
constexpr std::uint64_t list_address(std::uint32_t cluster) { return kListsAddress + cluster * sizeof(CommandList); }
static_assert(kResultAddress + 1024 * kResultStride <= kListsAddress && list_address(1024) <= kScratchAddress, "fits");

// A record consists of 32-bit words. The first is a word-aligned address below 4 GiB with a ListKind in its lowest
// bits. Contents of the following words:
//   kListWrite    bytes (a multiple of 4), then the data, written to the address in one access
//   kListCommand  mask of the window's first 32 words, then the words whose bit is set (word 0 is bit 0); adjacent
//                 words are written to the queue in one access, then the doorbell is written
//   kListLonger   as kListCommand, with a mask of 64 words
enum ListKind : std::uint32_t { kListWrite = 0, kListCommand = 1, kListLonger = 2 };
constexpr std::uint32_t kListKindMask = 3;
constexpr std::uint32_t kWindowWords = kMaxDescriptorBytes / 4;
constexpr std::uint32_t kMostRecordWords = 3 + kWindowWords;
constexpr std::uint32_t kListBurst = 1024;  // bytes of a list that are read at once

// Words of the record at `words`; 0 if `count` words do not hold its header, or if it is invalid.
constexpr std::uint32_t record_words(const std::uint32_t* words, std::uint32_t count) {
  const std::uint32_t kind = count > 0 ? words[0] & kListKindMask : kListWrite;
  const std::uint32_t head = kind == kListLonger ? 3 : 2;
  if (count < head) return 0;
  if (kind == kListWrite) return words[1] > kMaxDescriptorBytes ? 0 : head + words[1] / 4;
  std::uint32_t set = 0;
  for (std::uint32_t i = 1; i < head; ++i) {
    for (std::uint32_t mask = words[i]; mask != 0; mask &= mask - 1) ++set;
  }
  return head + set;
}

// Executes one record. `write(address, words, bytes)` returns false when the bus answers with an error.
template <typename Write>
bool play_record(std::uint32_t* words, const Write& write) {
  const std::uint32_t kind = words[0] & kListKindMask, address = words[0] & ~kListKindMask;
  if (kind == kListWrite) return write(address, words + 2, words[1]);
  const std::uint32_t masks = kind == kListLonger ? 2 : 1;
  std::uint32_t* next = words + 1 + masks;
  const auto set = [&](std::uint32_t i) { return i / 32 < masks && (words[1 + i / 32] >> i % 32 & 1) != 0; };
  for (std::uint32_t i = 0; i < 32 * masks; ++i) {
    std::uint32_t end = i;
    while (set(end)) ++end;
    if (end == i) continue;
    if (!write(address + 4 * i, next, 4 * (end - i))) return false;
    next += end - i;
    i = end;
  }
  std::uint32_t doorbell = 1;
  return write(address + static_cast<std::uint32_t>(kQueueDoorbell), &doorbell, 4);
}

// Executes a list. `read(address, words, bytes)` returns false on a bus error. False also for an invalid list.
template <typename Read, typename Write>
bool play_list(const CommandList& list, const Read& read, const Write& write) {
  std::uint32_t kept[kListBurst / 4 + kMostRecordWords];
  // at, end: words of `kept`; fetched: bytes of the list
  std::uint32_t at = 0, end = 0, fetched = 0;
  while (fetched < list.bytes || at < end) {
    const std::uint32_t words = record_words(kept + at, end - at);
    if (words != 0 && words <= end - at) {
      if (!play_record(kept + at, write)) return false;
      at += words;
      continue;
    }
    if (fetched == list.bytes || end - at >= kMostRecordWords) return false;
    for (std::uint32_t i = at; i < end; ++i) kept[i - at] = kept[i];
    end -= at;
    at = 0;
    const std::uint32_t some = list.bytes - fetched < kListBurst ? list.bytes - fetched : kListBurst;
    if (some % 4 != 0 || !read(list.address + fetched, kept + end, some)) return false;
    end += some / 4;
    fetched += some;
  }
  return true;
}

}  // namespace attnvp::hal
