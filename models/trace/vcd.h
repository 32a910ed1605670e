// A VCD writer for the modules' signals: one scope per module, a change is written when it happens. Enumerations are
// written as strings (GTKWave shows their names); guests (models/trace/guest.h) write their own changes. No date in the
// header: equal runs give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/module.h"
#include "models/trace/signal.h"

namespace attnvp {

class VcdWriter : public TraceSink, public TraceHost {
 public:
  // Attaches itself to every signal of the modules below the roots. `out` collects the file's text.
  VcdWriter(const std::vector<sc_core::sc_object*>& roots, std::string& out);
  ~VcdWriter() override;
  VcdWriter(const VcdWriter&) = delete;
  VcdWriter& operator=(const VcdWriter&) = delete;

  void change(std::uint32_t id, std::uint64_t value) override;
  void guest_changes(std::string_view text) override;

 private:
  void declare(sc_core::sc_object& object);
  void write_value(std::uint32_t id, std::uint64_t value);
  void write_time();

  std::string& out_;
  std::vector<Signal*> signals_;
  std::vector<std::string> codes_;
  std::vector<TraceGuest*> guests_;
  std::uint64_t last_time_ = UINT64_MAX;
};

}  // namespace attnvp
