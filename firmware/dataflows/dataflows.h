// The dataflows there are: one scheduler program each, in a file of its own.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

struct DataflowOption {
  const char* name;
  const char* const* values;  // nullptr-terminated; the first one is the default
  const char* description;
};

enum Trait : unsigned {
  kRagged = 1,   // takes batches with contexts of different lengths
  kOnePass = 2,  // softmax in one pass over tiles of nkv keys, which rounds otherwise than softmax of whole rows,
  kMerged = 4,   //   of several pieces of a row, merged
  kTakesNp = 8,  // scores may cross DRAM in tiles, softmax taking N_P rows at a time
};

struct Dataflow {
  const char* name;
  const char* description;
  const DataflowOption* options;  // ends with name == nullptr; nullptr for none
  hal::Scores scores;             // which of C and P need DRAM space
  // Runs the job to its end and returns the tiling it used; failures are in the runtime's status.
  hal::Tiling (*run)(Runtime& rt);
  unsigned traits = 0;
  bool is(Trait trait) const { return (traits & trait) != 0; }
};

extern const Dataflow kLayerwise;
extern const Dataflow kSoftpipe;
extern const Dataflow kFlat;
extern const Dataflow kTileflow;
extern const Dataflow kMas;
extern const Dataflow kFusemax;
extern const Dataflow kCascade;
extern const Dataflow kLean;
extern const Dataflow kFlashDecoding;
extern const Dataflow kFlash2;

// All of them, nullptr-terminated.
extern const Dataflow* const kDataflows[];
const Dataflow* find_dataflow(const char* name);

// The firmware's entry: reads the job block, runs it, writes the status.
void boot(hal::Cpu& cpu, uint32_t cluster);

}  // namespace attnvp::firmware
