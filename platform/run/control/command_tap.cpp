#include "platform/run/control/command_tap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "firmware/hal/registers.h"
#include "platform/run/platform.h"

namespace attnvp::job {

class CommandTap::Ear final : public Interconnect::Listener {
 public:
  Ear(const schedule::Job& job, std::uint32_t cluster, schedule::Reader* reader, const Change& change,
      const EventChange& of_processor)
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
  Change change_;
  EventChange of_processor_;
  schedule::Bus bus_;
  hal::Descriptor changed_{};
  std::uint32_t tokens_ = 0;
  std::uint64_t events_ = 0;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> numbers_;
};

CommandTap::CommandTap(Platform& platform, const schedule::Job& job,
                       const std::function<schedule::Reader*(std::uint32_t)>& readers, Change change,
                       EventChange of_processor)
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
