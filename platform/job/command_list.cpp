#include "platform/job/command_list.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <utility>

#include "firmware/hal/list.h"
#include "firmware/hal/registers.h"
#include "mapping/programs.h"
#include "platform/job/schedule.h"

namespace attnvp::job {

namespace {

// Firmware finds every queue full, and so puts loads there when they are needed: a list that stood still before a full
// queue would hold up the others.
class FullQueues final : public mapping::Reader {
 public:
  explicit FullQueues(std::uint32_t depth) : depth_(depth) {}
  void command(const mapping::Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
  std::uint32_t level(const mapping::Queue& /*queue*/) override { return depth_; }

 private:
  std::uint32_t depth_;
};

// The bus that firmware is run against: writes go into the list, too.
class Maker final : public hal::Cpu {
 public:
  Maker(const mapping::Job& job, const MachineConfig& machine, std::uint32_t cluster)
      : queues_(machine.dma.queue_depth), bus_(job, cluster, queues_), control_(hal::cluster_base(cluster)) {}

  bool read(std::uint64_t address, void* data, std::size_t bytes) override {
    mapping::Queue queue;
    std::uint64_t within = 0;
    const bool of_queue = in_control(address) && mapping::queue_at(address - control_, queue, within);
    const bool known = of_queue && (within == hal::kQueueLevel || within == hal::kQueueDone);
    if (address >= hal::kControlBase && !known) asked_ = true;
    return bus_.read(address, data, bytes);
  }
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override {
    mapping::Queue queue;
    std::uint64_t within = 0;
    if (address >> 32 != 0 || bytes % 4 != 0 || bytes > hal::kMaxDescriptorBytes) {
      asked_ = true;
    } else if (!in_control(address) || !mapping::queue_at(address - control_, queue, within)) {
      add(address, data, bytes);
    } else if (within < hal::kQueueDoorbell) {
      windows_[address - within].set(within, data, bytes);
    } else if (within == hal::kQueueDoorbell) {
      add_command(address - within);
    } else {
      asked_ = true;  // which an engine does at once
    }
    return bus_.write(address, data, bytes);
  }
  bool refused() const { return bus_.result().status != hal::Status::kDone; }
  bool asked() const { return asked_; }  // what no list can answer, or do
  std::vector<std::uint32_t> take() { return std::move(list_); }

 private:
  // Of a queue: what firmware wants there, and what a list has put there.
  struct Window {
    std::uint32_t wanted[hal::kWindowWords] = {}, there[hal::kWindowWords] = {};
    void set(std::uint64_t at, const void* data, std::size_t bytes) {
      std::memcpy(reinterpret_cast<unsigned char*>(wanted) + at, data, bytes);
    }
  };

  bool in_control(std::uint64_t address) const { return address - control_ < hal::kClusterStride; }
  void add(std::uint64_t address, const void* data, std::size_t bytes) {
    list_.push_back(static_cast<std::uint32_t>(address) | hal::kListWrite);
    list_.push_back(static_cast<std::uint32_t>(bytes));
    const std::size_t at = list_.size();
    list_.resize(at + bytes / sizeof list_[0]);
    std::memcpy(&list_[at], data, bytes);
  }
  void add_command(std::uint64_t queue) {
    Window& w = windows_[queue];
    std::uint32_t mask[2] = {0, 0};
    for (std::uint32_t i = 0; i < hal::kWindowWords; ++i) {
      if (w.wanted[i] != w.there[i]) mask[i / 32] |= 1U << i % 32;
    }
    const bool longer = mask[1] != 0;
    list_.push_back(static_cast<std::uint32_t>(queue) | (longer ? hal::kListLonger : hal::kListCommand));
    list_.insert(list_.end(), mask, mask + (longer ? 2 : 1));
    for (std::uint32_t i = 0; i < hal::kWindowWords; ++i) {
      if (w.wanted[i] != w.there[i]) list_.push_back(w.there[i] = w.wanted[i]);
    }
  }

  FullQueues queues_;
  mapping::Bus bus_;
  std::uint64_t control_;
  bool asked_ = false;
  std::map<std::uint64_t, Window> windows_;
  std::vector<std::uint32_t> list_;
};

constexpr std::uint64_t kListAlignment = 64;

}  // namespace

std::vector<std::uint32_t> command_list(const mapping::Job& job, const MachineConfig& machine, std::uint32_t cluster) {
  Maker maker(job, machine, cluster);
  mapping::run_firmware(maker, cluster);
  if (maker.refused()) return {};
  if (maker.asked()) {
    throw RunError(
        fmt::format("{} on {}: control.lists is true, but firmware asks the machine how far it is, which a list made "
                    "beforehand cannot tell; allowed is false",
                    job.block.dataflow, machine.name));
  }
  return maker.take();
}

std::vector<PlacedList> make_lists(mapping::Job& job, const MachineConfig& machine) {
  std::vector<PlacedList> lists;
  mapping::Job::Table table{hal::kListsAddress, {}};
  // From the scratch's beginning on; what it takes.
  const auto place_all = [&](std::uint64_t from) {
    lists.clear();
    table.words.clear();
    std::uint64_t at = from;
    for (std::uint32_t c = 0; c < machine.clusters; ++c) {
      lists.push_back({at, command_list(job, machine, c)});
      const std::uint64_t bytes = lists.back().words.size() * sizeof(std::uint32_t);
      const hal::CommandList where{at, static_cast<std::uint32_t>(bytes), 0};
      if (bytes == 0) return std::uint64_t{0};
      const auto* words = reinterpret_cast<const std::uint32_t*>(&where);
      table.words.insert(table.words.end(), words, words + sizeof where / sizeof(std::uint32_t));
      at += (bytes + kListAlignment - 1) / kListAlignment * kListAlignment;
    }
    return at - from;
  };
  // Twice, as where the scratch is stands in commands.
  const hal::Scratch all = job.scratch;
  const std::uint64_t bytes = place_all(all.address);
  if (bytes == 0) return {};
  if (bytes > all.bytes) {
    throw RunError(fmt::format("{} on {}: its command lists take {} bytes of DRAM; {} are left behind the tensors",
                               job.block.dataflow, machine.name, bytes, all.bytes));
  }
  job.scratch = {all.address + bytes, all.bytes - bytes};
  if (place_all(all.address) == 0) {  // no room for what firmware keeps there, which it says in the run
    job.scratch.bytes = 0;
    return {};
  }
  job.block.flags = hal::kListed;
  job.tables = {std::move(table)};
  return lists;
}

}  // namespace attnvp::job
