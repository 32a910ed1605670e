// DRAM with the `plugin` policy: time as a library's TLM-2.0 target has it (plugin.h), bytes kept here.
//
// Accesses are cut into pieces, and one SC_THREAD sends these: the request of a piece begins when that of the piece
// before has ended. By b_transport a piece ends before the next one begins. A delay that the target annotates counts as
// if it had passed: the phase takes effect at its end. What the protocol does not allow is a fault, and ends the run.
#include <fmt/format.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "models/bus/payload.h"
#include "models/bus/transport.h"
#include "models/endless.h"
#include "models/memory.h"
#include "models/plugin_dram/library.h"
#include "models/registry.h"
#include "models/storage/contents.h"

namespace attnvp {

namespace {

// An approximately timed transaction, as its initiator sees it.
enum class State : std::uint8_t { kRequested, kAccepted, kAnswered };
const char* const kStateNames[] = {"BEGIN_REQ", "END_REQ", "its answer"};  // the last thing that happened

// IEEE 1666, 15.2.4: what a target may send, and when. BEGIN_RESP implies END_REQ.
struct Transition {
  State from;
  tlm::tlm_phase_enum phase;
  State to;
};
constexpr Transition kLegal[] = {{State::kRequested, tlm::END_REQ, State::kAccepted},
                                 {State::kRequested, tlm::BEGIN_RESP, State::kAnswered},
                                 {State::kAccepted, tlm::BEGIN_RESP, State::kAnswered}};

class PluginDram : public Memory, public Endless, private Target, private tlm::tlm_mm_interface {
 public:
  PluginDram(sc_core::sc_module_name name, const Site& site)
      : Memory(name, site.context),
        base_(site.base),
        size_bytes_(site.machine.dram.size_bytes),
        contents_(site.base, size_bytes_),
        plugin_(make_plugin(site.machine.own<PluginConfig>().library, {"plugin", site.machine.clock_hz, size_bytes_})),
        scratch_(plugin_.piece_bytes) {
    out_.register_nb_transport_bw(this, &PluginDram::nb_transport_bw);
    out_.bind(*plugin_.socket);
    SC_HAS_PROCESS(PluginDram);
    SC_THREAD(send);
  }
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  bool ends_later() const override { return last_end_ > ctx_.clock.now(); }
  std::string waiting_for() const override {
    const auto open =
        std::find_if(pool_.begin(), pool_.end(), [](const auto& t) { return t->state != State::kAnswered; });
    if (open == pool_.end()) return {};
    const Piece& piece = (*open)->piece;
    return fmt::format("its plug-in has not answered {} at {:#x} since cycle {}", text_of(piece), base_ + piece.offset,
                       piece.sent_cycle);
  }

  Counter read_words{*this, "read_words", "16-bit words", "words read", {"attnvp.dram", "read"}};
  Counter write_words{*this, "write_words", "16-bit words", "words written", {"attnvp.dram", "write"}};
  Counter pieces{*this, "pieces", "pieces", "accesses made to the plug-in"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles with at least one access under way"};

 private:
  struct Access {
    std::uint64_t pieces = 0;  // not done yet
    std::uint64_t end_cycle = 0;
    tlm::tlm_generic_payload* payload;
    Response response;
  };
  struct Piece {
    Access* access;
    bool read;
    std::uint64_t offset;
    std::uint32_t bytes;
    std::uint64_t sent_cycle = 0;
  };
  // With a reference of its own, so that a target that releases too often frees nothing.
  struct Transaction : tlm::tlm_extension<Transaction> {
    explicit Transaction(tlm::tlm_mm_interface* owner) : payload(owner) {
      payload.set_extension(this);
      payload.acquire();
    }
    ~Transaction() override { payload.clear_extension(this); }
    tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm_extension_base& /*other*/) override {}
    void free() override {}  // the pool owns it
    tlm::tlm_generic_payload payload;
    Piece piece{};
    State state = State::kAnswered;
    bool owes_end_resp = false;  // it was answered on the forward path's return
  };

