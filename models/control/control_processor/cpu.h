// Host implementation of firmware's Cpu: an object that answers bus accesses. It is the control processor's model or a
// reader of a schedule without simulation (platform/schedule).
#pragma once

#include "firmware/hal/cpu.h"

class attnvp::hal::Cpu {
 public:
  Cpu() = default;
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;
  virtual bool read(std::uint64_t address, void* data, std::size_t bytes) = 0;
  virtual bool write(std::uint64_t address, const void* data, std::size_t bytes) = 0;

 protected:
  ~Cpu() = default;
};
