// DRAM with the `banked` policy: channels with banks, as a part's data sheet has them (config.h), each behind a
// controller of its own (channel.h). An access is cut into pieces that lie in one row; it is over when all of them are.
// Data are moved when the access comes.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "models/banked_dram/banked_channel.h"
#include "models/memory.h"
#include "models/storage/contents.h"

namespace attnvp {

class BankedDram : public Memory, private Target {
 public:
  BankedDram(sc_core::sc_module_name name, const Site& site);

  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  void reset() override;

  Counter read_words{*this, "read_words", "16-bit words", "words read", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.dram", "write"}};
  Counter busy_cycles{*this, "busy_cycles", "cycles",
                      "cycles in which data crosses the buses, of all channels the mean"};

 private:
  struct Access {
    std::uint32_t pieces = 0;  // not done yet
    Tick end = 0;
    Response response;
    std::uint64_t bytes = 0;
    std::uint32_t channels = 1;  // that move them
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
  void serve();  // what is to happen by now
  void count();
  void tell(const Access& access);
  void wake_at(Tick next);
  std::uint64_t time_of(Tick tick) const { return epoch_fs_ + static_cast<std::uint64_t>(tick) * tick_fs_; }
  std::uint64_t cycle_of(Tick tick) const {  // the first that is not before
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
  std::vector<DramRequest> pieces_;  // of the access that is being cut
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> free_;
  std::uint64_t epoch_fs_ = 0;       // the clock starts with the job
  std::uint32_t calling_ = kNobody;  // the access that is within begin(): its end needs no response
  Tick wakes_ = DramChannel::kNever;
  sim::Event serve_;
  TargetSocket in_{"in", ctx_.event_queue, *this};
};

}  // namespace attnvp
