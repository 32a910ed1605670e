// What a RISC-V control processor sees of the platform in its 32 bits. Below 1.5 GiB addresses are the platform's own:
// mailbox and control windows. Descriptors keep 64-bit addresses; only the processor's own accesses go through windows.
//
//   0x0200'0000  core-local interruptor: msip, mtimecmp, mtime (cycles of the hart's clock)
//   0x0800'0000  mailbox
//   0x1000'0000  control windows of the clusters
//   0x6000'0000  its code: tightly coupled, control.itcm
//   0x6400'0000  its data: tightly coupled, control.dtcm; the stack grows down to its first byte
//   0x7000'0000  its devices
//   0x8000'0000  1 GiB of the platform, from where kHartWindow says; DRAM's first at first
//   0xC000'0000  the L1 of its cluster
//
// Stores to consecutive addresses are gathered into one access, up to control.store_buffer bytes that lie in one
// aligned block; a store elsewhere, a load over the bus and `fence` send them off. A fence also waits for the answer.
//
// The push unit takes a descriptor out of data memory, control.push_width bytes a cycle, in which the hart waits, and
// puts it into a queue by itself: as one burst, then the doorbell. The hart goes on meanwhile; its next access over the
// bus, its next push and `fence` wait until the queue has taken it. When it could not be put there, the next of these
// traps. The other way it fetches: a block of the platform into data memory, as one burst, in which the hart waits.
// And it plays: it fetches a command list (list.h) burst by burst and does its writes, in which the hart waits, too.
#pragma once

#include <cstdint>

namespace attnvp::hal {

constexpr std::uint32_t kHartCode = 0x6000'0000, kHartCodeMost = 0x400'0000;
constexpr std::uint32_t kHartData = 0x6400'0000, kHartDataMost = 0x400'0000;
constexpr std::uint32_t kHartDevices = 0x7000'0000, kHartDevicesSize = 0x1000;
constexpr std::uint32_t kHartFar = 0x8000'0000, kHartL1 = 0xC000'0000, kHartWindowSize = 0x4000'0000;
constexpr std::uint32_t kHartOwnEnd = 0x6000'0000;  // below it, addresses are the platform's

// Devices, 32 bits wide.
constexpr std::uint32_t kHartConsole = 0x0;  // W  a character
constexpr std::uint32_t kHartFinish = 0x4;   // W  0: firmware is done; otherwise it gives up with that code
constexpr std::uint32_t kHartWindow = 0x8;   // RW, 8 bytes: the platform's address at kHartFar
constexpr std::uint32_t kHartWatch = 0x10;   // RW  1 + an event of the cluster: while it has tokens, the external
                                             //     interrupt is raised, as it is by an engine's fault; 0: none
constexpr std::uint32_t kHartQueue = 0x14;   // W  of the push unit: the queue's registers, below 4 GiB
constexpr std::uint32_t kHartPush = 0x18;    // W  the descriptor in data memory that it takes now
constexpr std::uint32_t kHartTo = 0x1C;      // W  where in data memory it puts what it fetches,
constexpr std::uint32_t kHartBytes = 0x20;   // W  how much that is, up to kHartFetchMost,
constexpr std::uint32_t kHartFetch = 0x24;   // W  and the address that it fetches now
constexpr std::uint32_t kHartFetchMost = 4096;
constexpr std::uint32_t kHartList = 0x28;           // W, 8 bytes: the platform's address of a command list,
constexpr std::uint32_t kHartPlay = 0x30;           // W  its bytes: it is played now
constexpr std::uint32_t kHartGaveUp = 0x0BAD'0000;  // codes of the runtime's trap handler: this, and mcause

}  // namespace attnvp::hal
