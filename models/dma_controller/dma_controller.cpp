#include "models/dma_controller/dma_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"
#include "models/dma_controller/copy_check.h"
#include "models/trace/activity.h"
#include "models/trace/operation.h"

namespace attnvp {

namespace {
enum State : std::uint64_t { kIdle, kWaitEvent, kTransfer, kFault };
const char* const kStateNames[] = {"idle", "wait_event", "transfer", "fault", nullptr};
}  // namespace

DmaController::Channel::Channel(DmaController& dma, std::uint32_t i)
    : owner(dma),
      index(i),
      front(dma.ctx_.agenda, Call::of<&Channel::take_up>(this)),
      next(dma.ctx_.agenda, Call::of<&Channel::go_on>(this)),
      queue(dma.ctx_, dma.config_.queue_depth, dma.place_.partition, front),
      events(fmt::format("events{}", i).c_str(), dma.ctx_, dma.place_.events_base, dma.place_.events,
             Call::of<&Channel::taken>(this), Call::of<&Channel::given>(this)),
      ages(owner.config_.queue_depth),
      state(owner, fmt::format("channel{}.state", i), kStateNames),
      operation(owner, fmt::format("channel{}.operation", i), kOperationNames),
      number(owner, fmt::format("channel{}.descriptor", i), 32),
      head(owner, fmt::format("channel{}.head", i), 16),
      row_block(owner, fmt::format("channel{}.row_block", i), 32),
      waits_for(owner, fmt::format("channel{}.waits_for_event", i), 12),
      level(owner, fmt::format("channel{}.queue_level", i), 16) {
  for (Signal* s : {&state, &operation, &number, &head, &row_block, &waits_for, &level}) s->sparse();  // if unused
  queue.show_level_in(&level);
  events.show_waiting_in(&waits_for);
}

DmaController::DmaController(sc_core::sc_module_name name, Context& context, const DmaConfig& config,
                             const Place& place)
    : Module(name, context),
      config_(config),
      most_counted_(config.most_counted()),
      most_of_a_channel_(config.most_of_a_channel()),
      place_(place),
      buffers_(config.outstanding, std::vector<unsigned char>(config.burst_bytes)),
      free_buffers_(config.outstanding),
      issue_(ctx_.agenda, Call::of<&DmaController::issue>(this)),
      retire_(ctx_.agenda, Call::of<&DmaController::retire>(this)),
      write_(ctx_.agenda, Call::of<&DmaController::arrived>(this)),
      l1_read_(ctx_, Call::of<&DmaController::read_own_l1>(this)),
      write_access_(ctx_, Call::of<&DmaController::written>(this)) {
  std::iota(free_buffers_.rbegin(), free_buffers_.rend(), std::size_t{0});
  control.register_b_transport(this, &DmaController::control_transport);
  control.register_transport_dbg(this, &DmaController::control_peek);
  for (std::uint32_t i = 0; i < config.channels; ++i) {
    channels_.push_back(std::make_unique<Channel>(*this, i));
    Channel* channel = channels_.back().get();
    channel->events.account_in([this, channel](std::uint64_t event, const hal::Descriptor& descriptor) {
      if (channel->account.pends(ctx_.clock.now())) channel->account.resolve(ctx_.givers.cause(event, descriptor));
    });
  }
  if (!context.full_data) {
    for (auto* payload : {&issue_payload_, &l1_payload_, &write_payload_}) {
      payload->set_extension(new TimingOnlyExtension);  // the payload owns it
    }
  }
  issue_payload_.set_extension(&completion_);  // targets on the bus may say later when they are done
  l1_read_.attach_to(l1_payload_);
  write_access_.attach_to(write_payload_);
}

void DmaController::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - place_.control_base;
  const std::uint64_t channel = offset / hal::kQueueStride;
  if (!CommandQueue::builds(payload, offset % hal::kQueueStride)) arrive(ctx_.agenda, delay);
  if (channel >= channels_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  CommandQueue& queue = channels_[channel]->queue;
  const std::size_t level = queue.pushed_count();
  queue.access(payload, offset % hal::kQueueStride);
  if (queue.pushed_count() != level) channels_[channel]->ages.push_back(++doorbells_);
}

// Reading registers has no effects.
unsigned DmaController::control_peek(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = payload.get_address() - place_.control_base, channel = offset / hal::kQueueStride;
  if (!payload.is_read() || channel >= channels_.size()) return 0;
  channels_[channel]->queue.access(payload, offset % hal::kQueueStride);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

std::string DmaController::waiting_for() const {
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

void DmaController::reset() {
  for (auto& c : channels_) {
    c->queue.reset();
    c->ages.clear();
    c->taken_up = 0;
    c->account.reset(ctx_.clock.now());
    c->busy = false;
    c->busy_cycles = c->bytes = 0;
    c->waits_for.set_none();
    c->under_way.clear();
    c->show();
  }
  next_ = 0;
  doorbells_ = 0;
}

std::vector<Ledger> DmaController::ledgers() const {
  std::vector<Ledger> all;
  for (const auto& c : channels_) {
    all.push_back({fmt::format("channel{}", c->index), c->busy_cycles, 0, 0, 0, c->bytes, c->account.lines()});
  }
  return all;
}

void DmaController::stop_with(Channel& channel, FaultCode code, std::uint64_t address, std::string detail) {
  channel.queue.set_fault(code, address);
  channel.state.set(kFault);
  fault(code, address, fmt::format("channel {}: {}", channel.index, detail));
}

bool DmaController::own_l1(const hal::Operand& operand) const {
  return place_.map->holds(place_.map->find(place_.l1_base), operand.address);
}

void DmaController::front(Channel& channel) {
  if (channel.presenting || channel.queue.empty()) return;
  channel.presenting = true;
  const hal::Descriptor& d = channel.queue.front();
  channel.state.set(kWaitEvent);
  channel.account.waits({Cause::kPending}, ctx_.clock.now());
  ++channel.taken_up;
  channel.id = ctx_.journal == nullptr
                   ? Journal::kNobody
                   : ctx_.journal->open(fmt::format("{}.channel{}", name(), channel.index), d, ctx_.clock.now());
  Refusal refusal = check_header(d);
  if (!refusal.any()) refusal = channel.events.check(d);
  if (refusal.any()) return stop_with(channel, refusal.code, refusal.address, std::move(refusal.detail));
  if (channel.events.take(d, channel.id)) taken(channel);
}

void DmaController::taken(Channel& channel) {
  const hal::Descriptor& d = channel.queue.front();
  if (ctx_.journal != nullptr && channel.id != Journal::kNobody) ctx_.journal->of(channel.id).ready = ctx_.clock.now();
  if (d.opcode == hal::Opcode::kNop) {
    channel.account.waits({Cause::kDrain}, ctx_.clock.now());
    channel.nop = true;
    return end_nop(channel);
  }
  if (d.opcode != hal::Opcode::kCopy) {
    return stop_with(channel, FaultCode::kBadOpcode, 0,
                     fmt::format("a DMA controller has no opcode {}", static_cast<int>(d.opcode)));
  }
  Refusal refusal = check_copy(d, *place_.map, place_.l1_base);
  if (refusal.any()) return stop_with(channel, refusal.code, refusal.address, std::move(refusal.detail));
  channel.state.set(kTransfer);
  channel.current = d;
  channel.from_l1 = own_l1(d.operand[0]);
  channel.to_l1 = own_l1(d.operand[1]);
  channel.forwarded = (d.flags & hal::kForwarded) != 0;
  channel.transfer = Transfer(d, config_.burst_bytes);
  channel.ready = true;
  channel.bytes += d.row_bytes(0) * d.rows * d.tail.copy.planes;
  channel.settle(ctx_.clock.now());
  channel.started = false;
  channel.deferrable = (d.flags & hal::kDeferrable) != 0;
  channel.age = channel.ages.front();
  channel.ages.pop_front();
  channel.queue.pop();
  issue_.soon();
}

void DmaController::next(Channel& channel) {
  channel.presenting = false;
  channel.state.set(kIdle);
  channel.account.waits({Cause::kProcessor}, ctx_.clock.now());
  front(channel);
}

// Once those before it have ended.
void DmaController::end_nop(Channel& channel) {
  if (!channel.nop || !channel.ending.empty()) return;
  channel.current = channel.queue.front();
  channel.ages.pop_front();
  channel.queue.pop();
  if (channel.events.give(channel.current, channel.id)) given(channel);
}

DmaController::Channel* DmaController::choose() {
  const auto n = static_cast<std::uint32_t>(channels_.size());
  const auto can_go = [this](const Channel& c) { return c.ready && c.counted < most_of_a_channel_; };
  if (config_.arbitration == DmaArbitration::kAge) {
    Channel* oldest = nullptr;
    for (const auto& c : channels_) {
      if (!can_go(*c)) continue;
      if (oldest == nullptr || std::tie(c->deferrable, c->age) < std::tie(oldest->deferrable, oldest->age)) {
        oldest = c.get();
      }
    }
    return oldest;
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t c = config_.arbitration == DmaArbitration::kPriority ? i : next_ + i;
    if (c >= n) c -= n;
    if (!can_go(*channels_[c])) continue;
    return channels_[c].get();
  }
  return nullptr;
}

std::size_t DmaController::take_buffer(std::uint64_t bytes) {
  if (free_buffers_.empty()) {  // of short bursts there may be more
    free_buffers_.push_back(buffers_.size());
    buffers_.emplace_back();
  }
  const std::size_t buffer = free_buffers_.back();
  free_buffers_.pop_back();
  if (buffers_[buffer].size() < bytes) buffers_[buffer].resize(bytes);
  return buffer;
}

// The channel's next burst.
void DmaController::send(Channel& channel) {
  if (config_.arbitration == DmaArbitration::kRoundRobin) {
    next_ = channel.index + 1 == channels_.size() ? 0 : channel.index + 1;
  }
  sending_ = &channel;
  burst_ = channel.transfer.next();
  buffer_ = take_buffer(burst_.bytes);
  unsigned char* const data = buffers_[buffer_].data();
  if (active_++ == 0) busy_since_ = ctx_.clock.now();
  busy_.set(1);
  if (!channel.started) {
    channel.started = true;
    channel.begun();
    channel.ending.push_back({channel.current, channel.id, 0, false});
    if (ctx_.journal != nullptr && channel.id != Journal::kNobody)
      ctx_.journal->of(channel.id).start = ctx_.clock.now();
  }
  channel.counted += config_.counted(burst_.bytes);
  ++channel.ending.back().bursts;

  if (channel.from_l1) {
    fill_payload(l1_payload_, tlm::TLM_READ_COMMAND, burst_.source, data, burst_.bytes);
    if (channel.forwarded) {
      sent(!ctx_.full_data || l1->transport_dbg(l1_payload_) == burst_.bytes, sc_core::SC_ZERO_TIME);
    } else if (l1_read_.begin(l1, l1_payload_)) {
      sent(l1_read_.ok(), sc_core::SC_ZERO_TIME);
    }
    return;
  }
  read_bytes += burst_.bytes;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  fill_payload(issue_payload_, tlm::TLM_READ_COMMAND, burst_.source, data, burst_.bytes);
  completion_.ticket = tickets_;
  completion_.deferred = false;
  const bool ok = request(bus, issue_payload_, delay);
  sent(ok, delay);
}

void DmaController::read_own_l1() {
  const bool last = burst_.last;
  sent(l1_read_.ok(), sc_core::SC_ZERO_TIME);
  last ? issue_.soon() : issue();
}

// It is read, or will be after `delay`, or when its target says. What comes out of the own L1 goes on at once.
void DmaController::sent(bool ok, sc_core::sc_time delay) {
  Channel& channel = *std::exchange(sending_, nullptr);
  const bool written = channel.from_l1 && !channel.to_l1;
  if (channel.from_l1) completion_.deferred = false;
  if (ok && written) {
    fill_payload(issue_payload_, tlm::TLM_WRITE_COMMAND, burst_.destination, buffers_[buffer_].data(), burst_.bytes);
    write_bytes += burst_.bytes;
    completion_.ticket = tickets_;
    ok = request(bus, issue_payload_, delay);
  }
  if (!ok) {
    stopped_ = true;
    return stop_with(channel, FaultCode::kUnmapped, burst_.source, kRefused);
  }
  bursts += 1;
  ++tickets_;
  Channel::Ending& descriptor = channel.ending.back();
  if (burst_.last) {
    descriptor.issued = true;
    channel.ready = false;
    channel.next.soon();
  }
  InFlight& entry = in_flight_.emplace_back();
  entry.destination = burst_.destination;
  entry.bytes = burst_.bytes;
  entry.channel = &channel;
  entry.descriptor = &descriptor;
  entry.to_l1 = channel.to_l1;
  entry.written = written;
  entry.from_l1 = channel.from_l1;
  entry.issued_fs = ctx_.clock.now_fs();
  if (Activity* const activity = activity_of(ctx_)) {  // once it has ended
    for (const Counter* counter : {&bursts, &read_bytes, &write_bytes}) activity->will_tell(*counter);
  }
  entry.open = completion_.deferred;
  entry.more_cycles = ctx_.clock.ceil_cycles(delay);
  entry.done_cycle = ctx_.clock.now() + entry.more_cycles;
  entry.buffer = buffer_;
  counted_ += config_.counted(burst_.bytes);
  outstanding_.set(++live_);
  if (retiring_ == nullptr) retire_.soon();
}

void DmaController::issue() {
  while (sending_ == nullptr && !stopped_ && !full()) {
    Channel* const channel = choose();
    if (channel == nullptr) return;
    const bool last = channel->transfer.at_last();
    send(*channel);
    // Its channel's next descriptor competes for the next burst.
    if (last && sending_ == nullptr) return issue_.soon();
  }
}

}  // namespace attnvp
