// DRAM with the `banked` policy: channels with banks and data sheet parameters (config.h), each behind its own
// controller (channel.h). An access is divided into pieces that lie in one row each; it ends with its last piece. Data
// are moved at the arrival of the access.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "models/memory/banked_dram/banked_channel.h"
#include "models/memory/memory.h"
#include "models/memory/storage/contents.h"

namespace attnvp {

class BankedDram : public Memory, private Target {
 public:
  BankedDram(sc_core::sc_module_name name, const ModuleContext& module_context);

  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words read", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.dram", "write"}};
  Counter busy_cycles{*this, "busy_cycles", "cycles",
                      "cycles in which data crosses the buses, of all channels the mean"};

 private:
  struct DramAccess {
    std::uint32_t pieces = 0;  // not completed
    Tick end = 0;
    Response response;
    std::uint64_t bytes = 0;
    std::uint32_t channels = 1;  // number of channels that serve it
    bool read = false;
  };
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) override { return contents_.peek(payload); }
  sc_core::sc_time until(std::uint64_t cycle) const {
    const std::uint64_t now = ctx_.clock.now();
    return ctx_.clock.cycles(cycle - std::min(cycle, now));
  }
  void cut(std::uint64_t offset, std::uint64_t bytes, bool read);
  std::uint32_t new_access();
  void piece_done(std::uint64_t index, Tick end);
  sim::Process run_channels();
  void count();
  void tell(const DramAccess& access);
  void wake_at(Tick next);
  std::uint64_t time_of(Tick tick) const { return epoch_fs_ + static_cast<std::uint64_t>(tick) * tick_fs_; }
  std::uint64_t cycle_of(Tick tick) const {  // rounded up
    return (time_of(tick) + ctx_.clock.period_fs() - 1) / ctx_.clock.period_fs();
  }
  Tick tick_of(std::uint64_t time_fs) const {
    return static_cast<Tick>((time_fs - epoch_fs_ + tick_fs_ - 1) / tick_fs_);
  }

  BankedConfig config_;
  std::uint64_t size_bytes_, tick_fs_;
  Contents contents_;
  AddressMapping mapping_;
  std::vector<std::unique_ptr<BankedChannel>> channels_;
  std::vector<DramRequest> pieces_;  // of the access being divided
  std::vector<DramAccess> accesses_;
  std::vector<std::uint32_t> free_;
  std::uint64_t epoch_fs_ = 0;       // time origin of the clock: start of the job
  std::uint32_t calling_ = kNobody;  // access inside begin(): its end needs no response
  Tick wakes_ = DramChannel::kNever;
  sim::Event due_;  // next event of a channel
  sim::Process process_;
  TargetSocket in_{"in", ctx_.event_queue, *this};
};

}  // namespace attnvp
