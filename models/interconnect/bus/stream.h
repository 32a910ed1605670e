// Streams: transfers of engines between L1 or L0 and operand registers. A stream has up to four regions of rows, the
// bytes that cross the port (re-reads included) and the engine's minimum duration in cycles. Streams carry time and
// counts; in full-data mode engines read and write the bytes by DMI.
//
// Streams have their own protocol traits (StreamProtocol), so that a module of the base protocol cannot be bound to
// them. Rules:
//   - forward: nb_transport_fw(BEGIN_REQ) only. TLM_COMPLETED: complete or refused, after the delay. TLM_UPDATED with
//     END_REQ: BEGIN_RESP follows on the backward path, which returns TLM_COMPLETED.
//   - a target checks every region before it occupies its port.
//   - transaction and stream stay unchanged until the end; an initiator may end them early (Withdrawal).
//   - get_direct_mem_ptr gives the memory's bytes, if it has any.
#pragma once

#include <array>
#include <cstdint>
#include <tlm>

#include "models/interconnect/bus/transport.h"
#include "models/sim/event_queue.h"
#include "models/sim/fault.h"

namespace attnvp {

struct Region {
  std::uint64_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t row_stride = 0;  // bytes
  std::uint64_t traffic_bytes = 0;
  bool write = false;
  std::uint32_t together = 1;  // number of rows that are read in turn, one word each; 1: row after row

  // Address after the last byte, saturated at the top of the address space.
  std::uint64_t end() const {
    const __uint128_t last =
        static_cast<__uint128_t>(address) + static_cast<__uint128_t>(rows == 0 ? 0 : rows - 1) * row_stride + row_bytes;
    return last > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(last);
  }
};

// True if two regions share a byte. Rows of equal stride may interleave without overlap.
inline bool overlap(const Region& a, const Region& b) {
  if (a.end() <= b.address || b.end() <= a.address) return false;
  if (a.row_stride != b.row_stride || a.row_stride == 0) return true;
  // Columns of b relative to the start of a row of a; they wrap around at `stride` into the next row of a.
  const std::uint64_t stride = a.row_stride;
  const std::uint64_t column =
      a.address <= b.address ? (b.address - a.address) % stride : (stride - (a.address - b.address) % stride) % stride;
  return column < a.row_bytes || column + b.row_bytes > stride;
}

struct Stream {
  std::array<Region, 4> region{};
  int regions = 0;
  std::uint64_t pace_cycles = 0;  // minimum duration for the initiator

  Region& add(const Region& r) { return region.at(static_cast<std::size_t>(regions++)) = r; }
  std::uint64_t traffic() const {
    std::uint64_t sum = 0;
    for (int i = 0; i < regions; ++i) sum += region[static_cast<std::size_t>(i)].traffic_bytes;
    return sum;
  }
};

// Early end of a stream by its initiator. The target sets `end`.
struct Withdrawal {
  bool requested = false;
  sim::Event* end = nullptr;
  void request() {
    requested = true;
    if (end != nullptr) end->notify_delta();
  }
};

struct StreamTransaction {
  const Stream* stream = nullptr;
  Withdrawal* withdrawal = nullptr;  // nullptr: the initiator waits for the end
  PendingAccess* access = nullptr;   // initiator's side of the access
  // Set by the target.
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  FaultCode fault = FaultCode::kNone;  // with an error response
  std::uint64_t fault_address = 0;
  std::uint64_t bank_cycles = 0;  // cycles in which the port waited for a bank

  bool is_response_ok() const { return status > tlm::TLM_INCOMPLETE_RESPONSE; }
  StreamTransaction& carry(const Stream& what) {
    stream = &what;
    status = tlm::TLM_INCOMPLETE_RESPONSE;
    fault = FaultCode::kNone;
    bank_cycles = 0;
    return *this;
  }
};

struct StreamProtocol {
  using tlm_payload_type = StreamTransaction;
  using tlm_phase_type = tlm::tlm_phase;
};

constexpr unsigned kStreamBits = 32;  // template argument of the TLM socket only; streams give their traffic in bytes

class StreamInitiatorSocket : public tlm::tlm_initiator_socket<kStreamBits, StreamProtocol> {
  using Base = tlm::tlm_initiator_socket<kStreamBits, StreamProtocol>;

