#include "models/cached_dram/cached_dram.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/bus/stream.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kRegistered = add_kind(
    Kind<Memory>("dram", "cached", "is a bus of fixed bandwidth behind a cache", {"attnvp.dram"}, [](const Site& site) {
      return std::make_unique<CachedDram>(site.name, site);
    }).with_keys<CacheConfig>());

std::uint64_t whole_cycles(double seconds, double hertz) {
  return static_cast<std::uint64_t>(std::ceil(seconds * hertz - 1e-6));
}
}  // namespace

std::uint64_t CachedDram::Bus::take(std::uint64_t arrival, std::uint64_t bytes) {
  if (static_cast<double>(bytes_) <= (static_cast<double>(arrival) - static_cast<double>(from_)) * bytes_per_cycle_) {
    from_ = arrival;  // it was idle
    bytes_ = 0;
  }
  bytes_ += bytes;
  all_ += bytes;
  return from_ + static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes_) / bytes_per_cycle_ - 1e-6));
}

std::uint64_t CachedDram::Bus::cycles() const {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(all_) / bytes_per_cycle_));
}

CachedDram::CachedDram(sc_core::sc_module_name name, const Site& site)
    : Memory(name, site.context),
      config_(site.machine.dram),
      cache_(site.machine.own<CacheConfig>()),
      contents_(site.base, config_.size_bytes),
      dram_(config_.bytes_per_second / ctx_.clock.hertz()),
      l2_(cache_.bytes_per_second / ctx_.clock.hertz()),
      latency_cycles_(whole_cycles(config_.latency_seconds, ctx_.clock.hertz())),
      l2_latency_cycles_(whole_cycles(cache_.latency_seconds, ctx_.clock.hertz())),
      most_lines_(std::max<std::uint64_t>(cache_.size_bytes / cache_.line_bytes, 1)) {
  in_.register_b_transport(this, &CachedDram::b_transport);
  in_.register_transport_dbg(this, &CachedDram::transport_dbg);
}

void CachedDram::reset() {
  dram_.reset();
  l2_.reset();
  lines_.clear();
  used_.clear();
  full_ = false;
}

bool CachedDram::touch(std::uint64_t line, bool read, Line*& found) {
  const auto [at, fresh] = lines_.try_emplace(line);
  found = &at->second;
  if (!fresh) {
    used_.splice(used_.begin(), used_, at->second.place);
    return true;
  }
  used_.push_front(line);
  at->second.place = used_.begin();
  if (lines_.size() > most_lines_) {
    lines_.erase(used_.back());
    used_.pop_back();
    full_ = true;
  }
  return cache_.warm && read && !full_;
}

void CachedDram::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!contents_.accepts(payload)) return;
  const std::uint64_t bytes = payload.get_data_length(), offset = contents_.offset(payload);
  const std::uint64_t now = ctx_.clock.now(), asked = now + ctx_.clock.ceil_cycles(delay);
  std::uint64_t until = l2_.take(asked + (payload.is_read() ? l2_latency_cycles_ : 0), bytes);
  std::uint64_t missed = 0;
  for (std::uint64_t at = offset; at < offset + bytes;) {
    const std::uint64_t line = at / cache_.line_bytes;
    const std::uint64_t here = std::min((line + 1) * cache_.line_bytes, offset + bytes) - at;
    Line* state = nullptr;
    const bool hit = touch(line, payload.is_read(), state);
    if (hit && payload.is_read()) {
      until = std::max(until, state->ready);
    } else {
      const std::uint64_t moved = payload.is_read() ? cache_.line_bytes : here;
      missed += moved;
      state->ready = dram_.take(asked + (payload.is_read() ? latency_cycles_ : 0), moved);
      if (payload.is_read()) until = std::max(until, state->ready);
      if (payload.is_write()) state->ready = asked;
    }
    at += here;
  }
  busy_cycles.raise_to(dram_.cycles());
  delay = ctx_.clock.cycles(until - now);

  if (payload.is_read()) {
    read_words.add_bytes(missed);
    hit_words.add_bytes(bytes - std::min(bytes, missed));
  } else {
    write_words.add_bytes(bytes);
  }
  contents_.serve(payload);
}

unsigned CachedDram::transport_dbg(tlm::tlm_generic_payload& payload) { return contents_.peek(payload); }

}  // namespace attnvp
