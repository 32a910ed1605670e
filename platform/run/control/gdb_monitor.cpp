// Output of gdb's `monitor` commands: module signals, event tokens, waiting modules.
#include <fmt/format.h>

#include "platform/run/control/gdb_server.h"
#include "platform/run/platform.h"

namespace attnvp::firmware_watch {

namespace {

std::string value_of(const Signal& s) {
  if (s.value() == Signal::kNone) return "-";
  if (s.kind() == Signal::SignalKind::kReal) return fmt::format("{}", Signal::real_of(s.value()));
  if (s.kind() == Signal::SignalKind::kEnum) {
    for (std::uint64_t i = 0; s.names()[i] != nullptr; ++i) {
      if (i == s.value()) return s.names()[i];
    }
  }
  return s.bits() > 32 ? fmt::format("{:#x}", s.value()) : fmt::format("{}", s.value());
}

template <class Wanted>
std::string signals(Platform& platform, Wanted wanted) {
  std::string text;
  for_each_module(platform, [&](Module& module) {
    std::string line;
    for (const Signal* s : module.signals()) {
      if (wanted(module, *s)) line += fmt::format(" {}={}", s->name(), value_of(*s));
    }
    if (!line.empty()) text += fmt::format("{}:{}\n", module.name(), line);
  });
  return text.empty() ? "nothing\n" : text;
}

}  // namespace

std::string monitor_cycles(Platform& platform, const std::vector<RiscvProcessor*>& harts) {
  std::string text = fmt::format("platform: cycle {}\n", platform.context().clock.now());
  for (std::size_t i = 0; i < harts.size(); ++i) {
    riscv::Hart& hart = harts[i]->core().hart();
    text += fmt::format("hart {}: cycle {} of its clock (cycle {} of the platform's), {} instructions\n", i,
                        hart.cycle(), harts[i]->platform_cycle(hart.cycle()), hart.retired());
  }
  return text;
}

std::string monitor_queues(Platform& platform) {
  return signals(platform, [](const Module& /*module*/, const Signal& s) {
    return s.name().find("level") != std::string::npos || s.name().find("queue") != std::string::npos;
  });
}

std::string monitor_engines(Platform& platform) {
  return signals(platform, [](const Module& module, const Signal& /*s*/) {
    const std::string name = module.name();
    return name.find(".mac") != std::string::npos || name.find(".vec") != std::string::npos ||
           name.find(".dma") != std::string::npos;
  });
}

std::string monitor_events(Platform& platform) {
  std::string text;
  for (std::size_t c = 0; c < platform.clusters.size(); ++c) {
    const EventUnit& events = *platform.clusters[c]->events;
    for (std::uint32_t e = 0; e < platform.machine().events.events; ++e) {
      if (events.tokens(e) > 0) text += fmt::format("cluster {} event {}: {} tokens\n", c, e, events.tokens(e));
    }
  }
  for (const std::string& clause : platform.waiting()) text += clause + "\n";
  return text.empty() ? "no tokens, and nobody waits\n" : text;
}

}  // namespace attnvp::firmware_watch
