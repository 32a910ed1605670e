// The command stream as text, one line a command, as a disassembly reads: its queue, what it does with which operands,
// the events that it waits for and those that it signals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

struct Line {
  std::uint32_t cluster = 0;
  std::string queue;                  // "core0.mac", "dma1"; "cpu" where the processor itself gives tokens or waits
  std::uint64_t number = 0;           // in its queue, from 1, as waveforms count; 0 of what the processor does
  std::string operation;              // "matmul_abt 64x512x64"
  std::vector<std::string> operands;  // "Q+0x0 64x64 fp16", the result last
  std::vector<std::string> waits, signals;  // "e3", "e4..5", "e7*2": two tokens; "c2.e7": of another cluster
  std::uint32_t head = 0, row_block = 0;
  std::uint64_t l1_bytes = 0;  // that firmware holds
};

// Every command of a cluster in the program's order; at most `most`, false when there are more.
bool print_stream(const Job& job, std::uint32_t cluster, std::uint64_t most, std::vector<Line>& lines);

std::string to_text(const Line& line);

}  // namespace attnvp::schedule
