#include "models/memory/cached_dram/cached_dram.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <utility>

#include "models/interconnect/bus/payload.h"
#include "models/keys/binding.h"
#include "models/registry.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {
const bool kCachedDramRegistered =
    add_kind(Kind<Memory>("dram", "cached", "is a bus of fixed bandwidth behind a cache", {"attnvp.dram", "attnvp.l2"},
                          [](const ModuleContext& module_context) {
                            return std::make_unique<CachedDram>(module_context.name, module_context);
                          })
                 .with_keys<CacheConfig>());

std::uint64_t whole_cycles(double seconds, double hertz) {
  return static_cast<std::uint64_t>(std::ceil(seconds * hertz - 1e-6));
}

constexpr std::uint64_t kLeastSector = 32;  // bytes
}  // namespace

std::uint64_t CachedDram::DataBus::take(std::uint64_t arrival, std::uint64_t bytes) {
  if (static_cast<double>(bytes_) <= (static_cast<double>(arrival) - static_cast<double>(from_)) * bytes_per_cycle_) {
    from_ = arrival;  // the bus was idle
    bytes_ = 0;
  }
  bytes_ += bytes;
  all_ += bytes;
  return from_ + static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes_) / bytes_per_cycle_ - 1e-6));
}

// Reports the last transfer of the bus.
void CachedDram::tell(const Counter& words, const DataBus& bus, std::uint64_t bytes) {
  Activity* const activity = activity_of(ctx_);
  if (activity == nullptr) return;
  const auto time = [this](double cycle) {
    return static_cast<std::uint64_t>(std::llround(cycle * static_cast<double>(ctx_.clock.period_fs())));
  };
  activity->done(words, static_cast<double>(bytes) / 2, time(bus.end() - bus.needs(bytes)), time(bus.end()));
}

std::uint64_t CachedDram::DataBus::cycles() const {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(all_) / bytes_per_cycle_));
}

