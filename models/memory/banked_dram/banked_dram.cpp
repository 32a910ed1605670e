#include "models/memory/banked_dram/banked_dram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/payload.h"
#include "models/keys/binding.h"
#include "models/registry.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {

constexpr std::uint32_t kMostChannels = 64;

// The configured number, or the power of two whose bandwidth is nearest to the required one, by ratio.
std::uint32_t channels_of(const BankedConfig& config, double bytes_per_second) {
  if (config.channels > 0) return config.channels;
  const double wanted = std::log2(bytes_per_second / config.channel_bytes_per_second());
  return std::uint32_t{1} << static_cast<unsigned>(std::clamp(std::lround(wanted), 0L, 6L));
}

void settle_banked(MachineConfig& machine) {
  const auto& config = machine.own<BankedConfig>();
  const std::uint32_t channels = channels_of(config, machine.dram.bytes_per_second);
  machine.dram.bytes_per_second = channels * config.channel_bytes_per_second();
  machine.dram.size_bytes = channels * config.channel_bytes();
}

std::string problem_of(const MachineConfig& machine) {
  const auto& config = machine.own<BankedConfig>();
  const std::uint32_t channels = channels_of(config, machine.dram.bytes_per_second);
  if ((channels & (channels - 1)) != 0) {
    return fmt::format("key 'dram.channels': found {}; allowed are powers of two up to {}", channels, kMostChannels);
  }
  if (config.burst_length % config.data_rate != 0 || config.columns < config.burst_length) {
    return fmt::format(
        "key 'dram.burst_length': found {}; allowed are whole clocks of dram.data_rate, {}, and a row at most",
        config.burst_length, config.data_rate);
  }
  if (config.write_queue > 0 && (config.write_high > config.write_queue || config.write_low >= config.write_high)) {
    return fmt::format(
        "keys 'dram.write_low', 'dram.write_high': found {} and {}; allowed is low < high <= "
        "dram.write_queue, {}",
        config.write_low, config.write_high, config.write_queue);
  }
  try {
    const AddressMapping mapping(config.mapping, config, channels);
    if (mapping.piece_bytes() < config.burst_bytes()) {
      return fmt::format("key 'dram.mapping': found '{}'; the lowest bits must be those of a burst of {} bytes",
                         config.mapping, config.burst_bytes());
    }
  } catch (const std::invalid_argument& problem) {
    return fmt::format("key 'dram.mapping': {}", problem.what());
  }
  return {};
}

const bool kBankedDramRegistered = add_kind(
    Kind<Memory>("dram", "banked", "has channels, banks and rows, as a part's data sheet says", {"attnvp.dram"},
                 [](const ModuleContext& module_context) {
                   return std::make_unique<BankedDram>(module_context.name, module_context);
                 })
        .with_keys<BankedConfig>()
        .with_settling(settle_banked)
        .with_problem(problem_of));

}  // namespace

