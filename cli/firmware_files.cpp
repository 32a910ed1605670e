#include "cli/firmware_files.h"

#include <filesystem>
#include <tuple>

#include "cli/trace_files.h"
#include "platform/config/error.h"

namespace attnvp::cli {

FirmwareFiles::FirmwareFiles(const RunArguments& a, double clock_hz, files::Outputs& outputs)
    : page_(std::filesystem::path(a.profile).extension() == ".html") {
  profile_ = outputs.open("--profile", a.profile);
  log_ = outputs.open("--instruction-trace", a.instruction_trace);
  firmware_watch::Request request;
  request.profile = profile_ != nullptr;
  request.log = log_ != nullptr;
  if (request.log) std::tie(request.from_cycle, request.to_cycle) = trace_window(a, clock_hz);
  if (a.gdb_wait && a.gdb_port < 0) throw config::ConfigError("--gdb-wait needs --gdb");
  if (a.gdb_port >= 0) {
    gdb_ = std::make_unique<firmware_watch::GdbServer>(static_cast<std::uint32_t>(a.gdb_port), a.gdb_wait);
    request.debugger = gdb_.get();
  }
  if (request.profile || request.log || request.debugger != nullptr)
    watch_ = std::make_unique<firmware_watch::Watch>(request);
}

FirmwareFiles::~FirmwareFiles() = default;

void FirmwareFiles::write(const std::string& title) {
  if (profile_ != nullptr) {
    profile_->write(page_ ? watch_->page(title) : watch_->folded(), page_ ? files::Form::kHtml : files::Form::kOwn);
  }
  if (log_ != nullptr) log_->write(watch_->log(), files::Form::kOwn);
}

}  // namespace attnvp::cli
