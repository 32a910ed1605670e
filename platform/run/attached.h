// Guards of a trace session and a firmware watch, for the duration of a run.
#pragma once

#include "platform/machine/energy.h"
#include "platform/run/control/firmware_watch.h"
#include "platform/run/platform.h"
#include "platform/trace/session.h"

namespace attnvp::job {

// Ends the trace session also when the simulation throws.
class Tracing {
 public:
  Tracing(trace::Session* session, Platform& platform, const config::EnergyTable& energy) : session_(session) {
    if (session_ != nullptr) session_->begin(platform, energy);
  }
  ~Tracing() {
    if (session_ != nullptr) session_->end();
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  trace::Session* session_;
};

class Watching {
 public:
  Watching(firmware_watch::Watch* watch, Platform& platform) : watch_(watch), platform_(platform) {
    if (watch_ != nullptr) watch_->begin(platform_);
  }
  ~Watching() {
    if (watch_ == nullptr) return;
    if (!platform_.all_finished()) watch_->stuck(platform_.waiting());
    watch_->end();
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  firmware_watch::Watch* watch_;
  Platform& platform_;
};

}  // namespace attnvp::job