 public:
  explicit StreamInitiatorSocket(const char* name) : Base(name) { Base::bind(backward_); }
  void bind(tlm::tlm_target_socket<kStreamBits, StreamProtocol>& target) { Base::bind(target); }

  // Sends BEGIN_REQ. True: the stream ends after `delay`. False: access.responded() will be called.
  bool begin(StreamTransaction& transaction, PendingAccess& access, sc_core::sc_time& delay) {
    transaction.access = &access;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    return (*this)->nb_transport_fw(transaction, phase, delay) == tlm::TLM_COMPLETED;
  }

 private:
  using Base::bind;
  struct StreamBackward : tlm::tlm_bw_transport_if<StreamProtocol> {
    tlm::tlm_sync_enum nb_transport_bw(StreamTransaction& transaction, tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& delay) override {
      transaction.access->responded(transaction.is_response_ok(), delay);
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}
  } backward_;
};

// Interface of a memory with StreamTargetSockets.
class StreamTarget {
 public:
  // See Target::begin().
  virtual bool begin(std::uint32_t port, StreamTransaction& transaction, sc_core::sc_time& delay,
                     const Response& response) = 0;
  virtual bool direct(std::uint32_t /*port*/, tlm::tlm_dmi& /*dmi*/) { return false; }

 protected:
  ~StreamTarget() = default;
};

class StreamTargetSocket : public tlm::tlm_target_socket<kStreamBits, StreamProtocol>,
                           private tlm::tlm_fw_transport_if<StreamProtocol> {
 public:
  StreamTargetSocket(const char* name, StreamTarget& owner, std::uint32_t port)
      : tlm_target_socket<kStreamBits, StreamProtocol>(name), owner_(owner), port_(port) {
    bind(static_cast<tlm::tlm_fw_transport_if<StreamProtocol>&>(*this));
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(StreamTransaction& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const auto respond = [](void* to, void* access, const sc_core::sc_time& after) {
      tlm::tlm_phase response = tlm::BEGIN_RESP;
      sc_core::sc_time annotated = after;
      auto& socket = *static_cast<tlm::tlm_target_socket<kStreamBits, StreamProtocol>*>(to);
      socket->nb_transport_bw(*static_cast<StreamTransaction*>(access), response, annotated);
    };
    auto* const socket = static_cast<tlm::tlm_target_socket<kStreamBits, StreamProtocol>*>(this);
    if (owner_.begin(port_, transaction, delay, {respond, socket, &transaction})) return tlm::TLM_COMPLETED;
    return accept(phase, delay);
  }
  // Not part of the stream protocol; refused.
  void b_transport(StreamTransaction& transaction, sc_core::sc_time& /*delay*/) override {
    transaction.status = tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  unsigned transport_dbg(StreamTransaction& /*transaction*/) override { return 0; }
  bool get_direct_mem_ptr(StreamTransaction& /*transaction*/, tlm::tlm_dmi& dmi) override {
    return owner_.direct(port_, dmi);
  }

  StreamTarget& owner_;
  std::uint32_t port_;
};

// Checks that a region is within a scratchpad of `bytes` bytes at `base`.
inline FaultCode check_region(const Region& r, std::uint64_t base, std::uint64_t bytes) {
  if (r.rows == 0 || r.row_bytes == 0) return FaultCode::kZeroSize;
  if (r.rows > 1 && r.row_stride < r.row_bytes) return FaultCode::kBadOperand;
  if (r.address < base || r.address >= base + bytes) return FaultCode::kUnmapped;
  if (r.end() > base + bytes) return FaultCode::kOutOfRange;
  return FaultCode::kNone;
}

}  // namespace attnvp
