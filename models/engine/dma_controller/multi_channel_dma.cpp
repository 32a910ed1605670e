#include "models/engine/dma_controller/multi_channel_dma.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/engine/dma_controller/transfer.h"
#include "models/interconnect/bus/initiator.h"
#include "models/registry.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/operation.h"

namespace attnvp {

namespace {
const bool kDmaRegistered =
    add_kind<DmaController>({"dma", "model", "is in SystemC", {}, [](const ModuleContext& module_context) {
                               return std::make_unique<MultiChannelDma>(module_context.name, module_context);
                             }});
enum DmaState : std::uint64_t { kIdle, kWaitEvent, kTransfer, kFault };
const char* const kChannelStateNames[] = {"idle", "wait_event", "transfer", "fault", nullptr};
}  // namespace

MultiChannelDma::DmaChannel::DmaChannel(MultiChannelDma& dma, const ModuleContext& module_context, std::uint32_t i)
    : owner(dma),
      index(i),
      pushed(dma.ctx_.event_queue),
      issued(dma.ctx_.event_queue),
      emptied(dma.ctx_.event_queue),
      queue(dma.ctx_, dma.config_.queue_depth, dma.ctx_.partition_of(module_context.cluster), pushed),
      events(fmt::format("events{}", i).c_str(), dma.ctx_, hal::events_base(module_context.cluster),
             module_context.machine.events.events),
      ages(owner.config_.queue_depth),
      state(owner, fmt::format("channel{}.state", i), kChannelStateNames),
      shown(owner, fmt::format("channel{}.", i)),
      waits_for(owner, fmt::format("channel{}.waits_for_event", i), 12),
      level(owner, fmt::format("channel{}.queue_level", i), 16) {
  for (Signal* s : {&state, &shown.operation, &shown.number, &shown.head, &shown.row_block, &waits_for, &level}) {
    s->sparse();  // hidden if unused
  }
  queue.show_level_in(&level);
  events.show_waiting_in(&waits_for);
  events.attribute_in(stalls);
}

MultiChannelDma::MultiChannelDma(sc_core::sc_module_name name, const ModuleContext& module_context)
    : DmaController(name, module_context.context),
      config_(module_context.machine.dma),
      most_counted_(config_.most_counted()),
      most_of_a_channel_(config_.most_of_a_channel()),
      control_base_(module_context.base),
      l1_base_(hal::l1_base(module_context.cluster)),
      map_(*module_context.map),
      issue_possible_(ctx_.event_queue),
      retire_possible_(ctx_.event_queue),
      arrived_(ctx_.event_queue),
      l1_read_(ctx_),
      write_access_(ctx_) {
  control_.register_b_transport(this, &MultiChannelDma::control_transport);
  control_.register_transport_dbg(this, &MultiChannelDma::control_peek);
  for (std::uint32_t i = 0; i < config_.channels; ++i) {
    channels_.push_back(std::make_unique<DmaChannel>(*this, module_context, i));
  }
  if (!ctx_.full_data) {
    for (auto* payload : {&l1_payload_, &write_payload_}) {
      payload->set_extension(new TimingOnlyExtension);  // owned by the payload
    }
  }
  for (auto& channel : channels_) processes_.push_back(front_end(*channel));
  processes_.push_back(issue_stage());
  processes_.push_back(retire_stage());
}

void MultiChannelDma::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - control_base_;
  const std::uint64_t channel = offset / hal::kQueueStride;
  if (!CommandQueue::builds(payload, offset % hal::kQueueStride)) arrive(ctx_.event_queue, delay);
  if (channel >= channels_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  CommandQueue& queue = channels_[channel]->queue;
  const std::size_t level = queue.pushed_count();
  queue.access(payload, offset % hal::kQueueStride);
  if (queue.pushed_count() != level) channels_[channel]->ages.push_back(++doorbells_);
}

// Reading registers has no side effects.
unsigned MultiChannelDma::control_peek(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = payload.get_address() - control_base_, channel = offset / hal::kQueueStride;
  if (!payload.is_read() || channel >= channels_.size()) return 0;
  channels_[channel]->queue.access(payload, offset % hal::kQueueStride);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

std::string MultiChannelDma::waiting_for() const {
  std::string text;
  for (const auto& c : channels_) {
    if (c->queue.empty()) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("channel {}, {} descriptors queued", c->index, c->queue.level());
    if (c->events.waiting_for() >= 0) {
      text += fmt::format(", head {}, row block {} waits for event {}", c->queue.front().head,
                          c->queue.front().row_block, c->events.waiting_for());
    }
  }
  return text;
}

void MultiChannelDma::reset() {
  for (auto& c : channels_) {
    c->queue.reset();
    c->ages.clear();
    c->taken_up = 0;
    c->stalls.reset(ctx_.clock.now());
    c->busy = false;
    c->busy_cycles = c->bytes = 0;
    c->waits_for.set_none();
    c->show();
  }
  next_ = 0;
  doorbells_ = 0;
}

std::vector<StallCounts> MultiChannelDma::stall_counts() const {
  std::vector<StallCounts> all;
  for (const auto& c : channels_) {
    all.push_back({fmt::format("channel{}", c->index), c->busy_cycles, 0, 0, 0, c->bytes, c->stalls.lines()});
  }
  return all;
}

void MultiChannelDma::stop_with(DmaChannel& channel, const Refusal& refusal) {
  channel.queue.set_fault(refusal.code, refusal.address);
  channel.state.set(kFault);
  fault(refusal.code, refusal.address, fmt::format("channel {}: {}", channel.index, refusal.detail));
}

bool MultiChannelDma::own_l1(const hal::Operand& operand) const {
  return map_.holds(map_.find(l1_base_), operand.address);
}

sim::Process MultiChannelDma::front_end(DmaChannel& channel) {
  for (;;) {
    while (channel.queue.empty()) co_await channel.pushed;
    const hal::Descriptor& d = channel.queue.front();
    channel.state.set(kWaitEvent);
    channel.stalls.waits({StallReason::kPending}, ctx_.clock.now());
    ++channel.taken_up;
    channel.id =
        ctx_.command_trace == nullptr
            ? CommandTrace::kNone
            : ctx_.command_trace->open(fmt::format("{}.channel{}", name(), channel.index), d, ctx_.clock.now());
    if (Refusal refusal = channel.events.check(d); refusal.any()) co_return stop_with(channel, refusal);
    co_await channel.events.take(d, channel.id);
    if (CommandTrace::TracedCommand* entry = traced(ctx_, channel.id)) entry->ready = ctx_.clock.now();

    if (d.opcode == hal::Opcode::kNop) {  // ends after all earlier descriptors
      channel.stalls.waits({StallReason::kDrain}, ctx_.clock.now());
      while (!channel.accepted.empty()) co_await channel.emptied;
      const hal::Descriptor nop = d;
      channel.ages.pop_front();
      channel.queue.pop();
      co_await channel.events.give(nop, channel.id);
    } else {
      if (!start_transfer(channel)) co_return;
      issue_possible_.notify_delta();
      co_await channel.issued;
    }
    channel.state.set(kIdle);
    channel.stalls.waits({StallReason::kProcessor}, ctx_.clock.now());
  }
}

// Prepares the transfer of the queue's first descriptor. False: it was refused.
bool MultiChannelDma::start_transfer(DmaChannel& channel) {
  const hal::Descriptor& d = channel.queue.front();
  Refusal refusal = check_opcode(d, hal::Unit::kDma);
  if (!refusal.any()) refusal = check_copy(d, map_, l1_base_);
  if (refusal.any()) {
    stop_with(channel, refusal);
    return false;
  }
  channel.state.set(kTransfer);
  channel.accepted.push_back({d, channel.id, channel.taken_up, own_l1(d.operand[0]), own_l1(d.operand[1])});
  channel.forwarded = (d.flags & hal::kForwarded) != 0;
  channel.transfer = Transfer(d, config_.burst_bytes);
  channel.ready = true;
  channel.bytes += copy_bytes(d);
  channel.settle(ctx_.clock.now());
  channel.deferrable = (d.flags & hal::kDeferrable) != 0;
  channel.age = channel.ages.front();
  channel.ages.pop_front();
  channel.queue.pop();
  return true;
}

// The channel that issues the next burst; nullptr: none can.
MultiChannelDma::DmaChannel* MultiChannelDma::choose() const {
  const auto rank = [&](const DmaChannel& c) {
    if (config_.arbitration == DmaArbitration::kAge) return std::pair(c.deferrable, c.age);
    const bool in_turn = config_.arbitration == DmaArbitration::kRoundRobin;
    return std::pair(in_turn && c.index < next_, std::uint64_t{c.index});
  };
  DmaChannel* first = nullptr;
  for (const auto& c : channels_) {
    if (!c->ready || c->counted >= most_of_a_channel_) continue;
    if (first == nullptr || rank(*c) < rank(*first)) first = c.get();
  }
  return first;
}

std::size_t MultiChannelDma::take_buffer(std::uint64_t bytes) {
  if (!ctx_.full_data) {  // one buffer, which no target reads, for all bursts
    if (buffers_.empty()) buffers_.emplace_back(config_.burst_bytes);
    return 0;
  }
  if (free_buffers_.empty()) {
    free_buffers_.push_back(buffers_.size());
    buffers_.emplace_back();
  }
  const std::size_t buffer = free_buffers_.back();
  free_buffers_.pop_back();
  if (buffers_[buffer].size() < bytes) buffers_[buffer].resize(bytes);
  return buffer;
}

sim::Process MultiChannelDma::issue_stage() {
  for (;;) {
    DmaChannel* const chosen = stopped_ || full() ? nullptr : choose();
    if (chosen == nullptr) {
      co_await issue_possible_;
      continue;
    }
    DmaChannel& channel = *chosen;
    begin_burst(channel);
    const Burst& burst = issuing_.burst;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    bool is_ok = true;
    if (!issuing_.from_l1()) {
      read_bytes += burst.bytes;
      is_ok = begin_access(tlm::TLM_READ_COMMAND, burst.source, delay);
    } else {
      unsigned char* const data = buffers_[issuing_.buffer].data();
      fill_payload(l1_payload_, tlm::TLM_READ_COMMAND, burst.source, data, burst.bytes);
      is_ok = channel.forwarded ? !ctx_.full_data || l1_->transport_dbg(l1_payload_) == burst.bytes
                                : co_await l1_read_.transport(l1_, l1_payload_);
      if (is_ok && !issuing_.to_l1()) {  // forwarded immediately
        write_bytes += burst.bytes;
        is_ok = begin_access(tlm::TLM_WRITE_COMMAND, burst.destination, delay);
      }
    }
    if (!is_ok) {
      stopped_ = true;
      co_return stop_with(channel, {FaultCode::kUnmapped, burst.source, kRefused});
    }
    track_burst(delay);
    if (burst.last) {  // the channel's next descriptor competes for the next burst
      issue_possible_.notify_delta();
      co_await issue_possible_;
    }
  }
}

void MultiChannelDma::begin_burst(DmaChannel& channel) {
  if (config_.arbitration == DmaArbitration::kRoundRobin) {
    next_ = channel.index + 1 == channels_.size() ? 0 : channel.index + 1;
  }
  issuing_ = {channel.transfer.next(), &channel, &channel.accepted.back()};
  issuing_.buffer = take_buffer(issuing_.burst.bytes);
  if (active_++ == 0) busy_since_ = ctx_.clock.now();
  busy_.set(1);
  if (!std::exchange(issuing_.descriptor->started, true)) {
    channel.show();
    if (CommandTrace::TracedCommand* entry = traced(ctx_, issuing_.descriptor->id)) entry->start = ctx_.clock.now();
  }
  channel.counted += config_.counted(issuing_.burst.bytes);
  ++issuing_.descriptor->bursts;
}

// Starts the access of the issue stage's burst over the interconnect. False: it was refused.
bool MultiChannelDma::begin_access(tlm::tlm_command command, std::uint64_t address, sc_core::sc_time& delay) {
  if (free_accesses_.empty()) {
    free_accesses_.push_back(&accesses_.emplace_back(*this));
    if (!ctx_.full_data) accesses_.back().payload.set_extension(new TimingOnlyExtension);  // owned by the payload
  }
  BusAccess* const access = free_accesses_.back();
  free_accesses_.pop_back();
  fill_payload(access->payload, command, address, buffers_[issuing_.buffer].data(), issuing_.burst.bytes);
  if (bus_.begin(access->payload, *access, delay)) {
    if (ctx_.jitter != nullptr) delay += ctx_.jitter->delay(bus_.name());
    free_accesses_.push_back(access);
    return access->payload.is_response_ok();
  }
  issuing_.access = access;
  issuing_.open = true;
  delay = sc_core::SC_ZERO_TIME;
  return true;
}

// Adds the burst to the bursts in flight. It ends after `delay`, or with the response of its target.
void MultiChannelDma::track_burst(sc_core::sc_time delay) {
  bursts += 1;
  if (issuing_.burst.last) {
    issuing_.descriptor->issued = true;
    issuing_.channel->ready = false;
    issuing_.channel->issued.notify_delta();
  }
  issuing_.issued_fs = ctx_.clock.now_fs();
  issuing_.done_cycle = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay);
  if (Activity* const activity = activity_of(ctx_)) {  // reported at its end
    for (const Counter* counter : {&bursts, &read_bytes, &write_bytes}) activity->will_tell(*counter);
  }
  InFlight& entry = in_flight_.emplace_back(issuing_);
  if (entry.access != nullptr) entry.access->burst = &entry;
  counted_ += config_.counted(entry.burst.bytes);
  outstanding_.set(++live_);
  if (retire_possible_.has_waiter()) retire_possible_.notify_delta();
}

// Signals and stall attribution of a DMA channel.
void MultiChannelDma::DmaChannel::show() {
  if (accepted.empty() || !accepted.front().started) return shown.show_none();
  shown.show(accepted.front().descriptor, accepted.front().number);
}

void MultiChannelDma::DmaChannel::settle(std::uint64_t now) {
  const bool is_busy = ready || !accepted.empty();
  if (is_busy == busy) return;
  busy = is_busy;
  if (!busy) busy_cycles += now - busy_since;
  busy_since = now;
  stalls.unit(busy ? StallAttribution::kBusy : StallAttribution::kIdle, now);
}

}  // namespace attnvp
