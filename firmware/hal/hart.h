// Address map and devices of a RISC-V control processor (hart), 32 bits. Below 1.5 GiB addresses are platform
// addresses: mailbox and control windows. Descriptors hold 64-bit platform addresses; windows apply only to the hart's
// own accesses.
//
//   0x0200'0000  core-local interruptor: msip, mtimecmp, mtime (cycles of the hart's clock)
//   0x0800'0000  mailbox
//   0x1000'0000  control windows of the clusters
//   0x6000'0000  code: tightly coupled, control.itcm
//   0x6400'0000  data: tightly coupled, control.dtcm; the stack grows down to its first byte
//   0x7000'0000  devices
//   0x8000'0000  1 GiB of the platform from the address in kHartWindow; after reset the start of DRAM
//   0xC000'0000  L1 of the hart's cluster
//
// Store buffer: stores to consecutive addresses are combined into one access, up to control.store_buffer bytes within
// one aligned block. A store elsewhere, a load over the bus or `fence` flushes it. A fence also waits for the response.
//
// Push unit: it reads a descriptor from data memory, control.push_width bytes a cycle, while the hart stalls. It then
// writes the queue's window in one burst and rings the doorbell while the hart continues. The hart's next bus access,
// push or `fence` waits until the queue has accepted the descriptor, and traps if the write failed.
//
// Fetch unit: it reads a block of the platform into data memory in one burst while the hart stalls.
//
// List unit: it reads a command list (list.h) in bursts and performs its writes while the hart stalls.
#pragma once

#include <cstdint>

namespace attnvp::hal {

constexpr std::uint32_t kHartCode = 0x6000'0000, kHartCodeMost = 0x400'0000;
constexpr std::uint32_t kHartData = 0x6400'0000, kHartDataMost = 0x400'0000;
constexpr std::uint32_t kHartDevices = 0x7000'0000, kHartDevicesSize = 0x1000;
constexpr std::uint32_t kHartFar = 0x8000'0000, kHartL1 = 0xC000'0000, kHartWindowSize = 0x4000'0000;
constexpr std::uint32_t kHartOwnEnd = 0x6000'0000;  // below it, addresses are platform addresses

// Device registers, 32 bits wide unless noted.
constexpr std::uint32_t kHartConsole = 0x0;  // W  character to print
constexpr std::uint32_t kHartFinish = 0x4;   // W  0: firmware is done; otherwise it ends with that failure code
constexpr std::uint32_t kHartWindow = 0x8;   // RW, 8 bytes  platform address of kHartFar
constexpr std::uint32_t kHartWatch = 0x10;   // RW  0: none; else 1 + event of the cluster: the external interrupt is
                                             // raised while it has tokens or after an engine fault
constexpr std::uint32_t kHartQueue = 0x14;   // W  push unit: address of the queue's registers, below 4 GiB
constexpr std::uint32_t kHartPush = 0x18;    // W  push unit: address of the descriptor in data memory; starts the push
constexpr std::uint32_t kHartTo = 0x1C;      // W  fetch unit: destination in data memory
constexpr std::uint32_t kHartBytes = 0x20;   // W  fetch unit: bytes, at most kHartFetchMost
constexpr std::uint32_t kHartFetch = 0x24;   // W  fetch unit: source address; starts the fetch
constexpr std::uint32_t kHartFetchMost = 4096;
constexpr std::uint32_t kHartList = 0x28;           // W, 8 bytes  list unit: platform address of a command list
constexpr std::uint32_t kHartPlay = 0x30;           // W  list unit: bytes of the list; starts it
constexpr std::uint32_t kHartGaveUp = 0x0BAD'0000;  // failure code of the runtime's trap handler: this + mcause

}  // namespace attnvp::hal
