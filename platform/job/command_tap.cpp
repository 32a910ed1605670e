#include "platform/job/command_tap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "firmware/hal/registers.h"
#include "platform/elaboration/platform.h"

namespace attnvp::job {

class CommandTap::Ear final : public Interconnect::Listener {
 public:
  Ear(const mapping::Job& job, std::uint32_t cluster, mapping::Reader* reader, const Change& change)
      : cluster_(cluster), change_(change), bus_(job, cluster, reader != nullptr ? *reader : deaf_) {}

  void heard(tlm::tlm_generic_payload& payload) override {
    if (!payload.is_write()) return;
    if (change_) replace(payload);
    bus_.write(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
  }

 private:
  struct Deaf final : mapping::Reader {
    void command(const mapping::Queue&, const hal::Descriptor&) override {}
  };

  // A descriptor that comes as a whole.
  void replace(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - hal::cluster_base(cluster_);
    const std::uint64_t bytes = payload.get_data_length();
    mapping::Queue queue;
    std::uint64_t within = 0;
    if (bytes < hal::kDescriptorBytes || bytes > sizeof changed_ || offset >= hal::kClusterStride) return;
    if (!mapping::queue_at(offset, queue, within) || within != hal::kQueueDescriptor) return;
    changed_ = {};
    std::memcpy(&changed_, payload.get_data_ptr(), bytes);
    change_(cluster_, queue, ++numbers_[{static_cast<int>(queue.unit), queue.index}], changed_);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&changed_));
  }

  Deaf deaf_;
  std::uint32_t cluster_;
  Change change_;
  mapping::Bus bus_;
  hal::Descriptor changed_{};
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> numbers_;
};

CommandTap::CommandTap(Platform& platform, const mapping::Job& job,
                       const std::function<mapping::Reader*(std::uint32_t)>& readers, Change change)
    : platform_(platform) {
  for (std::uint32_t c = 0; c < platform.machine().clusters; ++c) {
    ears_.push_back(std::make_unique<Ear>(job, c, readers ? readers(c) : nullptr, change));
    platform.bus->tell(Platform::processor_name(c), ears_.back().get());
  }
}

CommandTap::~CommandTap() {
  for (std::uint32_t c = 0; c < ears_.size(); ++c) platform_.bus->tell(Platform::processor_name(c), nullptr);
}

}  // namespace attnvp::job
