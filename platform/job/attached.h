// Who looks at a run, from its beginning to its end, however that comes.
#pragma once

#include "platform/config/energy.h"
#include "platform/elaboration/platform.h"
#include "platform/firmware/firmware_watch.h"
#include "platform/trace/session.h"

namespace attnvp::job {

// Whatever the simulation throws, its signals are let go of.
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
