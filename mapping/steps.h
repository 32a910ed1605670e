// From one schedule of a dataflow to those next to it: one or two values changed, others giving way where that does not
// fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "mapping/judge.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

// A schedule that is gone on from, or where that led.
struct Start {
  double merit = kNever;
  Words words;
  bool operator<(const Start& other) const { return merit < other.merit; }
};

class Steps {
 public:
  // What the job's block has for parameters stays; 0 is open.
  Steps(const Job& job, const firmware::Dataflow& dataflow, Judge& judge);

  std::size_t count() const { return count_; }  // parameters
  const Words& given() const { return given_; }
  const firmware::Parameter& parameter(std::size_t i) const { return *dataflow_.parameters[i]; }
  bool open(std::size_t i) const { return given_[i] == 0; }
  int nq_index() const { return nq_; }  // negative: there is none
  std::uint32_t nq(const Words& words) const { return nq_ < 0 ? 1 : words[static_cast<std::size_t>(nq_)]; }
  // Worth trying for a parameter beside the others' values, ascending, without the word.
  std::vector<std::uint32_t> values(std::size_t i, const Words& words) const;

  // None of what is given, or a word.
  std::vector<std::uint32_t> open_values(std::size_t i, const Words& words) const {
    return open(i) && words[i] != hal::kWord ? values(i, words) : std::vector<std::uint32_t>();
  }

  // Smaller values of what is not `fixed`, one at a time, whichever helps most. False: it does not fit.
  bool shrink(Words& words, const Words& fixed);
  // What does not fit makes others give way. False: it does not fit at all.
  bool with_value(Words& words, std::size_t i, std::uint32_t value);
  // That fit, and are others: with any counts of buffers and steps; with any size of row blocks, and so many of them
  // that there are as many rows in all; with tiles of other shapes, and as many row blocks as there is room for then.
  using Visit = std::function<void(const Words&)>;
  void each_count(const Words& words, const Visit& visit);
  void each_split(const Words& words, const Visit& visit);
  void each_shape(const Words& words, const Visit& visit);
  // Parameter by parameter, of each the neighbours, as long as they are better. Where that ends.
  Start follow(Words words);
  // Twice the keys of a tile again and again, as long as that is better.
  Start with_more_keys(Start start);
  // As many blocks of rows at a time as there is room for, where what streams past them comes the less often for it.
  Words roomy(Words words);

 private:
  // Of which memory's room that parameter's values are, and one of them may have more for less of another.
  enum class Room : std::uint8_t { kNone, kL0, kL1 };
  Room room(std::size_t i, const Words& words) const;
  // Whether there may be less of j for more of i.
  bool gives_way(std::size_t j, std::size_t i, const Words& words) const;
  Words fixed_words(const Words& words) const;  // what is given, and words in place of numbers
  // The least of a parameter's values that is no less; what it has, where there is none.
  std::uint32_t nearest(std::size_t i, const Words& words, std::uint32_t value) const;
  // Blocks of rows, neither of them given.
  bool blocks_of_rows(std::size_t j, const Words& words) const;
  // What no step by itself comes by: twice the rows of a block (`up`, otherwise half of them) in half as many blocks,
  // with any count of steps, and with other buffers. Whether any was taken.
  using Take = std::function<bool(const Words&)>;
  bool exchange(std::size_t i, std::size_t j, bool up, Words words, const Take& take);

  const Job& job_;
  const firmware::Dataflow& dataflow_;
  Judge& judge_;
  std::size_t count_ = 0;
  int nq_ = -1;
  bool deep_ = false;  // a product's three extents share L1
  Words given_;
};

}  // namespace attnvp::mapping
