// DRAM with the `plugin` policy: time as a library's TLM-2.0 target has it (plugin.h), bytes kept here.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "models/bus/completion.h"
#include "models/bus/stream.h"
#include "models/endless.h"
#include "models/memory.h"
#include "models/plugin_dram/library.h"
#include "models/registry.h"
#include "models/storage/contents.h"

namespace attnvp {

namespace {

class PluginDram : public Memory, public Endless, private tlm::tlm_mm_interface {
 public:
  PluginDram(sc_core::sc_module_name name, const Site& site)
      : Memory(name, site.context),
        size_bytes_(site.machine.dram.size_bytes),
        contents_(site.base, size_bytes_),
        plugin_(make_plugin(site.machine.own<PluginConfig>().library, {"plugin", site.machine.clock_hz, size_bytes_})),
        scratch_(plugin_->most_bytes()) {
    in_.register_b_transport(this, &PluginDram::b_transport);
    in_.register_transport_dbg(this, &PluginDram::transport_dbg);
    out_.register_nb_transport_bw(this, &PluginDram::nb_transport_bw);
    out_.bind(plugin_->socket());
    SC_HAS_PROCESS(PluginDram);
    SC_THREAD(send);
  }
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool never_waits() const override { return true; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  bool idle() const override { return under_way_ == 0; }

  Counter read_words{*this, "read_words", "16-bit words", "words read", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.dram", "write"}};
  Counter pieces{*this, "pieces", "pieces", "accesses made to the plug-in"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one access under way"};

 private:
  struct Access {
    std::uint64_t pieces = 0;  // not done yet
    std::uint64_t end_cycle = 0;
    Completions* to = nullptr;
    std::uint64_t ticket = 0;
  };
  struct Piece {
    Access* access;
    bool read;
    std::uint64_t offset;
    std::uint32_t bytes;
  };
  struct PieceExtension : tlm::tlm_extension<PieceExtension> {
    tlm_extension_base* clone() const override { return new PieceExtension(*this); }
    void copy_from(const tlm_extension_base& other) override { *this = static_cast<const PieceExtension&>(other); }
    Access* access = nullptr;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (!contents_.accepts(payload)) return;
    const std::uint64_t bytes = payload.get_data_length(), most = scratch_.size();
    (payload.is_read() ? read_words : write_words).add_bytes(bytes);
    contents_.serve(payload);

    const std::uint64_t first = contents_.offset(payload) / most * most;
    const std::uint64_t end = contents_.offset(payload) + bytes;
    auto* const access = new Access{(end - first + most - 1) / most, 0, nullptr, 0};
    if (under_way_++ == 0) busy_since_ = ctx_.clock.now();
    for (std::uint64_t offset = first; offset < end; offset += most) {
      queue_.push_back({access, payload.is_read(), offset, static_cast<std::uint32_t>(most)});
    }
    ctx_.agenda.notify(queued_, delay.value());
    if (auto* const later = payload.get_extension<CompletionExtension>()) {
      later->deferred = true;
      delay = sc_core::SC_ZERO_TIME;
      access->to = later->to;
      access->ticket = later->ticket;
      return;
    }
    Waiting waiting(ctx_.agenda);
    access->to = &waiting;
    const std::uint64_t end_cycle = waiting.wait();
    delay = ctx_.clock.cycles(end_cycle - std::min(end_cycle, ctx_.clock.now()));
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) { return contents_.peek(payload); }

  // One thread: the pieces, one request at a time. By b_transport, what the target annotates is not waited for.
  void send() {
    while (true) {
      while (queue_.empty()) sc_core::wait(queued_);
      const Piece piece = queue_.front();
      queue_.pop_front();
      pieces += 1;
      tlm::tlm_generic_payload& payload = allocate();
      fill_payload(payload, piece.read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, piece.offset, scratch_.data(),
                   piece.bytes);
      payload.get_extension<PieceExtension>()->access = piece.access;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      payload.acquire();
      if (!plugin_->phases()) {
        out_->b_transport(payload, delay);
        finished(payload, delay);
        continue;
      }
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      asking_ = true;
      const tlm::tlm_sync_enum answer = out_->nb_transport_fw(payload, phase, delay);
      if (answer != tlm::TLM_ACCEPTED) answered(payload, answer == tlm::TLM_COMPLETED ? tlm::BEGIN_RESP : phase, delay);
      while (asking_) sc_core::wait(asked_);
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    answered(payload, phase, delay);
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }
  // END_REQ, or a response, which ends the request as well.
  void answered(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_RESP) finished(payload, delay);
    if (!asking_ || (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP)) return;
    asking_ = false;
    asked_.notify(delay);
  }

  void finished(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    Access* const access = payload.get_extension<PieceExtension>()->access;
    payload.release();
    access->end_cycle = std::max(access->end_cycle, ctx_.clock.now() + ctx_.clock.ceil_cycles(delay));
    if (--access->pieces > 0) return;
    if (--under_way_ == 0) busy_cycles += std::max(access->end_cycle, busy_since_) - busy_since_;
    access->to->completed(access->ticket, access->end_cycle, true);
    delete access;
  }

  tlm::tlm_generic_payload& allocate() {
    if (free_.empty()) {
      payloads_.push_back(std::make_unique<tlm::tlm_generic_payload>(static_cast<tlm::tlm_mm_interface*>(this)));
      payloads_.back()->set_extension(new PieceExtension);  // the payload owns it
      return *payloads_.back();
    }
    tlm::tlm_generic_payload* const payload = free_.back();
    free_.pop_back();
    return *payload;
  }
  void free(tlm::tlm_generic_payload* payload) override { free_.push_back(payload); }

  std::uint64_t size_bytes_;
  Contents contents_;
  std::unique_ptr<DramPlugin> plugin_;
  std::vector<unsigned char> scratch_;  // what plug-ins read and write
  std::deque<Piece> queue_;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads_;
  std::vector<tlm::tlm_generic_payload*> free_;
  std::uint64_t under_way_ = 0, busy_since_ = 0;
  bool asking_ = false;  // a request has begun and not ended
  sc_core::sc_event queued_, asked_;
  tlm_utils::simple_target_socket<PluginDram> in_{"in"};
  tlm_utils::simple_initiator_socket<PluginDram> out_{"out"};
};

const bool kRegistered =
    add_kind(Kind<Memory>("dram", "plugin", "takes as long as a library's TLM-2.0 target", {"attnvp.dram"},
                          [](const Site& site) { return std::make_unique<PluginDram>(site.name, site); })
                 .with_keys<PluginConfig>()
                 .with_problem([](const MachineConfig& m) { return plugin_problem(m.own<PluginConfig>().library); }));

}  // namespace

}  // namespace attnvp
