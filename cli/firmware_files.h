// What a run is asked to tell of its firmware: --profile, --instruction-trace, --gdb.
#pragma once

#include <memory>

#include "cli/commands.h"
#include "platform/files/outputs.h"
#include "platform/firmware/firmware_watch.h"
#include "platform/firmware/gdb_server.h"

namespace attnvp::cli {

class FirmwareFiles {
 public:
  // Throws config::ConfigError for what does not go together, and for files that cannot be written.
  FirmwareFiles(const RunArguments& arguments, double clock_hz, files::Outputs& outputs);
  ~FirmwareFiles();
  FirmwareFiles(const FirmwareFiles&) = delete;
  FirmwareFiles& operator=(const FirmwareFiles&) = delete;

  firmware_watch::Watch* watch() { return watch_.get(); }  // nullptr: nothing is asked
  void write(const std::string& title);

 private:
  bool page_ = false;
  std::unique_ptr<firmware_watch::GdbServer> gdb_;
  std::unique_ptr<firmware_watch::Watch> watch_;
  files::Output *profile_ = nullptr, *log_ = nullptr;
};

}  // namespace attnvp::cli
