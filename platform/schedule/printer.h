// Commands as text: the reference of operations, and a disassembler of the command stream, one line a command: queue,
// operation, operands, awaited and signalled events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

struct ListingLine {
  std::uint32_t cluster = 0;
  std::string queue;                        // "core0.mac", "dma1"; "cpu" for tokens given or awaited by the processor
  std::uint64_t number = 0;                 // number in its queue, from 1, as in waveforms; 0 for the processor
  std::string operation;                    // "matmul_abt 64x512x64"
  std::vector<std::string> operands;        // "Q+0x0 64x64 fp16", the result last
  std::vector<std::string> waits, signals;  // "e3", "e4..5", "e7*2": two tokens; "c2.e7": of another cluster
  std::uint32_t head = 0, row_block = 0;
  std::uint64_t l1_bytes = 0;  // allocated by firmware
};

// Commands of a cluster in program order, at most `most`; returns false if there are more.
bool print_stream(const Job& job, std::uint32_t cluster, std::uint64_t most, std::vector<ListingLine>& lines);

std::string to_text(const ListingLine& line);

// Generator of the command reference in Markdown, from the tables of operations, flags, element types and masks
// (firmware/hal). Output of `attnvp describe commands` and docs/reference/commands.md; a test keeps them equal.

std::string commands_markdown();

}  // namespace attnvp::schedule