CachedDram::CachedDram(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Memory(name, module_context.context),
      l2_("l2", module_context.context),
      config_(module_context.machine.dram),
      cache_(module_context.machine.own<CacheConfig>()),
      sector_bytes_(std::max(cache_.line_bytes / cache_.sectors, kLeastSector)),
      contents_(module_context.base, config_.size_bytes),
      dram_(config_.bytes_per_second / ctx_.clock.hertz()),
      slices_(cache_.slices, DataBus(cache_.bytes_per_second / cache_.slices / ctx_.clock.hertz())),
      latency_cycles_(whole_cycles(config_.latency_seconds, ctx_.clock.hertz())),
      l2_latency_cycles_(whole_cycles(cache_.latency_seconds, ctx_.clock.hertz())),
      l2_write_latency_cycles_(whole_cycles(cache_.write_latency_seconds, ctx_.clock.hertz())),
      lines_(std::max<std::uint64_t>(cache_.size_bytes / cache_.line_bytes, 1), cache_.ways),
      fills_(cache_.misses) {}

void CachedDram::reset() {
  dram_.reset();
  for (DataBus& slice : slices_) slice.reset();
  lines_.clear();
  fills_.clear();
  full_ = false;
}

std::uint64_t CachedDram::sectors(std::uint64_t from, std::uint64_t bytes) const {
  const std::uint64_t first = from % cache_.line_bytes / sector_bytes_,
                      last = (from + bytes - 1) % cache_.line_bytes / sector_bytes_;
  return ~std::uint64_t{0} >> (63 - (last - first)) << first;
}

// Spreads the lines that a job finds evenly over all lines.
bool CachedDram::was_warm(std::uint64_t line) const {
  return cache_.warm && (line + 1) * cache_.warm_percent / 100 > line * cache_.warm_percent / 100;
}

std::uint64_t CachedDram::bytes_of(std::uint64_t sectors) const {
  return std::bitset<64>(sectors).count() * sector_bytes_;
}

std::uint64_t CachedDram::fill(std::uint64_t asked, std::uint64_t bytes) {
  const std::uint64_t begin = fills_.capacity() > 0 && fills_.full() ? std::max(asked, fills_.front()) : asked;
  const std::uint64_t ready = dram_.take(begin + latency_cycles_, bytes);
  fills_.push_back(ready);
  tell(read_words, dram_, bytes);
  tell(l2_.write_words, dram_, bytes);
  return ready;
}

bool CachedDram::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                       const Response& /*response*/) {
  if (!contents_.accepts(payload)) return true;
  const std::uint64_t bytes = payload.get_data_length(), offset = contents_.offset(payload);
  const std::uint64_t now = ctx_.clock.now(), asked = now + ctx_.clock.ceil_cycles(delay);
  const std::uint64_t looked_up = asked + (payload.is_read() ? l2_latency_cycles_ : 0);
  std::uint64_t until = 0, missed = 0, written = 0;
  for (std::uint64_t at = offset; at < offset + bytes;) {
    const std::uint64_t line = at / cache_.line_bytes;
    const std::uint64_t here = std::min((line + 1) * cache_.line_bytes, offset + bytes) - at;
    const LineCache::LineTouch touch = lines_.touch(line);
    full_ = full_ || touch.evicted;
    DataBus& slice = slices_[line % slices_.size()];
    until = std::max(until, slice.take(looked_up, here));
    tell(payload.is_read() ? l2_.read_words : l2_.write_words, slice, here);
    l2_.busy_cycles.raise_to(slice.cycles());
    if (touch.wrote_back != 0) {
      dram_.take(asked, bytes_of(touch.wrote_back));
      tell(write_words, dram_, bytes_of(touch.wrote_back));
      written += bytes_of(touch.wrote_back);
    }
    LineCache::CacheLine& there = *touch.line;
    if (there.ready <= asked) there.present |= std::exchange(there.coming, 0);
    const std::uint64_t wanted = sectors(at, here);
    if (payload.is_write() || (!full_ && was_warm(line))) {
      there.present |= wanted;
      there.coming &= ~wanted;
    }
    if (payload.is_write()) {
      if (cache_.write_back) {
        there.dirty |= wanted;
      } else {
        dram_.take(asked, here);
        tell(write_words, dram_, here);
        written += here;
      }
    } else {
      if (const std::uint64_t missing = wanted & ~(there.present | there.coming); missing != 0) {
        missed += bytes_of(missing);
        there.ready = fill(asked, bytes_of(missing));
        there.coming |= missing;
      }
      if ((wanted & there.coming) != 0) until = std::max(until, there.ready);
    }
    at += here;
  }
  busy_cycles.raise_to(dram_.cycles());
  if (payload.is_write()) until += l2_write_latency_cycles_;
  delay = ctx_.clock.cycles(until - now);

  write_words.add_bytes(written);
  (payload.is_read() ? l2_.read_words : l2_.write_words).add_bytes(bytes);
  if (payload.is_read()) {
    read_words.add_bytes(missed);
    l2_.write_words.add_bytes(missed);
    hit_words.add_bytes(bytes - std::min(bytes, missed));
  }
  contents_.serve(payload);
  return true;
}

LineCache::LineTouch LineCache::touch(std::uint64_t line) {
  Set& set = sets_[line % sets_.size()];
  std::uint32_t& slot = slot_of(line);
  LineTouch touch;
  touch.hit = slot != kNone;
  if (touch.hit) {
    if (set.newest != slot) unlink(set, slot), link_as_newest(set, slot);
  } else if (set.lines == ways_) {
    slot = set.oldest;
    StoredLine& victim = slots_[slot];
    touch.evicted = true;
    touch.wrote_back = victim.state.dirty;
    slot_of(victim.line) = kNone;
    unlink(set, slot);
    victim.state = {};
    victim.line = line;
    link_as_newest(set, slot);
  } else {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back().line = line;
    ++set.lines;
    link_as_newest(set, slot);
  }
  touch.line = &slots_[slot].state;
  return touch;
}

std::uint32_t& LineCache::slot_of(std::uint64_t line) {
  const std::uint64_t page = line / kPage;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (pages_[page].empty()) pages_[page].assign(kPage, kNone);
  return pages_[page][line % kPage];
}

void LineCache::unlink(Set& set, std::uint32_t slot) {
  const StoredLine& out = slots_[slot];
  (out.newer == kNone ? set.newest : slots_[out.newer].older) = out.older;
  (out.older == kNone ? set.oldest : slots_[out.older].newer) = out.newer;
}

void LineCache::link_as_newest(Set& set, std::uint32_t slot) {
  slots_[slot].newer = kNone;
  slots_[slot].older = set.newest;
  (set.newest == kNone ? set.oldest : slots_[set.newest].newer) = slot;
  set.newest = slot;
}

void LineCache::clear() {
  std::fill(sets_.begin(), sets_.end(), Set{});
  slots_.clear();
  pages_.clear();
}

}  // namespace attnvp
