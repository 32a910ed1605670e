// On the host a firmware's Cpu is an object that answers its bus accesses: the control processor's model, or a reader
// of the command stream that simulates nothing (platform/schedule).
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
