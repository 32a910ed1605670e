// Fixed part of the address map: bases of memories and of each cluster's control registers. Addresses and sizes are in
// bytes. Register comments give access (R, W), width in bits and meaning.
#pragma once

#include <cstdint>

namespace attnvp::hal {

// Control windows, one per cluster, below 4 GiB so that a 32-bit processor reaches them.
constexpr std::uint64_t kControlBase = 0x1000'0000;
constexpr std::uint64_t kClusterStride = 0x10'0000;
constexpr std::uint64_t kEventsOffset = 0x0'0000;
constexpr std::uint64_t kEventsSize = 0x2'0000;
constexpr std::uint64_t kDmaOffset = 0x2'0000;
constexpr std::uint64_t kDmaSize = 0x1'0000;
constexpr std::uint64_t kL1ControlOffset = 0x3'0000;
constexpr std::uint64_t kL1ControlSize = 0x1000;
constexpr std::uint64_t kCoreOffset = 0x4'0000;
constexpr std::uint64_t kCoreStride = 0x2000;
constexpr std::uint64_t kMacOffset = 0x0000;  // within a core
constexpr std::uint64_t kVecOffset = 0x1000;
constexpr std::uint64_t kEngineSize = 0x1000;

constexpr std::uint64_t kMailboxBase = 0x0800'0000;  // job block and results (job.h)
constexpr std::uint64_t kMailboxSize = 0x10'0000;
constexpr std::uint64_t kDramBase = 0x8000'0000;
constexpr std::uint64_t kL2Base = 0x2000'0000'0000;  // 32 TiB: above the largest DRAM
constexpr std::uint64_t kL1Base = 0x4000'0000'0000;  // 64 TiB: above everything that clusters share
constexpr std::uint64_t kL1Stride = 0x1'0000'0000;   // window of one cluster, 4 GiB

// Command queue registers. MAC and VEC engines have one queue each, a DMA controller one per channel, kQueueStride
// apart.
constexpr std::uint64_t kQueueStride = 0x200;
constexpr std::uint64_t kQueueDescriptor = 0x000;    // W    descriptor under construction, 256 bytes
constexpr std::uint64_t kQueueDoorbell = 0x100;      // W32  any value: enqueue; stalls while the queue is full
constexpr std::uint64_t kQueueLevel = 0x104;         // R32  waiting descriptors
constexpr std::uint64_t kQueueDone = 0x108;          // R32  descriptors completed since the job began
constexpr std::uint64_t kQueueFault = 0x10C;         // R32  FaultCode of the engine, 0 while healthy
constexpr std::uint64_t kQueueFaultAddress = 0x110;  // R64  address of that fault

// MAC and VEC engines only.
constexpr std::uint64_t kEngineControl = 0x120;  // W32  EngineCommand
constexpr std::uint64_t kEngineState = 0x124;    // R32  EngineState
constexpr std::uint64_t kEngineCurrent = 0x128;  // R32  opcode | flags << 8 of the descriptor in the execute stage

// kHalt stops the descriptor in the execute stage and discards its effects; no later descriptor overtakes it. kResume
// executes it again from its start. kReplace executes the descriptor under construction instead.
enum EngineCommand : std::uint32_t { kHalt = 1, kResume = 2, kReplace = 3 };
enum EngineState : std::uint32_t { kEngineIdle = 0, kEngineBusy = 1, kEngineHalted = 2 };

// Event unit: counting semaphores, kEventStride bytes each.
constexpr std::uint64_t kEventStride = 0x10;
constexpr std::uint64_t kEventSignal = 0x0;       // W32  tokens to add
constexpr std::uint64_t kEventTake = 0x4;         // W32  tokens to take; stalls until that many are available
constexpr std::uint64_t kEventCount = 0x8;        // R32  current tokens
constexpr std::uint64_t kEventsFault = 0x1'0000;  // R32  1 after an engine raised a fault

// Scratchpad performance monitor.
constexpr std::uint64_t kL1Allocated = 0x0;  // W64  bytes held by firmware's allocator | tag << 56
// The tag is trace information: the purpose (L1Region) of the space that was allocated or freed last. It is 0 after
// firmware frees several allocations at once.
constexpr std::uint64_t kL1AllocatedBytes = (std::uint64_t{1} << 40) - 1;
constexpr int kL1TagShift = 56;

constexpr std::uint64_t cluster_base(std::uint32_t cluster) { return kControlBase + cluster * kClusterStride; }
constexpr std::uint64_t events_base(std::uint32_t cluster) { return cluster_base(cluster) + kEventsOffset; }
constexpr std::uint64_t dma_base(std::uint32_t cluster) { return cluster_base(cluster) + kDmaOffset; }
constexpr std::uint64_t l1_control_base(std::uint32_t cluster) { return cluster_base(cluster) + kL1ControlOffset; }
constexpr std::uint64_t mac_base(std::uint32_t cluster, std::uint32_t core) {
  return cluster_base(cluster) + kCoreOffset + core * kCoreStride + kMacOffset;
}
constexpr std::uint64_t vec_base(std::uint32_t cluster, std::uint32_t core) {
  return cluster_base(cluster) + kCoreOffset + core * kCoreStride + kVecOffset;
}
constexpr std::uint64_t l1_base(std::uint32_t cluster) { return kL1Base + cluster * kL1Stride; }

}  // namespace attnvp::hal
