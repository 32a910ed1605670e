// Declaration of a dataflow: name, options, parameters and statistics as constant data beside its program. Option
// checks, `describe`, tile size selection, the search space and sweep columns use it. Declarations are linked into an
// ELF section, natively and on RISC-V. boot() runs one of them.
#pragma once

#include <cstdint>

#include "firmware/hal/cpu.h"
#include "firmware/hal/job.h"

namespace attnvp::firmware {

// Purpose of an L1 allocation: tags of this firmware (hal::kL1TagShift) and their names in waveforms and pages.
// Hardware does not interpret them.
enum class L1Region : std::uint8_t { kOther, kQ, kK, kV, kScores, kO, kPartials };
constexpr const char* kL1RegionNames[] = {"other", "q", "k", "v", "scores", "o", "partials"};

class Runtime;

struct DataflowOption {
  const char* name;
  const char* const* values;  // nullptr-terminated; the first one is the default
  const char* description;
};

// Upper bound of a parameter: a count (`most`), an extent of the layer (kDepth: matmul depth, i.e. the embedding), or
// the row blocks (nq rows) of a head per core (kBlocks).
enum class Extent : std::uint8_t { kCount, kBatch, kHeads, kQueries, kKeys, kBlocks, kDepth };
// Values of a parameter are preferably multiples of its grain: one, or the rows or columns of the MAC array.
enum class Grain : std::uint8_t { kOne, kArrayRows, kArrayColumns };

// Name of a parameter value.
struct NamedValue {
  const char* name;
  const char* meaning;
  unsigned traits = 0;         // traits of the dataflow with this value
  const char* same = nullptr;  // dataflow that issues the same commands for the same other values
};

// A tunable number of a schedule: a tile size or a buffer count.
struct Parameter {
  const char* name;
  const char* meaning;
  Extent extent = Extent::kCount;
  Grain grain = Grain::kOne;
  std::uint32_t most = 1;      // for kCount: the largest value
  const char* none = nullptr;  // name of hal::kWord if it is a legal value
  // For counts: candidate multiples of the grain, the most promising first, terminated by 0. For kBlocks: candidates in
  // addition to even shares.
  std::uint32_t tries[8] = {1};
  bool in_command = false;            // affects how a command executes, not the sequence of commands
  std::uint32_t guess = 0;            // initial grains of a row extent; 0: two for queries, an eighth of the keys
  const NamedValue* named = nullptr;  // for counts: names of the values 1, 2, ...; ends with name == nullptr
};

// A number that firmware reports at the end of a job, summed over clusters. A dot in the name is a level in the report.
struct Statistic {
  const char* name;
  const char* meaning;
};

enum Trait : unsigned {
  kRagged = 1,      // supports batches with different context lengths
  kOnePass = 2,     // one-pass softmax over tiles of nkv keys; its rounding differs from softmax of whole rows
  kMerged = 4,      // merges several pieces of a row
  kChain = 8,       // supports layers without softmax
  kOnlyChain = 16,  // supports only layers without softmax
  kOneStep = 32,    // executes a single step of a layer and does not produce O
  kPacked = 64,     // uses its own tensor layout in DRAM, so that values are not checked
  kRowStep = 128,   // the step is defined by hal::RowStep
  kHeterogeneousCores = 256,  // supports cores of different speed
};

struct Dataflow {
  const char* name;
  const char* description;
  void (*run)(Runtime& rt);                 // runs the job to its end; failures are reported in the runtime's status
  const Parameter* const* parameters;       // nullptr-terminated, at most hal::kMaxParameters
  const DataflowOption* options = nullptr;  // ends with name == nullptr; nullptr: none; at most hal::kMaxOptions
  const Statistic* statistics = nullptr;    // ends with name == nullptr; nullptr: none; at most hal::kMaxStatistics
  hal::Scores scores = hal::kScoresOnChip;  // which of C and P need DRAM space
  unsigned traits = 0;
  bool is(Trait trait) const { return (traits & trait) != 0; }
};

// Registers a dataflow: the linker collects the entries of the section.
#define ATTNVP_DATAFLOW(dataflow)                                                                                \
  __attribute__((section("attnvp_dataflows"), used)) const ::attnvp::firmware::Dataflow* const dataflow##Entry = \
      &(dataflow)

// All registered dataflows, in link order.
struct Dataflows {
  const Dataflow* const* first;
  const Dataflow* const* last;
  const Dataflow* const* begin() const { return first; }
  const Dataflow* const* end() const { return last; }
};
Dataflows dataflows();
const Dataflow* find_dataflow(const char* name);  // nullptr if unknown

// Entry point of the firmware: reads the job block, runs its dataflow, writes the status.
void boot(hal::Cpu& cpu, std::uint32_t cluster);

}  // namespace attnvp::firmware
