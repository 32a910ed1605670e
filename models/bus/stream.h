// How bulk accesses travel over TLM. A plain generic payload moves `data_length` contiguous bytes. An engine that
// streams operands attaches a Stream: up to four regions of rows, how many bytes really cross the port (re-reads
// included) and how fast the engine can take them at best. The target checks every region, occupies its port for as
// long as the bytes need, and returns. A Stream moves no data itself: engines use DMI for that.
#pragma once

#include <array>
#include <cstdint>
#include <tlm>

#include "models/bus/completion.h"
#include "models/fault.h"
#include "models/sim/event_queue.h"

namespace attnvp {

struct Region {
  std::uint64_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t row_stride = 0;  // bytes
  std::uint64_t traffic_bytes = 0;
  bool write = false;
  std::uint32_t together = 1;  // rows of which a word each is taken in turn, as an array needs them; 1: row after row

  // One past the last byte, saturating: a region that would wrap around ends at the top of the address space.
  std::uint64_t end() const {
    const __uint128_t last =
        static_cast<__uint128_t>(address) + static_cast<__uint128_t>(rows == 0 ? 0 : rows - 1) * row_stride + row_bytes;
    return last > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(last);
  }
};

// Whether two regions share a byte. Rows of equal stride may interleave without touching.
inline bool overlap(const Region& a, const Region& b) {
  if (a.end() <= b.address || b.end() <= a.address) return false;
  if (a.row_stride != b.row_stride || a.row_stride == 0) return true;
  // b's columns, counted from where a row of a begins, wrap around into the next row of a at `stride`.
  const std::uint64_t stride = a.row_stride;
  const std::uint64_t column =
      a.address <= b.address ? (b.address - a.address) % stride : (stride - (a.address - b.address) % stride) % stride;
  return column < a.row_bytes || column + b.row_bytes > stride;
}

struct Stream {
  std::array<Region, 4> region{};
  int regions = 0;
  std::uint64_t pace_cycles = 0;  // the initiator cannot take the bytes faster than this

  Region& add(const Region& r) { return region.at(static_cast<std::size_t>(regions++)) = r; }
  std::uint64_t traffic() const {
    std::uint64_t sum = 0;
    for (int i = 0; i < regions; ++i) sum += region[static_cast<std::size_t>(i)].traffic_bytes;
    return sum;
  }
};

// How an initiator takes a stream back before its end. The target puts here what ends it.
struct Withdrawal {
  bool requested = false;
  sim::Event* end = nullptr;
  void request() {
    requested = true;
    if (end != nullptr) end->notify_delta();
  }
};

struct StreamExtension : tlm::tlm_extension<StreamExtension> {
  const Stream* stream = nullptr;
  Withdrawal* withdrawal = nullptr;    // nullptr: the initiator waits to the end
  FaultCode fault = FaultCode::kNone;  // set by the target with an error response
  std::uint64_t fault_address = 0;
  std::uint64_t bank_cycles = 0;  // set by the target: in which its port waited for a bank
  tlm::tlm_extension_base* clone() const override { return new StreamExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const StreamExtension&>(other); }
};

// Marks a transaction whose bytes nobody will look at (timing mode): a target may skip the copy. Ignorable.
struct TimingOnlyExtension : tlm::tlm_extension<TimingOnlyExtension> {
  tlm::tlm_extension_base* clone() const override { return new TimingOnlyExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& /*other*/) override {}
};

// Which descriptor an access is made for (models/trace/journal.h). Ignorable; attached only while a journal is kept.
struct OriginExtension : tlm::tlm_extension<OriginExtension> {
  std::uint64_t descriptor = 0;
  tlm::tlm_extension_base* clone() const override { return new OriginExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const OriginExtension&>(other); }
  void free() override {}  // whoever attaches it owns it
};

// A payload that owns its stream extension; each stage of an engine keeps one, so that the hot path allocates nothing.
class StreamPayload {
 public:
  StreamPayload() {
    payload_.set_extension(&extension_);
    payload_.set_command(tlm::TLM_IGNORE_COMMAND);
    payload_.set_data_ptr(&byte_);
    payload_.set_data_length(1);
    payload_.set_streaming_width(1);
  }
  ~StreamPayload() { payload_.clear_extension(&extension_); }
  StreamPayload(const StreamPayload&) = delete;
  StreamPayload& operator=(const StreamPayload&) = delete;

  // The stream has to be there until the access is over.
  tlm::tlm_generic_payload& carry(const Stream& stream) {
    extension_.stream = &stream;
    payload_.set_address(stream.regions > 0 ? stream.region[0].address : 0);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload_.set_dmi_allowed(false);
    extension_.fault = FaultCode::kNone;
    extension_.bank_cycles = 0;
    return payload_;
  }
  void complete_by(CompletionExtension& completion) { payload_.set_extension(&completion); }
  void withdraw_by(Withdrawal* withdrawal) { extension_.withdrawal = withdrawal; }
  const StreamExtension& answer() const { return extension_; }
  bool refused() const { return payload_.is_response_error(); }

 private:
  tlm::tlm_generic_payload payload_;
  StreamExtension extension_;
  unsigned char byte_ = 0;
};

// The common part of a plain payload, for the many places that make one.
inline void fill_payload(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address, void* data,
                         std::size_t bytes) {
  p.set_command(command);
  p.set_address(address);
  p.set_data_ptr(static_cast<unsigned char*>(data));
  p.set_data_length(static_cast<unsigned>(bytes));
  p.set_streaming_width(static_cast<unsigned>(bytes));
  p.set_byte_enable_ptr(nullptr);
  p.set_byte_enable_length(0);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace attnvp
