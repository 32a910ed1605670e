// Interface of Verilated blocks: a clock, and wires to observe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attnvp::rtl {

class RtlBlock {
 public:
  struct Wire {
    std::string path;  // dotted, below the block
    unsigned bits;
  };
  using Change = std::function<void(std::size_t wire, std::uint64_t value)>;

  virtual ~RtlBlock() = default;
  virtual void rise() = 0;
  virtual void fall() = 0;

  // Wires of at most 64 bits.
  virtual const std::vector<Wire>& wires() const = 0;
  // Reports all changes since the last call; the first call reports all wires.
  virtual void changes(const Change& change) = 0;
};

}  // namespace attnvp::rtl
