// Sockets of a memory plug-in. Accesses are divided into aligned pieces; an access ends with its last piece. Protocol
// violations are faults of the surrounding memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/plugin/foreign_sockets.h"
#include "models/plugin/library.h"
#include "models/sim/module.h"

namespace attnvp {

class ForeignMemory final : public ForeignTarget::Owner {
 public:
  // Context from the surrounding memory.
  struct MemorySurroundings {
    Context& context;
    std::uint64_t base;  // first address of the memory
    std::function<void(std::uint64_t address, std::string what)> fault;
    Counter& pieces;
    Counter& busy_cycles;
  };
  // Throws PluginError.
  ForeignMemory(const std::string& library, const PluginContext& module_context, MemorySurroundings surroundings);

  struct ForeignAccess {
    std::uint64_t pieces = 0;  // not completed
    std::uint64_t end_cycle = 0;
    bool is_ok = true;
    std::function<void(const ForeignAccess& access)> over;  // called in its last cycle or earlier
  };
  // Starts an access. add() gives it pieces; end() follows the last add().
  ForeignAccess& begin(std::function<void(const ForeignAccess&)> over);
  // Adds the pieces of `bytes` bytes at `offset`; `initiator` selects the socket.
  void add(ForeignAccess& access, std::uint32_t initiator, bool is_read, std::uint64_t offset, std::uint64_t bytes,
           std::uint64_t after_fs);
  void end(ForeignAccess& access);
  // Drops the pieces that were not sent.
  void withdraw(ForeignAccess& access);

  std::uint32_t piece_bytes() const { return piece_bytes_; }
  bool ends_later() const;
  std::string waiting_for() const;

 private:
  void answered(const ForeignTarget::TargetRequest& request, tlm::tlm_response_status status,
                std::uint64_t end_fs) override;
  void broken(const ForeignTarget::TargetRequest* request, const std::string& what) override;
  void done(ForeignAccess& access, std::uint64_t pieces);

  MemorySurroundings around_;
  std::unique_ptr<MemoryPlugin> plugin_;
  std::uint32_t piece_bytes_ = 0;
  std::vector<unsigned char> scratch_;  // data buffer for plug-ins
  std::vector<std::unique_ptr<ForeignTarget>> ports_;
  std::uint64_t under_way_ = 0, busy_since_ = 0;  // accesses
  std::uint64_t last_end_ = 0;                    // cycle of the latest end of an access
};

}  // namespace attnvp