  bool begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override {
    if (!contents_.accepts(payload)) return true;
    const std::uint64_t bytes = payload.get_data_length(), most = scratch_.size();
    (payload.is_read() ? read_words : write_words).add_bytes(bytes);
    contents_.serve(payload);

    const std::uint64_t first = contents_.offset(payload) / most * most;
    const std::uint64_t end = contents_.offset(payload) + bytes;
    auto* const access = new Access{0, 0, &payload, response};
    access->pieces = (end - first + most - 1) / most;
    if (under_way_++ == 0) busy_since_ = ctx_.clock.now();
    for (std::uint64_t offset = first; offset < end; offset += most) {
      queue_.push_back({access, payload.is_read(), offset, static_cast<std::uint32_t>(most)});
    }
    ctx_.event_queue.notify(queued_, delay.value());
    return false;
  }
  unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) override { return contents_.peek(payload); }

  void send() {
    while (true) {
      while (queue_.empty() || broken_) sc_core::wait(queued_);
      Transaction& t = begin();
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      request_end_ = sc_core::sc_max_time();
      sending_ = &t;
      if (plugin_.phases) {
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
        call(t, [&] { answer = out_->nb_transport_fw(t.payload, phase, delay); });
        if (answer == tlm::TLM_COMPLETED) {
          advance(t, tlm::BEGIN_RESP, delay);
        } else if (answer == tlm::TLM_UPDATED) {
          t.owes_end_resp = phase == tlm::BEGIN_RESP;
          advance(t, phase, delay);
        }
      } else {
        call(t, [&] { out_->b_transport(t.payload, delay); });
        advance(t, tlm::BEGIN_RESP, delay);
      }
      while (broken_ || sc_core::sc_time_stamp() < request_end_) sc_core::wait(request_ended_);
      sending_ = nullptr;
      if (t.owes_end_resp) end_response(t);
    }
  }
  void end_response(Transaction& t) {
    tlm::tlm_phase phase = tlm::END_RESP;
    tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
    sc_core::sc_time none = sc_core::SC_ZERO_TIME;
    call(t, [&] { answer = out_->nb_transport_fw(t.payload, phase, none); });
    if (answer == tlm::TLM_UPDATED)
      broken(&t, "returned TLM_UPDATED to END_RESP; allowed is TLM_ACCEPTED or TLM_COMPLETED");
    t.owes_end_resp = false;
  }
  // Of the plug-in, whose exceptions end the run.
  template <class Call>
  void call(const Transaction& t, const Call& its_function) {
    try {
      its_function();
    } catch (const sc_core::sc_unwind_exception&) {  // this process is being ended
      throw;
    } catch (...) {
      broken(&t, fmt::format("threw an exception {}", exception_text()));
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    auto* const t = payload.get_extension<Transaction>();
    if (t == nullptr || &t->payload != &payload) {
      broken(nullptr, "sent a payload that it was not given");
      return tlm::TLM_ACCEPTED;
    }
    advance(*t, phase, delay);
    if (broken_ || phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }

  // What the target has sent takes effect after the delay. Phases that are none of the base protocol's are ignored.
  void advance(Transaction& t, const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
    if (broken_ || phase > tlm::END_RESP) return;
    const auto* const legal = std::find_if(std::begin(kLegal), std::end(kLegal),
                                           [&](const Transition& l) { return l.from == t.state && l.phase == phase; });
    if (legal == std::end(kLegal)) {
      return broken(&t, fmt::format("sent {} after {}; allowed is {}", phase.get_name(),
                                    kStateNames[static_cast<int>(t.state)], allowed_after(t.state)));
    }
    const std::uint64_t now = ctx_.clock.now_fs();
    if (delay.value() > UINT64_MAX - now - ctx_.clock.period_fs()) {
      return broken(&t, fmt::format("annotated a delay of {}; simulated time ends after 2^64 fs", delay.to_string()));
    }
    t.state = legal->to;
    if (&t == sending_) {
      request_end_ = std::min(request_end_, sc_core::sc_time_stamp() + delay);
      request_ended_.notify(delay);
    }
    // The first cycle that begins no earlier.
    const auto end = sc_core::sc_time::from_value(now + delay.value());
    if (t.state == State::kAnswered) answered(t, ctx_.clock.ceil_cycles(end));
  }
  static std::string allowed_after(State state) {
    std::string names;
    for (const Transition& l : kLegal) {
      if (l.from == state) names += (names.empty() ? "" : " or ") + std::string(tlm::tlm_phase(l.phase).get_name());
    }
    return names.empty() ? "nothing" : names;
  }

  void answered(const Transaction& t, std::uint64_t end_cycle) {
    Access* const access = t.piece.access;
    if (t.payload.is_response_error()) {
      access->payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      refuse(t, "answered " + t.payload.get_response_string());
    }
    access->end_cycle = std::max(access->end_cycle, end_cycle);
    if (--access->pieces > 0) return;
    last_end_ = std::max(last_end_, access->end_cycle);
    if (--under_way_ == 0) busy_cycles += std::max(access->end_cycle, busy_since_) - busy_since_;
    const std::uint64_t now = ctx_.clock.now();
    access->response.send(ctx_.clock.cycles(access->end_cycle - std::min(access->end_cycle, now)));
    delete access;
  }

  static std::string text_of(const Piece& piece) {
    return fmt::format("a {} of {} bytes", piece.read ? "read" : "write", piece.bytes);
  }
  void refuse(const Transaction& t, const std::string& what) {
    fault(FaultCode::kNone, base_ + t.piece.offset, fmt::format("its plug-in {} to {}", what, text_of(t.piece)));
  }
  // Nothing more is sent, and nothing more that the plug-in sends counts.
  void broken(const Transaction* t, const std::string& what) {
    if (std::exchange(broken_, true)) return;
    fault(FaultCode::kNone, t == nullptr ? base_ : base_ + t->piece.offset,
          fmt::format("its plug-in {}{}", what, t == nullptr ? "" : fmt::format(" ({})", text_of(t->piece))));
  }

  // The next piece's. A payload comes again after many others only: until then a late answer is known to be one.
  Transaction& begin() {
    constexpr std::size_t kOthers = 1024;
    const auto ended = [](const Transaction& t) {
      return t.state == State::kAnswered && t.payload.get_ref_count() <= 1;
    };
    if (pool_.size() > kOthers && ended(*pool_.front())) {
      pool_.push_back(std::move(pool_.front()));
      pool_.pop_front();
    } else {
      pool_.push_back(std::make_unique<Transaction>(static_cast<tlm::tlm_mm_interface*>(this)));
    }
    Transaction& t = *pool_.back();
    t.piece = queue_.front();
    queue_.pop_front();
    t.piece.sent_cycle = ctx_.clock.now();
    t.state = State::kRequested;
    pieces += 1;
    fill_payload(t.payload, t.piece.read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, t.piece.offset,
                 scratch_.data(), t.piece.bytes);
    return t;
  }
  void free(tlm::tlm_generic_payload* /*payload*/) override {}  // the pool keeps all of them

  std::uint64_t base_, size_bytes_;
  Contents contents_;
  LoadedPlugin plugin_;
  std::vector<unsigned char> scratch_;  // what plug-ins read and write
  std::deque<Piece> queue_;
  std::deque<std::unique_ptr<Transaction>> pool_;  // in the order in which they began
  std::uint64_t under_way_ = 0, busy_since_ = 0;   // accesses
  std::uint64_t last_end_ = 0;                     // cycle; of those that have been answered
  const Transaction* sending_ = nullptr;           // its request has begun and not ended
  sc_core::sc_time request_end_;                   // when it ends, as far as that is known
  bool broken_ = false;
  sc_core::sc_event queued_, request_ended_;
  const ExitGuard exit_guard_{[this] {
    return fmt::format("{}: its plug-in called exit(), which ends the process; allowed is an error response (cycle {})",
                       name(), ctx_.clock.now());
  }};
  TargetSocket in_{"in", ctx_.event_queue, *this};
  tlm_utils::simple_initiator_socket<PluginDram> out_{"out"};
};

const bool kRegistered =
    add_kind(Kind<Memory>("dram", "plugin", "takes as long as a library's TLM-2.0 target", {"attnvp.dram"},
                          [](const Site& site) { return std::make_unique<PluginDram>(site.name, site); })
                 .with_keys<PluginConfig>()
                 .with_problem([](const MachineConfig& m) { return plugin_problem(m.own<PluginConfig>().library); }));

}  // namespace

}  // namespace attnvp
