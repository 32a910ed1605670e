#include "platform/run/control/commands.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <utility>

#include "firmware/hal/list.h"
#include "firmware/hal/registers.h"
#include "models/memory/storage/host_memory.h"
#include "platform/run/platform.h"
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

struct MadeList {
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
  MadeList take() { return {std::move(list_), scratch_}; }

 private:
  // Window of a queue: values written by firmware, and values already in the list.
  struct QueueWindow {
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
    QueueWindow& w = windows_[queue];
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
  std::map<std::uint64_t, QueueWindow> windows_;
  std::vector<std::uint32_t> list_;
  host_memory::MemoryShare share_;
};

constexpr std::uint64_t kListAlignment = 64;

MadeList make_list(const schedule::Job& job, const MachineConfig& machine, std::uint32_t cluster) {
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
    MadeList made = make_list(job, machine.with_cluster(c), c);
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
    if (make_list(job, machine.with_cluster(c), c).words.empty()) return {};
  }
  schedule::Job::MailboxTable table{hal::kListsAddress, {}};
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

class CommandTap::Ear final : public Interconnect::Listener {
 public:
  Ear(const schedule::Job& job, std::uint32_t cluster, schedule::Reader* reader, const DescriptorHook& change,
      const TokenHook& of_processor)
      : cluster_(cluster),
        change_(change),
        of_processor_(of_processor),
        bus_(job, cluster, reader != nullptr ? *reader : deaf_) {}

  void heard(tlm::tlm_generic_payload& payload) override {
    if (!payload.is_write()) return;
    if (change_) replace(payload);
    if (of_processor_) replace_event(payload);
    bus_.write(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
  }

 private:
  struct Deaf final : schedule::Reader {
    void command(const schedule::Queue&, const hal::Descriptor&) override {}
  };

  // Replaces a descriptor that is written in one transaction.
  void replace(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - hal::cluster_base(cluster_);
    const std::uint64_t bytes = payload.get_data_length();
    schedule::Queue queue;
    std::uint64_t within = 0;
    if (bytes < hal::kDescriptorBytes || bytes > sizeof changed_ || offset >= hal::kClusterStride) return;
    if (!schedule::queue_at(offset, queue, within) || within != hal::kQueueDescriptor) return;
    changed_ = {};
    std::memcpy(&changed_, payload.get_data_ptr(), bytes);
    change_(cluster_, queue, ++numbers_[{static_cast<int>(queue.unit), queue.index}], changed_);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&changed_));
  }

  // Replaces an access to the event unit: another event, another number of tokens.
  void replace_event(tlm::tlm_generic_payload& payload) {
    const std::uint64_t base = hal::events_base(cluster_), offset = payload.get_address() - base;
    const std::uint64_t within = offset % hal::kEventStride;
    if (offset >= hal::kEventsSize || payload.get_data_length() != sizeof tokens_) return;
    if (within != hal::kEventTake && within != hal::kEventSignal) return;
    auto event = static_cast<std::uint32_t>(offset / hal::kEventStride);
    std::memcpy(&tokens_, payload.get_data_ptr(), sizeof tokens_);
    of_processor_(cluster_, ++events_, within == hal::kEventTake, event, tokens_);
    payload.set_address(base + event * hal::kEventStride + within);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&tokens_));
  }

  Deaf deaf_;
  std::uint32_t cluster_;
  DescriptorHook change_;
  TokenHook of_processor_;
  schedule::Bus bus_;
  hal::Descriptor changed_{};
  std::uint32_t tokens_ = 0;
  std::uint64_t events_ = 0;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> numbers_;
};

CommandTap::CommandTap(Platform& platform, const schedule::Job& job,
                       const std::function<schedule::Reader*(std::uint32_t)>& readers, DescriptorHook change,
                       TokenHook of_processor)
    : platform_(platform) {
  for (std::uint32_t c = 0; c < platform.machine().clusters; ++c) {
    ears_.push_back(std::make_unique<Ear>(job, c, readers ? readers(c) : nullptr, change, of_processor));
    platform.bus->tell(Platform::processor_name(c), ears_.back().get());
  }
}

CommandTap::~CommandTap() {
  for (std::uint32_t c = 0; c < ears_.size(); ++c) platform_.bus->tell(Platform::processor_name(c), nullptr);
}

}  // namespace attnvp::job
