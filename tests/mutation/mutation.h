// Mutation of one command of a schedule: an event or address is dropped, weakened or replaced.
#pragma once

#include <string>

#include "platform/schedule/bus.h"
#include "tests/platform/random_jobs.h"

namespace attnvp::mutation {

struct Site {  // position of a command, or of a token access of the processor
  std::uint32_t cluster = 0;
  schedule::Queue queue;
  std::uint64_t number = 0;  // in its queue, or among the processor's accesses, from 1
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
    kOldWait,  // of the previous command in the queue
    kOldSignal,
    kAddress,      // moves an operand by a few rows
    kOldAddress,   // of the previous command in the queue
    kSwapOperands  // addresses of the first two operands
  };
  Site place;
  What what{};
  int slot = 0;
  std::int64_t by = 0;
  std::uint64_t address = 0;  // of the previous command
  hal::EventRef event{0};     // of the previous command

  void apply(hal::Descriptor& command) const;
  bool is_at(std::uint32_t cluster, const schedule::Queue& queue, std::uint64_t number) const {
    return !place.processor && place.cluster == cluster && place.queue.unit == queue.unit &&
           place.queue.index == queue.index && place.number == number;
  }
  // Applies to a token access of the processor.
  void apply(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& of, std::uint32_t& tokens) const;
  bool is_of_operand() const { return what >= What::kAddress; }  // else of an event
  std::string text() const;
};

const char* to_string(Mutation::What what);

struct Recorded {
  Site place;
  hal::Descriptor command;  // for the processor: a nop that waits or signals
  hal::Descriptor before;   // previous in its queue; a nop: none
};

hal::Descriptor nop_of(bool take, std::uint32_t event, std::uint32_t tokens);

// Random mutation that changes one of the commands; false if none was found.
bool random_mutation(runs::Random& dice, const std::vector<Recorded>& commands, Mutation& mutation);

}  // namespace attnvp::mutation
