// DRAM with one open row: whoever wants another row has it activated first, which takes time and energy of its own.
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/interconnect/bus/payload.h"
#include "models/keys/binding.h"
#include "models/memory/memory.h"
#include "models/memory/storage/paged_memory.h"
#include "models/registry.h"

namespace attnvp {

namespace {

// Keys that only this kind has; size, bandwidth and latency are every DRAM's (models/memory/config.h).
struct PagedConfig {
  std::uint64_t row_bytes = 2048;
  double activate_seconds = 30e-9;

  static void describe(config::Keys<PagedConfig>& key) {
    using namespace config;
    key(power_of_two("row", KeyUnit::kBytes, 64, kMiB, "with policy paged: a row"), &PagedConfig::row_bytes);
    key(number("activate", KeyUnit::kTime, 0, 1e-3, "with policy paged: to open a row"),
        &PagedConfig::activate_seconds);
  }
};

class PagedDram : public Memory {
 public:
  PagedDram(sc_core::sc_module_name name, const ModuleContext& module_context)
      : Memory(name, module_context.context),
        common_(module_context.machine.dram),
        own_(module_context.machine.own<PagedConfig>()),
        base_(module_context.base),
        memory_(common_.size_bytes) {
    in_.register_b_transport(this, &PagedDram::b_transport);
    in_.register_transport_dbg(this, &PagedDram::transport_dbg);
  }
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  std::uint64_t size_bytes() const override { return common_.size_bytes; }
  void reset() override {
    free_at_ = 0;
    open_row_ = kNone;
  }

  Counter read_words{*this, "read_words", "16-bit words", "words read", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.dram", "write"}};
  Counter activations{*this, "activations", "rows", "rows opened", {"attnvp.row_buffer", "activate"}};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles in which data crosses the bus"};

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  std::uint64_t cycles(double seconds) const {
    return static_cast<std::uint64_t>(std::ceil(seconds * ctx_.clock.hertz() - 1e-6));
  }
  bool inside(const tlm::tlm_generic_payload& payload) const {
    const std::uint64_t offset = payload.get_address() - base_;  // an address below wraps around to a large number
    return payload.get_data_length() <= common_.size_bytes && offset <= common_.size_bytes - payload.get_data_length();
  }
  void copy(tlm::tlm_generic_payload& payload) {
    unsigned char* const here = memory_.data() + (payload.get_address() - base_);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), here, payload.get_data_length());
    if (payload.is_write()) std::memcpy(here, payload.get_data_ptr(), payload.get_data_length());
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t bytes = payload.get_data_length();
    if (bytes == 0 || !inside(payload) || payload.get_byte_enable_ptr() != nullptr) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    const std::uint64_t now = ctx_.clock.now();
    const std::uint64_t first = (payload.get_address() - base_) / own_.row_bytes;
    const std::uint64_t last = (payload.get_address() - base_ + bytes - 1) / own_.row_bytes;
    const std::uint64_t opened = last - first + (first == open_row_ ? 0 : 1);
    open_row_ = last;
    shown_row_.set(last);
    activations += opened;
    const std::uint64_t transfer = cycles(static_cast<double>(bytes) / common_.bytes_per_second);
    busy_cycles += transfer;
    free_at_ =
        std::max(free_at_, now + ctx_.clock.ceil_cycles(delay)) + opened * cycles(own_.activate_seconds) + transfer;
    delay = ctx_.clock.cycles(free_at_ + (payload.is_read() ? cycles(common_.latency_seconds) : 0) - now);
    (payload.is_read() ? read_words : write_words) += bytes / 2;
    if (payload.get_extension<TimingOnlyExtension>() == nullptr) copy(payload);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    if (!inside(payload)) return 0;
    copy(payload);
    return payload.get_data_length();
  }

  tlm_utils::simple_target_socket<PagedDram> in_{"in"};
  DramConfig common_;
  PagedConfig own_;
  std::uint64_t base_;
  PagedMemory memory_;
  std::uint64_t free_at_ = 0;  // cycle at which the bus is
  std::uint64_t open_row_ = kNone;
  Signal shown_row_{*this, "open_row", 32};
};

const bool kPagedRegistered =
    add_kind(Kind<Memory>("dram", "paged", "has one open row", {"attnvp.dram", "attnvp.row_buffer"},
                          [](const ModuleContext& module_context) {
                            return std::make_unique<PagedDram>(module_context.name, module_context);
                          })
                 .with_keys<PagedConfig>());

}  // namespace

}  // namespace attnvp
