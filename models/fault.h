// Faults: what a model reports when it is asked for something it cannot do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp {

enum class FaultCode : std::uint32_t {
  kNone = 0,
  kUnmapped = 1,    // no target at that address
  kOutOfRange = 2,  // starts inside a memory, ends outside
  kMisaligned = 3,  // FP16 data at an odd address or stride
  kZeroSize = 4,
  kOverlap = 5,  // source and destination overlap
  kBadOpcode = 6,
  kBadOperand = 7,  // stride shorter than a row, wrong memory
  kL0TooSmall = 8,
  kBadEvent = 9,
  kBadAccess = 10,   // no such register, or wrong size
  kBadVersion = 11,  // of a descriptor
  kBadType = 12,     // of an operand's elements, for that operation on that engine
  kBadLength = 13,   // of a descriptor
  kHostMemory = 14,  // the host has not enough for it
};
const char* to_string(FaultCode code);

struct Fault {
  std::string module;
  std::uint64_t cycle = 0;
  FaultCode code = FaultCode::kNone;
  std::uint64_t address = 0;
  std::string detail;  // one clause: what was asked, what is allowed
};
// "attnvp.cluster0.core1.mac: <detail> (address 0x..., cycle ...)"
std::string to_sentence(const Fault& fault);

class FaultLog {
 public:
  void report(Fault fault) { faults_.push_back(std::move(fault)); }
  const std::vector<Fault>& faults() const { return faults_; }
  bool any() const { return !faults_.empty(); }
  void clear() { faults_.clear(); }

 private:
  std::vector<Fault> faults_;
};

}  // namespace attnvp