BankedDram::BankedDram(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Memory(name, module_context.context),
      config_(module_context.machine.own<BankedConfig>()),
      size_bytes_(module_context.machine.dram.size_bytes),
      tick_fs_(static_cast<std::uint64_t>(std::llround(config_.tCK_seconds * 1e15))),
      contents_(module_context.base, size_bytes_),
      mapping_(config_.mapping, config_, channels_of(config_, module_context.machine.dram.bytes_per_second)),
      due_(ctx_.event_queue) {
  const std::uint32_t channels = channels_of(config_, module_context.machine.dram.bytes_per_second);
  for (std::uint32_t i = 0; i < channels; ++i) {
    channels_.push_back(
        std::make_unique<BankedChannel>(fmt::format("channel{}", i).c_str(), module_context.context, config_,
                                        [this](std::uint64_t access, Tick end) { piece_done(access, end); }));
  }
  process_ = run_channels();
}

void BankedDram::reset() {
  epoch_fs_ = ctx_.clock.now_fs();
  for (const auto& channel : channels_) channel->start(epoch_fs_);
  accesses_.clear();
  free_.clear();
  wakes_ = DramChannel::kNever;
  due_.cancel();
}

// One piece for each touched row and channel; separate blocks of a row form one run.
void BankedDram::cut(std::uint64_t offset, std::uint64_t bytes, bool read) {
  pieces_.clear();
  const std::uint64_t piece = mapping_.piece_bytes(), burst = config_.burst_bytes(), end = offset + bytes;
  while (offset < end) {
    const std::uint64_t until = std::min(end, (offset / piece + 1) * piece);
    const auto bursts = static_cast<std::uint32_t>((until + burst - 1) / burst - offset / burst);
    const DramPlace place = mapping_.place(offset);
    const auto same =
        std::find_if(pieces_.begin(), pieces_.end(), [&](const DramRequest& r) { return r.place.same_row(place); });
    if (same != pieces_.end()) {
      same->bursts += bursts;
    } else {
      pieces_.push_back({0, read, place, bursts});
    }
    offset = until;
  }
}

std::uint32_t BankedDram::new_access() {
  if (free_.empty()) {
    accesses_.emplace_back();
    return static_cast<std::uint32_t>(accesses_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  return index;
}

bool BankedDram::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                       const Response& response) {
  if (!contents_.accepts(payload)) return true;
  const std::uint64_t bytes = payload.get_data_length();
  (payload.is_read() ? read_words : write_words).add_bytes(bytes);
  contents_.serve(payload);

  const Tick arrival = tick_of(ctx_.clock.now_fs() + delay.value());
  cut(contents_.offset(payload), bytes, payload.is_read());
  const std::uint32_t index = new_access();
  const auto pieces = static_cast<std::uint32_t>(pieces_.size());
  const auto most = static_cast<std::uint32_t>(channels_.size());
  accesses_[index] = {pieces, 0, response, bytes, std::min(pieces, most), payload.is_read()};
  if (Activity* const activity = activity_of(ctx_)) activity->will_tell(payload.is_read() ? read_words : write_words);
  for (DramRequest& piece : pieces_) {
    piece.tag = index;
    channels_[piece.place.channel]->push(piece, arrival);
  }
  // Immediate actions, such as row hits, need no event.
  calling_ = index;
  Tick next = DramChannel::kNever;
  for (const DramRequest& piece : pieces_) {
    BankedChannel& channel = *channels_[piece.place.channel];
    while (channel.next() <= arrival) channel.step();
    next = std::min(next, channel.next());
  }
  calling_ = kNobody;
  wake_at(next);
  if (accesses_[index].pieces > 0) return false;
  delay = until(cycle_of(accesses_[index].end));
  free_.push_back(index);
  return true;
}

void BankedDram::piece_done(std::uint64_t index, Tick end) {
  DramAccess& access = accesses_[index];
  access.end = std::max(access.end, end);
  if (--access.pieces > 0) return;
  count();
  tell(access);
  if (index == calling_) return;
  const Response response = access.response;
  const std::uint64_t cycle = cycle_of(access.end);
  free_.push_back(static_cast<std::uint32_t>(index));
  response.send(until(cycle));
}

// Reports the words of an access, at the peak rate of its channels, up to its end.
void BankedDram::tell(const DramAccess& access) {
  Activity* const activity = activity_of(ctx_);
  if (activity == nullptr) return;
  const double bytes_per_second = config_.channel_bytes_per_second() * access.channels;
  const auto needed = static_cast<std::uint64_t>(static_cast<double>(access.bytes) / bytes_per_second * 1e15);
  const std::uint64_t end = time_of(access.end);
  activity->done(access.read ? read_words : write_words, static_cast<double>(access.bytes) / 2,
                 std::max(epoch_fs_, end - std::min(end, needed)), end);
}

void BankedDram::count() {
  Tick data = 0;
  for (const auto& channel : channels_) data += channel->burst_clocks();
  const double buses = static_cast<double>(channels_.size()) * config_.pseudo_channels;
  const double clocks_per_cycle = static_cast<double>(ctx_.clock.period_fs()) / static_cast<double>(tick_fs_);
  busy_cycles.raise_to(static_cast<std::uint64_t>(std::llround(static_cast<double>(data) / buses / clocks_per_cycle)));
}

// Executes the events of the channels at their times.
sim::Process BankedDram::run_channels() {
  for (;;) {
    co_await due_;
    wakes_ = DramChannel::kNever;
    const Tick now = static_cast<Tick>((ctx_.clock.now_fs() - epoch_fs_) / tick_fs_);
    Tick next = DramChannel::kNever;
    for (const auto& channel : channels_) {
      while (channel->next() <= now) channel->step();
      next = std::min(next, channel->next());
    }
    wake_at(next);
  }
}

void BankedDram::wake_at(Tick next) {
  if (next >= wakes_) return;
  wakes_ = next;
  // Serves at whole cycles, so that a later job starts at one; the channels keep their own clock.
  due_.notify_at(ctx_.clock.begin_of(cycle_of(next)));
}

}  // namespace attnvp
