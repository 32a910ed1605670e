#include "models/memory/fixed_memory/fixed_memory.h"

#include <cmath>
#include <cstring>

#include "models/interconnect/bus/payload.h"
#include "models/keys/binding.h"
#include "models/memory/config.h"
#include "models/registry.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/whole.h"

namespace attnvp {

namespace {
enum BusState : std::uint64_t { kIdle, kRead, kWrite };
const char* const kBusNames[] = {"idle", "read", "write", nullptr};
}  // namespace

FixedMemory::FixedMemory(sc_core::sc_module_name name, const ModuleContext& module_context, std::uint64_t bytes,
                         const FixedTiming& timing, const Energy& energy)
    : Memory(name, module_context.context),
      read_words{*this, "read_words", "16-bit words", "words read by DMA", {energy.component, "read", energy.optional}},
      write_words{
          *this, "write_words", "16-bit words", "words written by DMA", {energy.component, "write", energy.optional}},
      bytes_(bytes),
      contents_(module_context.base, bytes),
      bytes_per_cycle_(timing.bytes_per_second / ctx_.clock.hertz()),
      latency_cycles_(static_cast<std::uint64_t>(std::ceil(timing.latency_seconds * ctx_.clock.hertz() - 1e-6))),
      duplex_(timing.duplex),
      bus_(*this, "bus", kBusNames) {
  const double hertz = ctx_.clock.hertz(), rate = timing.bytes_per_second;
  constexpr double kMost = 1e18;
  if (hertz > kMost || rate > kMost || hertz != std::floor(hertz) || rate != std::floor(rate)) return;
  bytes_per_second_ = static_cast<std::uint64_t>(rate);
  hertz_ = static_cast<std::uint64_t>(hertz);
}

void FixedMemory::reset() { lane_[0] = lane_[1] = {}; }

// The state of a bus is the time that its bytes still take, exactly. If rates are not whole, a bus that never becomes
// idle has no equal states.
bool FixedMemory::visit_state(sim::StateVisitor& visitor) {
  visit_counters(visitor);
  for (BusUse& lane : lane_) {
    visitor.sum(lane.all_bytes);
    const std::uint64_t elapsed = ctx_.clock.now() - lane.busy_from;
    const auto left =
        static_cast<__int128_t>(lane.busy_bytes) * hertz_ - static_cast<__int128_t>(elapsed) * bytes_per_second_;
    const bool is_past = lane.busy_from <= ctx_.clock.now();
    visitor.value(is_past);
    if (is_past && hertz_ != 0) {
      if (left <= 0) continue;  // idle
      visitor.value(static_cast<std::uint64_t>(left));
      visitor.value(static_cast<std::uint64_t>(left >> 64));
    } else {
      visitor.at(lane.busy_from);
      visitor.value(lane.busy_bytes);
    }
  }
  return true;
}

void FixedMemory::recount() {
  for (const BusUse& lane : lane_) {
    busy_cycles.follow(whole_nearest(static_cast<double>(lane.all_bytes) / bytes_per_cycle_));
  }
}

// Shows a transaction on the bus. Times are annotated and lie ahead.
void FixedMemory::show_bus(std::uint64_t from, std::uint64_t until, bool read) {
  const auto time = [this](std::uint64_t cycle) { return cycle * ctx_.clock.period_fs(); };
  bus_.set_at(time(from), read ? kRead : kWrite);
  rate_.set_real_at(time(from), bytes_per_cycle_);
  bus_.set_at(time(until), kIdle);
  rate_.set_real_at(time(until), 0);
}

bool FixedMemory::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                        const Response& /*response*/) {
  if (!contents_.accepts(payload)) return true;
  const std::uint64_t bytes = payload.get_data_length();
  const std::uint64_t now = ctx_.clock.now();
  BusUse& lane = lane_[duplex_ && payload.is_write() ? 1 : 0];
  std::uint64_t from = lane.until;
  const std::uint64_t arrival = now + ctx_.clock.ceil_cycles(delay) + (payload.is_read() ? latency_cycles_ : 0);
  if (static_cast<double>(lane.busy_bytes) <=
      (static_cast<double>(arrival) - static_cast<double>(lane.busy_from)) * bytes_per_cycle_) {
    lane.busy_from = from = arrival;  // the bus was idle
    lane.busy_bytes = 0;
  }
  lane.busy_bytes += bytes;
  lane.all_bytes += bytes;
  const auto cycles = [this](std::uint64_t n) { return static_cast<double>(n) / bytes_per_cycle_; };
  busy_cycles.follow(whole_nearest(cycles(lane.all_bytes)));
  const std::uint64_t until = lane.busy_from + whole_above(cycles(lane.busy_bytes) - 1e-6);
  lane.until = until;
  delay = ctx_.clock.cycles(until - now);
  if (bus_.on()) show_bus(from, until, payload.is_read());

  Counter& words = payload.is_read() ? read_words : write_words;
  words.add_bytes(bytes);
  if (Activity* const activity = activity_of(ctx_)) {  // bus times are not rounded to cycles
    const auto time = [&](std::uint64_t moved) {
      return static_cast<std::uint64_t>(std::llround((static_cast<double>(lane.busy_from) + cycles(moved)) *
                                                     static_cast<double>(ctx_.clock.period_fs())));
    };
    activity->done(words, static_cast<double>(bytes) / 2, time(lane.busy_bytes - bytes), time(lane.busy_bytes));
  }
  contents_.serve(payload);
  return true;
}

