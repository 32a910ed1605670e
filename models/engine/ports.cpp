#include "models/engine/ports.h"

#include <algorithm>
#include <cstring>

#include "firmware/hal/registers.h"
#include "models/sim/trace/operation.h"

namespace attnvp {

CommandSignals::CommandSignals(CounterOwner& owner, const std::string& prefix)
    : operation(owner, prefix + "operation", kOperationNames),
      number(owner, prefix + "descriptor", 32),
      head(owner, prefix + "head", 16),
      row_block(owner, prefix + "row_block", 32) {}

void CommandSignals::show(const hal::Descriptor& descriptor, std::uint64_t of_queue) {
  operation.set(static_cast<std::uint64_t>(operation_of(descriptor)));
  number.set(of_queue);
  head.set(descriptor.head);
  row_block.set(descriptor.row_block);
}

void CommandSignals::show_none() {
  operation.set(static_cast<std::uint64_t>(Operation::kNone));
  for (Signal* signal : {&number, &head, &row_block}) signal->set_none();
}

hal::Descriptor CommandQueue::built() const {
  hal::Descriptor d = building_;
  finish(d);
  return d;
}

void CommandQueue::finish(hal::Descriptor& d) const {
  if (d.length < sizeof d) std::memset(reinterpret_cast<unsigned char*>(&d) + d.length, 0, sizeof d - d.length);
  partition_.place(d);
}

bool CommandQueue::push() {
  while (queue_.full()) {
    if (ctx_.faults.any()) return false;
    popped_.wait();
  }
  if (ctx_.faults.any()) return false;
  queue_.push_back(building_);
  finish(queue_.back());
  if (ctx_.steady_state != nullptr) shapes_.push_back(ctx_.signallers.shape_of(queue_.back()));
  ++pushed_count_;
  if (level_signal_ != nullptr) level_signal_->set(queue_.size());
  pushed_.notify_delta();
  return true;
}

void CommandQueue::pop() {
  queue_.pop_front();
  if (level_signal_ != nullptr) level_signal_->set(queue_.size());
  popped_.notify();
}

void CommandQueue::visit_state(sim::StateVisitor& visitor, std::size_t taken) const {
  visitor.value(queue_.size());
  visitor.value(taken);
  const std::size_t shown = std::min(queue_.size() + taken, shapes_.size());
  for (std::size_t i = shapes_.size() - shown; i < shapes_.size(); ++i) visitor.value(shapes_[i]);
  if (queue_.size() + taken > shapes_.capacity()) visitor.value(pushed_count_);  // not all are known: never equal
}

void CommandQueue::reset() {
  queue_.clear();
  shapes_.clear();
  done_ = 0;
  fault_ = FaultCode::kNone;
  fault_address_ = 0;
  building_ = {};
}

void CommandQueue::access(tlm::tlm_generic_payload& payload, std::uint64_t offset) {
  const std::uint64_t bytes = payload.get_data_length();
  unsigned char* data = payload.get_data_ptr();
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  const auto reply = [&](const void* from, std::size_t size) {
    const bool ok = payload.is_read() && bytes == size;
    if (ok) std::memcpy(data, from, size);
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE);
  };

  if (offset < hal::kQueueDoorbell) {
    if (!payload.is_write() || offset + bytes > sizeof building_) {
      payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
      return;
    }
    std::memcpy(reinterpret_cast<unsigned char*>(&building_) + offset, data, bytes);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  } else if (offset == hal::kQueueDoorbell && payload.is_write() && bytes == 4) {
    payload.set_response_status(push() ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  } else if (offset == hal::kQueueLevel) {
    const auto level = static_cast<std::uint32_t>(queue_.size());
    reply(&level, sizeof level);
  } else if (offset == hal::kQueueDone) {
    reply(&done_, sizeof done_);
  } else if (offset == hal::kQueueFault) {
    reply(&fault_, sizeof fault_);
  } else if (offset == hal::kQueueFaultAddress) {
    reply(&fault_address_, sizeof fault_address_);
  } else {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

EventPort::EventPort(const char* name, Context& context, std::uint64_t base, std::uint32_t events)
    : out(name),
      ctx_(context),
      base_(base),
      events_(events),
      take_(context),
      give_(context),
      takes_(take_all()),
      gives_(give_all()) {}

sim::Completion::Awaiter EventPort::begin(EventDirection& side, const hal::Descriptor& descriptor,
                                          CommandTrace::Id id) {
  side.descriptor = &descriptor;
  side.id = id;
  side.done.begin();
  side.requested.release();
  return side.done.end();
}

tlm::tlm_generic_payload& EventPort::access(EventDirection& side, std::uint64_t address, std::uint32_t tokens) {
  side.tokens = tokens;
  side.origin.descriptor = side.id;
  if (side.id != CommandTrace::kNone) side.payload.set_extension(&side.origin);
  fill_payload(side.payload, tlm::TLM_WRITE_COMMAND, address, &side.tokens, sizeof side.tokens);
  return side.payload;
}

sim::Process EventPort::take_all() {
  for (;;) {
    co_await take_.requested;
    for (const hal::EventRef& ref : take_.descriptor->wait) {
      for (std::uint32_t i = 0; ref.tokens() > 0 && i < ref.span(); ++i) {
        const std::uint32_t number = ref.first() + i;
        const std::uint64_t event = base_ + number * hal::kEventStride;
        waiting_ = static_cast<int>(number);
        if (signal_ != nullptr) signal_->set(number);
        if (!co_await take_.access.transport(out, access(take_, event + hal::kEventTake, ref.tokens()))) co_return;
        if (stalls_ != nullptr && stalls_->pends(ctx_.clock.now())) {
          stalls_->resolve(ctx_.signallers.reason_of(event, *take_.descriptor));
        }
      }
    }
    waiting_ = -1;
    if (signal_ != nullptr) signal_->set_none();
    take_.done.complete();
  }
}

sim::Process EventPort::give_all() {
  for (;;) {
    co_await give_.requested;
    for (const hal::EventRef& ref : give_.descriptor->signal) {
      const std::uint32_t remote = &ref == std::end(give_.descriptor->signal) - 1 ? give_.descriptor->remote : 0;
      const std::uint64_t base = remote > 0 ? hal::events_base(remote - 1) : base_;
      for (std::uint32_t i = 0; ref.tokens() > 0 && i < ref.span(); ++i) {
        const std::uint64_t event = base + (ref.first() + i) * hal::kEventStride;
        ctx_.signallers.signalled(event, *give_.descriptor);
        if (!co_await give_.access.transport(out, access(give_, event + hal::kEventSignal, ref.tokens()))) co_return;
      }
    }
    give_.done.complete();
  }
}

void EventPort::visit_state(sim::StateVisitor& visitor) const {
  visitor.value(waiting_);
  for (const EventDirection* side : {&take_, &give_}) {
    visitor.waits(side->requested);
    visitor.waits(side->done);
    side->access.visit_state(visitor);
    if (!side->done.is_done()) visitor.value(side->payload.get_address());
    visitor.value(side->tokens);
  }
}

Refusal EventPort::check(const hal::Descriptor& descriptor) const {
  Refusal refusal = check_header(descriptor);
  const auto missing = [this](const hal::EventRef& ref) {
    return ref.tokens() > 0 && ref.first() + ref.span() > events_;
  };
  for (const auto& refs : {descriptor.wait, descriptor.signal}) {
    if (!refusal.any() && std::any_of(refs, refs + hal::kWaits, missing)) {
      return {FaultCode::kBadEvent, 0, "the descriptor names an event that the event unit does not have"};
    }
  }
  return refusal;
}

}  // namespace attnvp
