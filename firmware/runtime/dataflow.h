// What a dataflow says of itself: one declaration beside its program. Option checking, `describe`, the choice of tile
// sizes, the search's space and the columns of sweeps come from here. A declaration is data: on a RISC-V it lies in a
// section of the ELF, as it does natively.
#pragma once

#include <cstdint>

#include "firmware/hal/job.h"

namespace attnvp::firmware {

class Runtime;

struct DataflowOption {
  const char* name;
  const char* const* values;  // nullptr-terminated; the first one is the default
  const char* description;
};

// The largest value of a parameter: a count (`most`), an extent of the layer (kDepth: of a matmul, the embedding), or
// as many blocks of nq rows as a core has of a head.
enum class Extent : std::uint8_t { kCount, kBatch, kHeads, kQueries, kKeys, kBlocks, kDepth };
// Values worth trying are multiples of it, where the extent allows: one, rows or columns of the MAC array.
enum class Grain : std::uint8_t { kOne, kArrayRows, kArrayColumns };

// A value of a parameter that has names in the place of numbers.
struct NamedValue {
  const char* name;
  const char* meaning;
  unsigned traits = 0;         // of the dataflow, with this value
  const char* same = nullptr;  // another dataflow that makes the same commands of the same values
};

// A number that a schedule leaves open: a tile size, how many buffers there are of a kind.
struct Parameter {
  const char* name;
  const char* meaning;
  Extent extent = Extent::kCount;
  Grain grain = Grain::kOne;
  std::uint32_t most = 1;      // of a count
  const char* none = nullptr;  // the word for hal::kWord, where that is a value
  // Of a count: multiples of the grain worth trying, the likeliest first; 0 ends them. Of blocks: beside even shares.
  std::uint32_t tries[8] = {1};
  bool in_command = false;  // it changes how a command is done, not which commands there are
  std::uint32_t guess = 0;  // of an extent of rows: grains to begin with; 0: two of queries, an eighth of the keys
  const NamedValue* named = nullptr;  // of a count: the names of 1, 2, ...; ends with name == nullptr
};

// A number that firmware reports at its end; a dot in the name is a level in the report. Summed over the clusters.
struct Statistic {
  const char* name;
  const char* meaning;
};

enum Trait : unsigned {
  kRagged = 1,      // takes batches with contexts of different lengths
  kOnePass = 2,     // softmax in one pass over tiles of nkv keys, which rounds otherwise than softmax of whole rows,
  kMerged = 4,      //   of several pieces of a row, merged
  kChain = 8,       // takes layers without softmax,
  kOnlyChain = 16,  //   and no others
  kOneStep = 32,    // is one step of a layer only: O is not made
  kPacked = 64,     // its tensors in DRAM are in an order of its own, so that values are not checked
  kRowStep = 128,   // that step is what hal::RowStep says
  kHeterogeneousCores = 256,  // takes cores that are not equally fast
};

struct Dataflow {
  const char* name;
  const char* description;
  void (*run)(Runtime& rt);                 // runs the job to its end; failures are in the runtime's status
  const Parameter* const* parameters;       // nullptr-terminated, hal::kMaxParameters at most
  const DataflowOption* options = nullptr;  // ends with name == nullptr; nullptr for none; hal::kMaxOptions at most
  const Statistic* statistics = nullptr;    // ends with name == nullptr; nullptr for none; hal::kMaxStatistics at most
  hal::Scores scores = hal::kScoresOnChip;  // which of C and P need DRAM space
  unsigned traits = 0;
  bool is(Trait trait) const { return (traits & trait) != 0; }
};

// Adds a dataflow to those there are: the linker collects the section's entries.
#define ATTNVP_DATAFLOW(dataflow)                                                                                \
  __attribute__((section("attnvp_dataflows"), used)) const ::attnvp::firmware::Dataflow* const dataflow##Entry = \
      &(dataflow)

// All of them, in the order of the build list.
struct Dataflows {
  const Dataflow* const* first;
  const Dataflow* const* last;
  const Dataflow* const* begin() const { return first; }
  const Dataflow* const* end() const { return last; }
};
Dataflows dataflows();
const Dataflow* find_dataflow(const char* name);  // nullptr: there is none

}  // namespace attnvp::firmware