// DRAM with the `fixed` policy: one bus with its peak bandwidth.

namespace {

std::unique_ptr<Memory> make_dram(const ModuleContext& module_context) {
  const DramConfig& dram = module_context.machine.dram;
  return std::make_unique<FixedMemory>(module_context.name, module_context, dram.size_bytes,
                                       FixedMemory::FixedTiming{dram.bytes_per_second, dram.latency_seconds,
                                                                module_context.machine.own<FixedDramConfig>().duplex},
                                       FixedMemory::Energy{"attnvp.dram", false});
}

const bool kFixedMemoryRegistered =
    add_kind(Kind<Memory>("dram", "fixed", "is peak bandwidth plus latency", {"attnvp.dram"}, make_dram)
                 .with_keys<FixedDramConfig>());

}  // namespace

// L2 of kind `scratchpad`: SRAM beside DRAM, accessed by the DMA controllers of all clusters only. Firmware controls
// its contents.

namespace {

std::unique_ptr<Memory> make_l2(const ModuleContext& module_context) {
  const L2Config& l2 = module_context.machine.l2;
  return std::make_unique<FixedMemory>(module_context.name, module_context, l2.size_bytes,
                                       FixedMemory::FixedTiming{l2.bytes_per_second, l2.latency_seconds, false},
                                       FixedMemory::Energy{"attnvp.l2", true});
}

const bool kNone = add_kind(Kind<Memory>("l2", "none", "leaves the place empty", {}, [](const ModuleContext&) {
                              return std::unique_ptr<Memory>();
                            }).with_problem([](const MachineConfig& m) -> std::string {
  return m.l2.staging ? "key 'l2.staging': there is nothing to stage in with l2.kind none; allowed: false" : "";
}));

const bool kScratchpad =
    add_kind(Kind<Memory>("l2", "scratchpad", "is what firmware puts there, behind a bus of fixed bandwidth",
                          {"attnvp.l2"}, make_l2)
                 .with_problem([](const MachineConfig& m) -> std::string {
                   return m.dram.policy == "cached"
                              ? "key 'l2.kind': found 'scratchpad', but dram.policy cached has an "
                                "L2 of its own; allowed: none"
                              : "";
                 }));

}  // namespace

}  // namespace attnvp
