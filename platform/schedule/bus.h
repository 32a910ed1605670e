// The bus of a machine that is not simulated: firmware runs against it at once, and whoever reads the command stream is
// told of every command, in the program's order. Nothing takes time here, queues are never full, and whatever has been
// put into a queue is done when firmware asks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/job.h"
#include "models/control_processor/cpu.h"

namespace attnvp::schedule {

class FirmwareImage;
// Firmware of a cluster, run at once against a bus.
using FirmwareRun = std::function<void(hal::Cpu& cpu, std::uint32_t cluster)>;

// A job as the host leaves it in the mailbox, and the firmware that does it.
struct Job {
  const FirmwareImage* image = nullptr;  // whose dataflow it has; nullptr: the compiled firmware
  FirmwareRun firmware;                  // none: the compiled one
  hal::JobBlock block{};
  hal::Scratch scratch{};                       // DRAM behind the tensors
  std::vector<std::uint32_t> contexts;          // keys of each batch, where they differ
  hal::Rules rules{{}, hal::kUnitScale, 1, 0};  // where the block's flags say so
  std::vector<std::uint32_t> pages;             // of the cache, where it has them
  hal::Types types{hal::ElementType::kFp16, hal::ElementType::kFp16, 0, 0, hal::kUnitScale, 0, 0};
  std::vector<hal::HeadScales> scales;  // of every head, where the types say so
  struct Table {                        // further words of the mailbox, where the block's flags say so
    std::uint64_t address;
    std::vector<std::uint32_t> words;
    std::uint64_t end() const { return address + words.size() * sizeof(std::uint32_t); }
  };
  std::vector<Table> tables;
  const Table* table_at(std::uint64_t address) const;
  double scores() const;      // of the layer, that no mask hides
  double query_rows() const;  // of all batches and heads of K and V
  double key_rows() const;    // likewise, that some query attends to
};

using hal::Unit;
// A command queue of a cluster: of a core's engine, or a DMA channel's.
struct Queue {
  Unit unit = Unit::kMac;
  std::uint32_t index = 0;
};

// Whether there is one at that place of a cluster's control window, and where within its registers the place is.
bool queue_at(std::uint64_t offset, Queue& queue, std::uint64_t& within);

class Reader {
 public:
  virtual void command(const Queue& queue, const hal::Descriptor& descriptor) = 0;
  virtual void replace(const Queue& queue, const hal::Descriptor& descriptor) { command(queue, descriptor); }
  virtual void give(std::uint32_t /*event*/, std::uint32_t /*tokens*/) {}  // by the processor
  virtual void take(std::uint32_t /*event*/, std::uint32_t /*tokens*/) {}  // the processor waits
  virtual void allocated(std::uint64_t /*bytes*/) {}                       // L1 that firmware holds now
  virtual void tagged(std::uint32_t /*tag*/) {}  // before that: what the difference is for (hal::kL1TagShift)
  virtual std::uint32_t level(const Queue& /*queue*/) { return 0; }  // descriptors waiting, as firmware is to be told
  virtual void access(std::uint64_t /*bytes*/) {}                    // of any kind, before what it is for is told
  virtual bool enough() const { return false; }  // the rest of the stream is not wanted: firmware is stopped

 protected:
  ~Reader() = default;
};

class Bus final : public hal::Cpu {
 public:
  Bus(const Job& job, std::uint32_t cluster, Reader& reader) : job_(job), cluster_(cluster), reader_(reader) {}
  bool read(std::uint64_t address, void* data, std::size_t bytes) override;
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override;
  const hal::JobResult& result() const { return result_; }

 private:
  struct QueueState {
    hal::Descriptor building{};
    std::uint32_t pushed = 0;
    std::size_t written = 0;  // of `building`: there is nothing behind
  };
  QueueState& state(const Queue& queue);
  bool write_control(std::uint64_t offset, const void* data, std::size_t bytes);
  bool write_queue(const Queue& queue, std::uint64_t offset, const void* data, std::size_t bytes);

  const Job& job_;
  std::uint32_t cluster_;
  Reader& reader_;
  hal::JobResult result_{};
  std::vector<QueueState> queues_;
};

// Runs the job's firmware for one cluster; what it answered.
hal::JobResult read_stream(const Job& job, std::uint32_t cluster, Reader& reader);

}  // namespace attnvp::schedule
