// Untimed bus model: runs firmware immediately and reports every command to a Reader, in program order. Queues are
// never full, and commands are complete when firmware polls for them. Readers name addresses by tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/job.h"
#include "models/control/control_processor/cpu.h"

namespace attnvp::schedule {

class FirmwareImage;
// Runs a cluster's firmware immediately against a bus.
using FirmwareRun = std::function<void(hal::Cpu& cpu, std::uint32_t cluster)>;

// Job as written by the host to the mailbox, and the firmware that executes it.
struct Job {
  const FirmwareImage* image = nullptr;  // contains the dataflow; nullptr: the compiled firmware
  FirmwareRun firmware;                  // empty: the compiled firmware
  hal::JobBlock block{};
  hal::ScratchSpace scratch{};                  // DRAM behind the tensors
  std::vector<std::uint32_t> contexts;          // keys of each batch, if they differ
  hal::Rules rules{{}, hal::kUnitScale, 1, 0};  // if the block's flags say so
  std::vector<std::uint32_t> pages;             // of the cache, if it is paged
  hal::Types types{hal::ElementType::kFp16, hal::ElementType::kFp16, 0, 0, hal::kUnitScale, 0, 0};
  std::vector<hal::HeadScales> scales;  // of every head, if the types say so
  struct MailboxTable {                 // further words of the mailbox, if the block's flags say so
    std::uint64_t address;
    std::vector<std::uint32_t> words;
    std::uint64_t end() const { return address + words.size() * sizeof(std::uint32_t); }
  };
  std::vector<MailboxTable> tables;
  const MailboxTable* table_at(std::uint64_t address) const;
  double scores() const;      // unmasked scores of the layer
  double query_rows() const;  // of all batches and heads of K and V
  double key_rows() const;    // rows of all batches and heads that some query attends to
};

using hal::Unit;
// A command queue of a cluster, of a core's engine or a DMA channel.
struct Queue {
  Unit unit = Unit::kMac;
  std::uint32_t index = 0;
};

// Whether the offset in a cluster's control window belongs to a queue; `within`: offset in its registers.
bool queue_at(std::uint64_t offset, Queue& queue, std::uint64_t& within);

class Reader {
 public:
  virtual void command(const Queue& queue, const hal::Descriptor& descriptor) = 0;
  virtual void replace(const Queue& queue, const hal::Descriptor& descriptor) { command(queue, descriptor); }
  virtual void give(std::uint32_t /*event*/, std::uint32_t /*tokens*/) {}  // by the processor
  virtual void take(std::uint32_t /*event*/, std::uint32_t /*tokens*/) {}  // the processor waits
  virtual void allocated(std::uint64_t /*bytes*/) {}                       // L1 bytes held by firmware
  virtual void tagged(std::uint32_t /*tag*/) {}  // called before allocated(): purpose of the change (hal::kL1TagShift)
  virtual std::uint32_t level(const Queue& /*queue*/) { return 0; }  // descriptors in the queue, returned to firmware
  virtual void access(std::uint64_t /*bytes*/) {}                    // any access, before its specific call
  virtual bool enough() const { return false; }  // true stops the firmware: the rest of the stream is not needed

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
    std::size_t written = 0;  // bytes of `building`; the rest is 0
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

// Runs the job's firmware for one cluster; returns its answer.
hal::JobResult read_stream(const Job& job, std::uint32_t cluster, Reader& reader);

// Addresses of a job's tensors that firmware looks up, and names of queues, operations and addresses in a command
// stream.

// Address range [low, high).
struct ByteRange {
  std::uint64_t low, high;
};
// Rows of the KV cache that firmware writes before attention (hal::kAppends) or as a product's result
// (hal::kStoresCache); the host does not initialise them. In order of addresses; empty: nothing is appended.
std::vector<ByteRange> appended(const Job& job);
// End of what the host initialises, from the layer's first tensor on.
std::uint64_t end_of_given(const Job& job);
// Address of the new rows of K; 0: none.
hal::Append append_of(const Job& job);

// Address from which firmware reads the bias (hal::Addends); 0: none.
std::uint64_t addends_of(const Job& job);

// Row operations that a matrix product includes; zeros: none.
hal::FusedProduct fused_of(const Job& job);
hal::CachedColumns cached_columns_of(const Job& job);  // that a product stores; zeros: none
hal::SecondProduct second_of(const Job& job);          // without columns: none
hal::Weights weights_of(const Job& job);               // of type kNone: as the other operand

std::string name_of(const Queue& queue);                     // "core0.mac", "dma1"
std::string operation_text(const hal::Descriptor& command);  // "matmul_abt 64x512x64"
// A tensor of the layer with an offset in bytes, L1 ("c2.L1" for another cluster's), or "scratch" behind the tensors.
std::string place_text(const Job& job, std::uint32_t cluster, std::uint64_t address);

}  // namespace attnvp::schedule
