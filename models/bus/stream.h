// Streams: what engines move between L1 or L0 and their operand registers. A stream is up to four regions of rows, the
// bytes that really cross the port (re-reads included), and the pace at which the engine can take them at best. Streams
// move time and counts; full-data runs read and write the bytes by DMI.
//
// They have a protocol of their own (StreamProtocol), so that no module of the base protocol can be bound by mistake.
// Rules:
//   - forward: nb_transport_fw(BEGIN_REQ) only. TLM_COMPLETED: over, or refused, after the delay; TLM_UPDATED with
//     END_REQ: BEGIN_RESP follows on the backward path, which returns TLM_COMPLETED.
//   - a target checks every region before it occupies its port.
//   - the transaction and its stream stay as they are until the end; an initiator may end it before (Withdrawal).
//   - get_direct_mem_ptr gives the memory's bytes, if it has any.
#pragma once

#include <array>
#include <cstdint>
#include <tlm>

#include "models/bus/transport.h"
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

struct StreamTransaction {
  const Stream* stream = nullptr;
  Withdrawal* withdrawal = nullptr;  // nullptr: the initiator waits to the end
  PendingAccess* access = nullptr;   // its initiator's side
  // Set by the target.
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  FaultCode fault = FaultCode::kNone;  // with an error response
  std::uint64_t fault_address = 0;
  std::uint64_t bank_cycles = 0;  // in which its port waited for a bank

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

constexpr unsigned kStreamBits = 32;  // TLM's width of the socket's type; streams say themselves how much crosses

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
  struct Backward : tlm::tlm_bw_transport_if<StreamProtocol> {
    tlm::tlm_sync_enum nb_transport_bw(StreamTransaction& transaction, tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& delay) override {
      transaction.access->responded(transaction.is_response_ok(), delay);
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}
  } backward_;
};

// The interface of a memory with StreamTargetSockets.
class StreamTarget {
 public:
  // As Target::begin().
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
  // Not part of the protocol: refused.
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

}  // namespace attnvp
