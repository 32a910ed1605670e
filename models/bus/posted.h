// An access that a process or a callback makes without blocking: it ends within the call or later. One at a time. Its
// target annotates its time, or knows Completions; one that lets its initiator wait is behind a Bridge.
#pragma once

#include <functional>
#include <utility>

#include "models/bus/completion.h"
#include "models/bus/initiator.h"
#include "models/bus/stream.h"
#include "models/module.h"
#include "models/sim/process.h"

namespace attnvp {

class Posted : private Completions {
 public:
  // `over`: called where an access that was made with begin() or make() ends later.
  explicit Posted(Context& context, sim::Callback over = {})
      : clock_(context.clock),
        jitter_(context.jitter),
        over_(over),
        then_(context.event_queue, sim::Callback::of<&Posted::resume>(this)) {}

  // To be declared before the payloads that are used with it.
  void attach_to(tlm::tlm_generic_payload& payload) { payload.set_extension(&extension_); }
  void attach_to(StreamPayload& payload) { payload.complete_by(extension_); }

  // co_await access.transport(socket, payload): until the access ends; whether it was accepted.
  struct Awaiter : sim::Completion::Awaiter {
    const Posted& access;
    bool await_resume() const noexcept { return access.ok_; }
  };
  template <class Socket>
  [[nodiscard]] Awaiter transport(Socket& socket, tlm::tlm_generic_payload& payload) {
    done_.begin();
    if (begin(socket, payload)) done_.complete();
    return {done_.end(), *this};
  }
  // The same, for an access that begins after `delay`.
  template <class Socket>
  [[nodiscard]] Awaiter transport_after(Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time delay) {
    done_.begin();
    if (make(socket, payload, delay)) done_.complete();
    return {done_.end(), *this};
  }

  // Whether the access is over when this returns; if not, `over` is called when it is.
  template <class Socket>
  bool begin(Socket& socket, tlm::tlm_generic_payload& payload) {
    if (jitter_ == nullptr) return make(socket, payload, sc_core::SC_ZERO_TIME);
    const sc_core::sc_time before = jitter_->delay(socket.name());
    if (before == sc_core::SC_ZERO_TIME) return make(socket, payload, before);
    late_ = [this, &socket, &payload] { return make(socket, payload, sc_core::SC_ZERO_TIME); };
    then_.notify_at(clock_.now_fs() + before.value());
    return false;
  }
  bool ok() const { return ok_; }  // of what is over: it was not refused

 private:
  template <class Socket>
  bool make(Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time delay) {
    extension_.deferred = false;
    socket->b_transport(payload, delay);
    if (jitter_ != nullptr) delay += jitter_->delay(socket.name());
    more_fs_ = delay.value();
    ok_ = payload.is_response_ok();
    if (extension_.deferred) return false;
    if (more_fs_ == 0) return true;
    then_.notify_at(clock_.now_fs() + more_fs_);
    return false;
  }
  void completed(std::uint64_t /*ticket*/, std::uint64_t cycle, bool ok) override {
    ok_ = ok;
    if (more_fs_ == 0 && cycle <= clock_.now()) return end();
    then_.notify_at(clock_.begin_of(cycle) + more_fs_);
  }
  void resume() {
    if (late_ != nullptr && !std::exchange(late_, nullptr)()) return;
    end();
  }
  void end() { over_.function != nullptr ? over_() : done_.complete(); }

  const Clock& clock_;
  const std::unique_ptr<Jitter>& jitter_;
  sim::Callback over_;
  sim::Completion done_;
  sim::Event then_;
  CompletionExtension extension_{*this};
  std::uint64_t more_fs_ = 0;  // after its end
  bool ok_ = true;
  std::function<bool()> late_;  // what is to be begun, where something delays it
};

}  // namespace attnvp
