// An access that a step makes (models/agenda/agenda.h): it is over at once, or goes on while the step has ended. One at
// a time. Its target annotates its time, or knows Completions; one that lets its initiator wait is behind a Bridge.
#pragma once

#include <functional>
#include <utility>

#include "models/bus/completion.h"
#include "models/bus/initiator.h"
#include "models/bus/stream.h"
#include "models/module.h"

namespace attnvp {

class Posted : private Completions {
 public:
  Posted(Context& context, Call over)
      : clock_(context.clock), over_(over), then_(context.agenda, Call::of<&Posted::go_on>(this)) {}

  // To be declared before the payloads that are used with it.
  void attach_to(tlm::tlm_generic_payload& payload) { payload.set_extension(&extension_); }
  void attach_to(StreamPayload& payload) { payload.complete_by(extension_); }

  // Whether the access is over when this returns; if not, `over` is called when it is.
  template <class Socket>
  bool begin(Socket& socket, tlm::tlm_generic_payload& payload) {
    if (!jitter::on) return make(socket, payload, sc_core::SC_ZERO_TIME);
    const sc_core::sc_time before = jitter::delay(socket.name());
    if (before == sc_core::SC_ZERO_TIME) return make(socket, payload, before);
    late_ = [this, &socket, &payload] { return make(socket, payload, sc_core::SC_ZERO_TIME); };
    then_.at(clock_.now_fs() + before.value());
    return false;
  }
  // The same, for one that begins after `delay`.
  template <class Socket>
  bool make(Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time delay) {
    extension_.deferred = false;
    socket->b_transport(payload, delay);
    if (jitter::on) delay += jitter::delay(socket.name());
    more_fs_ = delay.value();
    ok_ = payload.is_response_ok();
    if (extension_.deferred) return false;
    if (more_fs_ == 0) return true;
    then_.at(clock_.now_fs() + more_fs_);
    return false;
  }
  bool ok() const { return ok_; }  // of what is over: it was not refused

 private:
  void completed(std::uint64_t /*ticket*/, std::uint64_t cycle, bool ok) override {
    ok_ = ok;
    if (more_fs_ == 0 && cycle <= clock_.now()) return over_();
    then_.at(clock_.begin_of(cycle) + more_fs_);
  }
  void go_on() {
    if (late_ != nullptr && !std::exchange(late_, nullptr)()) return;
    over_();
  }

  const Clock& clock_;
  Call over_;
  Step then_;
  CompletionExtension extension_{*this};
  std::uint64_t more_fs_ = 0;  // after its end
  bool ok_ = true;
  std::function<bool()> late_;  // what is to be begun, where something delays it
};

}  // namespace attnvp
