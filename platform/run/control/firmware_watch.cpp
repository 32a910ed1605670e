#include <fmt/format.h>

#include "models/control/riscv/hart.h"
#include "platform/machine/error.h"
#include "platform/run/control/gdb_server.h"
#include "platform/run/platform.h"

namespace attnvp::firmware_watch {

class Watch::WatchObserver final : public riscv::Observer {
 public:
  WatchObserver(Watch& watch, std::size_t hart, riscv::Profile* profile)
      : watch_(watch), hart_(hart), profile_(profile) {}

  bool before(riscv::Hart& /*hart*/, std::uint32_t pc) override {
    if (watch_.request_.debugger != nullptr) watch_.request_.debugger->before(hart_, pc);
    return true;
  }
  bool after(riscv::Hart& hart, const riscv::Executed& e) override {
    if (profile_ != nullptr) profile_->executed(e);
    if (watch_.request_.log) {
      const std::uint64_t cycle = watch_.harts_[hart_]->platform_cycle(e.cycle);
      if (cycle >= watch_.request_.from_cycle && cycle < watch_.request_.to_cycle) {
        watch_.log_ += riscv::log_line(static_cast<std::uint32_t>(hart_), hart, e);
      }
    }
    if (watch_.request_.debugger != nullptr) watch_.request_.debugger->after(hart_, e);
    return true;
  }

 private:
  Watch& watch_;
  std::size_t hart_;
  riscv::Profile* profile_;
};

Watch::Watch(const WatchRequest& request) : request_(request) {}
Watch::~Watch() = default;

void Watch::begin(Platform& platform) {
  observers_.clear();
  profiles_.clear();
  harts_.clear();
  log_.clear();
  for (const auto& cluster : platform.clusters) {
    auto* hart = dynamic_cast<RiscvProcessor*>(cluster->cpu.get());
    if (hart == nullptr) {
      throw config::ConfigError(
          "there is no RISC-V firmware to look at: control.cpu is native; --cpu riscv or --firmware makes it RISC-V");
    }
    programs_.push_back(hart->program());
    if (request_.profile) {
      profiles_.push_back(std::make_unique<riscv::Profile>(*hart->program(), fmt::format("hart {}", harts_.size())));
    }
    observers_.push_back(
        std::make_unique<WatchObserver>(*this, harts_.size(), request_.profile ? profiles_.back().get() : nullptr));
    hart->core().hart().set_observer(observers_.back().get());
    harts_.push_back(hart);
  }
  if (request_.debugger != nullptr) request_.debugger->begin(platform, harts_);
}

void Watch::stuck(const std::vector<std::string>& waiting) {
  if (request_.debugger != nullptr) request_.debugger->end(false, fmt::format("{}", fmt::join(waiting, "; ")));
}

void Watch::end() {
  bool all = true;
  for (RiscvProcessor* hart : harts_) {
    hart->core().hart().set_observer(nullptr);
    all = all && hart->finished();
  }
  if (request_.debugger != nullptr && all) request_.debugger->end(true, {});
}

std::string Watch::folded() const {
  std::vector<const riscv::Profile*> all;
  for (const auto& p : profiles_) all.push_back(p.get());
  return riscv::folded(all);
}

std::string Watch::page(const std::string& title) const {
  std::vector<const riscv::Profile*> all;
  for (const auto& p : profiles_) all.push_back(p.get());
  return riscv::flame_page(title, all);
}

}  // namespace attnvp::firmware_watch
