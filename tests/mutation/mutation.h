// One mistake in one command of a schedule: an event or an address dropped, weakened, or another one's.
#pragma once

#include <string>

#include "platform/schedule/bus.h"
#include "tests/platform/random_jobs.h"

namespace attnvp::mutation {

struct Place {  // of a command, or of what the processor itself takes or gives
  std::uint32_t cluster = 0;
  schedule::Queue queue;
  std::uint64_t number = 0;  // in its queue, or among those of the processor, from 1
  bool processor = false;
};

struct Mutation {
  enum class What : std::uint8_t {
    kDropWait,
    kDropSignal,
    kWeakenWait,
    kWeakenSignal,
    kOtherWait,
    kOtherSignal,
    kOldWait,  // as of the command before in the queue
    kOldSignal,
    kAddress,      // of an operand: moved by a few rows
    kOldAddress,   // as of the command before in the queue
    kSwapOperands  // the first two operands' addresses
  };
  Place place;
  What what{};
  int slot = 0;
  std::int64_t by = 0;
  std::uint64_t address = 0;  // as of the command before
  hal::EventRef event{0};     // likewise

  void apply(hal::Descriptor& command) const;
  bool is_at(std::uint32_t cluster, const schedule::Queue& queue, std::uint64_t number) const {
    return !place.processor && place.cluster == cluster && place.queue.unit == queue.unit &&
           place.queue.index == queue.index && place.number == number;
  }
  // Of the processor's take or give, as far as it is that.
  void apply(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& of, std::uint32_t& tokens) const;
  bool is_of_operand() const { return what >= What::kAddress; }  // not of an event
  std::string text() const;
};

const char* to_string(Mutation::What what);

struct Recorded {
  Place place;
  hal::Descriptor command;  // of the processor: a nop that waits or signals likewise
  hal::Descriptor before;   // in its queue; a nop: none
};

hal::Descriptor nop_of(bool take, std::uint32_t event, std::uint32_t tokens);

// A mutation of one of these commands that changes it; false where the dice found none.
bool random_mutation(runs::Random& dice, const std::vector<Recorded>& commands, Mutation& mutation);

}  // namespace attnvp::mutation
