// Fault codes and the fault log: requests that a model cannot carry out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp {

enum class FaultCode : std::uint32_t {
  kNone = 0,
  kUnmapped = 1,    // no target at that address
  kOutOfRange = 2,  // starts inside a memory, ends outside
  kMisaligned = 3,  // the address belongs to no target
  kZeroSize = 4,
  kOverlap = 5,  // source and destination overlap
  kBadOpcode = 6,
  kBadOperand = 7,  // stride shorter than a row, wrong memory
  kL0TooSmall = 8,
  kBadEvent = 9,
  kBadAccess = 10,   // unknown register or wrong size
  kBadVersion = 11,  // unsupported descriptor version
  kBadType = 12,     // element type that this engine does not support for the operation
  kBadLength = 13,   // wrong descriptor length
  kHostMemory = 14,  // the host has too little memory
};
const char* to_string(FaultCode code);

struct Fault {
  std::string module;
  std::uint64_t cycle = 0;
  FaultCode code = FaultCode::kNone;
  std::uint64_t address = 0;
  std::string detail;  // one clause: the request and what is allowed
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
