// One mistake in one command of a schedule: an event or an address dropped, weakened, or another one's.
#pragma once

#include <string>

#include "mapping/bus.h"
#include "tests/platform/random_jobs.h"

namespace attnvp::mutation {

struct Place {  // of a command
  std::uint32_t cluster = 0;
  mapping::Queue queue;
  std::uint64_t number = 0;  // in its queue, from 1
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
  bool is_at(std::uint32_t cluster, const mapping::Queue& queue, std::uint64_t number) const {
    return place.cluster == cluster && place.queue.unit == queue.unit && place.queue.index == queue.index &&
           place.number == number;
  }
  bool is_of_operand() const { return what >= What::kAddress; }  // not of an event
  std::string text() const;
};

const char* to_string(Mutation::What what);

struct Recorded {
  Place place;
  hal::Descriptor command;
  hal::Descriptor before;  // in its queue; a nop: none
};

// A mutation of one of these commands that changes it; false where the dice found none.
bool random_mutation(runs::Random& dice, const std::vector<Recorded>& commands, Mutation& mutation);

}  // namespace attnvp::mutation
