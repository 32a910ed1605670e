// Queues whose commands take no time: each goes as soon as it has its tokens. How many still wait in a queue is what
// firmware is told of a machine whose engines and buses keep up with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapping/recording.h"

namespace attnvp::mapping {

class Untimed {
 public:
  explicit Untimed(const Recording& recording) : r_(recording) {}

  void push(const Queue& queue, std::uint32_t command) {
    Line& l = line_of(queue);
    if (l.next == l.commands.size()) l.commands.clear(), l.next = 0;
    l.commands.push_back(command);
    stirred_ = true;
  }
  void give(std::uint32_t event, std::uint32_t tokens) {
    tokens_of(event) += tokens;
    stirred_ = true;
  }
  // By the processor, which waits until they are there: those of other clusters are.
  void take(std::uint32_t event, std::uint32_t tokens) {
    run();
    std::uint32_t& there = tokens_of(event);
    by_others_ = by_others_ || there < tokens;
    there -= there < tokens ? there : tokens;
  }
  std::uint32_t waiting(const Queue& queue) {
    run();
    const Line& l = line_of(queue);
    return static_cast<std::uint32_t>(l.commands.size() - l.next);
  }
  // Whether all commands have gone, and nothing has waited for what is not in the stream.
  bool by_itself() {
    run();
    return !by_others_ &&
           std::all_of(lines_.begin(), lines_.end(), [](const Line& l) { return l.next == l.commands.size(); });
  }

 private:
  struct Line {
    std::vector<std::uint32_t> commands;  // of the recording; those before `next` are gone
    std::size_t next = 0;
    std::uint32_t wait = 0, within = 0;  // tokens that the next one has taken
  };
  Line& line_of(const Queue& queue) {
    const std::size_t at = std::size_t{queue.index} * 3 + static_cast<std::size_t>(queue.unit);
    if (at >= lines_.size()) lines_.resize(at + 1);
    return lines_[at];
  }
  std::uint32_t& tokens_of(std::uint32_t event) {
    if (event >= tokens_.size()) tokens_.resize(event + 1);
    return tokens_[event];
  }
  void run();
  bool take(Line& line, const Recording::Command& command);

  const Recording& r_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> tokens_;  // of each event
  bool stirred_ = false, by_others_ = false;
};

}  // namespace attnvp::mapping
