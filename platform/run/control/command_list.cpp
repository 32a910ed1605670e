#include "platform/run/control/command_list.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <utility>

#include "firmware/hal/list.h"
#include "firmware/hal/registers.h"
#include "models/memory/storage/host_memory.h"
#include "platform/run/schedule.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

namespace {

// Reports every queue as full, so that firmware issues loads only when they are needed. A list that waits at a full
// queue would delay the other queues.
class FullQueues final : public schedule::Reader {
 public:
  explicit FullQueues(std::uint32_t depth) : depth_(depth) {}
  void command(const schedule::Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
  std::uint32_t level(const schedule::Queue& /*queue*/) override { return depth_; }

 private:
  std::uint32_t depth_;
};

struct Made {
  std::vector<std::uint32_t> words;  // empty: firmware refuses the job
  bool scratch = false;              // the job uses DRAM behind the tensors
};

// Bus model for the firmware; records writes in the list.
class Maker final : public hal::Cpu {
 public:
  Maker(const schedule::Job& job, const MachineConfig& machine, std::uint32_t cluster)
      : queues_(machine.dma.queue_depth),
        bus_(job, cluster, queues_),
        control_(hal::cluster_base(cluster)),
        share_(fmt::format("the command list of cluster {}", cluster)) {}

  bool read(std::uint64_t address, void* data, std::size_t bytes) override {
    schedule::Queue queue;
    std::uint64_t within = 0;
    const bool of_queue = in_control(address) && schedule::queue_at(address - control_, queue, within);
    const bool known = of_queue && (within == hal::kQueueLevel || within == hal::kQueueDone);
    if (address >= hal::kControlBase && !known) asked_ = true;
    if (address == hal::kScratchAddress) scratch_ = true;
    return bus_.read(address, data, bytes);
  }
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override {
    schedule::Queue queue;
    std::uint64_t within = 0;
    if (address >> 32 != 0 || bytes % 4 != 0 || bytes > hal::kMaxDescriptorBytes) {
      asked_ = true;
    } else if (!in_control(address) || !schedule::queue_at(address - control_, queue, within)) {
      add(address, data, bytes);
    } else if (within < hal::kQueueDoorbell) {
      windows_[address - within].set(within, data, bytes);
    } else if (within == hal::kQueueDoorbell) {
      add_command(address - within);
    } else {
      asked_ = true;  // completes at once
    }
    share_.require(list_.capacity() * sizeof list_[0]);
    return bus_.write(address, data, bytes);
  }
  bool refused() const { return bus_.result().status != hal::Status::kDone; }
  bool asked() const { return asked_; }  // needs an answer or action that a list cannot provide
  Made take() { return {std::move(list_), scratch_}; }

 private:
  // Window of a queue: values written by firmware, and values already in the list.
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
  schedule::Bus bus_;
  std::uint64_t control_;
  bool asked_ = false, scratch_ = false;
  std::map<std::uint64_t, Window> windows_;
  std::vector<std::uint32_t> list_;
  host_memory::Share share_;
};

constexpr std::uint64_t kListAlignment = 64;

Made make_list(const schedule::Job& job, const MachineConfig& machine, std::uint32_t cluster) {
  Maker maker(job, machine, cluster);
  schedule::run_firmware(job, maker, cluster);
  if (maker.refused()) return {};
  if (maker.asked()) {
    throw RunError(
        fmt::format("{} on {}: control.lists is true, but firmware asks the machine how far it is, which a list made "
                    "beforehand cannot tell; allowed is false",
                    job.block.dataflow, machine.name));
  }
  return maker.take();
}

}  // namespace

std::vector<PlacedList> make_lists(schedule::Job& job, const MachineConfig& machine) {
  std::vector<PlacedList> lists;
  std::uint64_t bytes = 0;
  bool scratch = false;
  for (std::uint32_t c = 0; c < machine.clusters; ++c) {
    Made made = make_list(job, machine, c);
    if (made.words.empty()) return {};
    lists.push_back({bytes, std::move(made.words)});
    bytes += (lists.back().bytes() + kListAlignment - 1) / kListAlignment * kListAlignment;
    scratch = scratch || made.scratch;
  }
  if (bytes > job.scratch.bytes) {
    throw RunError(fmt::format("{} on {}: its command lists take {} bytes of DRAM; {} are left behind the tensors",
                               job.block.dataflow, machine.name, bytes, job.scratch.bytes));
  }
  job.scratch.bytes = (job.scratch.bytes - bytes) / kListAlignment * kListAlignment;
  // Lists reduce the scratch space; firmware that uses it may refuse the job.
  for (std::uint32_t c = 0; scratch && c < machine.clusters; ++c) {
    if (make_list(job, machine, c).words.empty()) return {};
  }
  schedule::Job::Table table{hal::kListsAddress, {}};
  for (PlacedList& list : lists) {
    list.address += job.scratch.address + job.scratch.bytes;
    const hal::CommandList where{list.address, static_cast<std::uint32_t>(list.bytes()), 0};
    const auto* words = reinterpret_cast<const std::uint32_t*>(&where);
    table.words.insert(table.words.end(), words, words + sizeof where / sizeof(std::uint32_t));
  }
  job.block.flags = hal::kListed;
  job.tables = {std::move(table)};
  return lists;
}

}  // namespace attnvp::job
