// A memory plug-in's sockets: accesses are cut into aligned pieces, and an access ends with its last piece. What the
// plug-in does wrong is a fault of the memory that it stands in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/counters/counter.h"
#include "models/plugin/foreign_target.h"
#include "models/plugin/library.h"

namespace attnvp {

class ForeignMemory final : public ForeignTarget::Owner {
 public:
  // What the memory around it provides.
  struct Surroundings {
    Context& context;
    std::uint64_t base;  // its first address
    std::function<void(std::uint64_t address, std::string what)> fault;
    Counter& pieces;
    Counter& busy_cycles;
  };
  // Throws PluginError.
  ForeignMemory(const std::string& library, const PluginSite& site, Surroundings surroundings);

  struct Access {
    std::uint64_t pieces = 0;  // not done yet
    std::uint64_t end_cycle = 0;
    bool is_ok = true;
    std::function<void(const Access& access)> over;  // at the latest in its last cycle
  };
  // Begins an access; add() gives it pieces, end() follows the last add().
  Access& begin(std::function<void(const Access&)> over);
  // Adds the pieces of `bytes` bytes from `offset` on; `initiator` chooses the socket.
  void add(Access& access, std::uint32_t initiator, bool is_read, std::uint64_t offset, std::uint64_t bytes,
           std::uint64_t after_fs);
  void end(Access& access);
  // Drops what has not been sent of it.
  void withdraw(Access& access);

  std::uint32_t piece_bytes() const { return piece_bytes_; }
  bool ends_later() const;
  std::string waiting_for() const;

 private:
  void answered(const ForeignTarget::Request& request, tlm::tlm_response_status status, std::uint64_t end_fs) override;
  void broken(const ForeignTarget::Request* request, const std::string& what) override;
  void done(Access& access, std::uint64_t pieces);

  Surroundings around_;
  std::unique_ptr<MemoryPlugin> plugin_;
  std::uint32_t piece_bytes_ = 0;
  std::vector<unsigned char> scratch_;  // what plug-ins read and write
  std::vector<std::unique_ptr<ForeignTarget>> ports_;
  std::uint64_t under_way_ = 0, busy_since_ = 0;  // accesses
  std::uint64_t last_end_ = 0;                    // cycle; of those that have ended
};

}  // namespace attnvp
