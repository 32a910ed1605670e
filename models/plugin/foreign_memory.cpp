#include "models/plugin/foreign_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attnvp {

namespace {
constexpr std::uint32_t kMostPieceBytes = 1U << 20;
constexpr std::uint32_t kMostPorts = 1024;
}  // namespace

ForeignMemory::ForeignMemory(const std::string& library, const PluginContext& module_context,
                             MemorySurroundings surroundings)
    : around_(std::move(surroundings)), plugin_(make_plugin<MemoryPlugin>(library, module_context)) {
  const auto refuse = [&](const std::string& what) {
    throw PluginError(found_library(module_context.place, library, what));
  };
  of_library(module_context.place, library, [&] {
    piece_bytes_ = plugin_->most_bytes();
    const bool is_power = piece_bytes_ != 0 && (piece_bytes_ & (piece_bytes_ - 1)) == 0;
    if (!is_power || piece_bytes_ > kMostPieceBytes) {
      refuse(
          fmt::format(", whose most_bytes() is {}; allowed is a power of two up to {}", piece_bytes_, kMostPieceBytes));
    }
    const std::uint32_t ports = plugin_->ports();
    if (ports == 0 || ports > kMostPorts) {
      refuse(fmt::format(", whose ports() is {}; allowed is 1 to {}", ports, kMostPorts));
    }
    scratch_.resize(piece_bytes_);
    const auto style = plugin_->phases() ? ForeignTarget::Style::kPhases : ForeignTarget::Style::kBlocking;
    for (std::uint32_t i = 0; i < ports; ++i) {
      const std::string name = ports == 1 ? "port" : fmt::format("port{}", i);
      ports_.push_back(std::make_unique<ForeignTarget>(name.c_str(), around_.context, plugin_->port(i), style, *this));
    }
  });
}

ForeignMemory::ForeignAccess& ForeignMemory::begin(std::function<void(const ForeignAccess&)> over) {
  auto* const access = new ForeignAccess;
  access->over = std::move(over);
  access->pieces = 1;  // until all pieces are added
  if (under_way_++ == 0) busy_since_ = around_.context.clock.now();
  return *access;
}

void ForeignMemory::add(ForeignAccess& access, std::uint32_t initiator, bool is_read, std::uint64_t offset,
                        std::uint64_t bytes, std::uint64_t after_fs) {
  ForeignTarget& port = *ports_[initiator % ports_.size()];
  for (std::uint64_t at = offset / piece_bytes_ * piece_bytes_; at < offset + bytes; at += piece_bytes_) {
    ++access.pieces;
    around_.pieces += 1;
    port.send({is_read, at, scratch_.data(), piece_bytes_, &access}, after_fs);
  }
}

void ForeignMemory::end(ForeignAccess& access) { done(access, 1); }

void ForeignMemory::withdraw(ForeignAccess& access) {
  std::uint64_t unsent = 0;
  for (const auto& port : ports_) unsent += port->withdraw(&access);
  if (unsent == 0) return;
  access.end_cycle = std::max(access.end_cycle, around_.context.clock.now());
  done(access, unsent);
}

void ForeignMemory::answered(const ForeignTarget::TargetRequest& request, tlm::tlm_response_status status,
                             std::uint64_t end_fs) {
  ForeignAccess& access = *static_cast<ForeignAccess*>(request.access);
  if (status <= tlm::TLM_INCOMPLETE_RESPONSE) {
    access.is_ok = false;
    tlm::tlm_generic_payload named;
    named.set_response_status(status);
    around_.fault(around_.base + request.address,
                  fmt::format("its plug-in answered {} to {}", named.get_response_string(), request.text()));
  }
  // The first cycle that starts at or after the end.
  const std::uint64_t cycle = around_.context.clock.ceil_cycles(sc_core::sc_time::from_value(end_fs));
  access.end_cycle = std::max(access.end_cycle, cycle);
  done(access, 1);
}

void ForeignMemory::done(ForeignAccess& access, std::uint64_t pieces) {
  if ((access.pieces -= pieces) > 0) return;
  const std::unique_ptr<ForeignAccess> owned(&access);
  last_end_ = std::max(last_end_, access.end_cycle);
  if (--under_way_ == 0) around_.busy_cycles += std::max(access.end_cycle, busy_since_) - busy_since_;
  access.over(access);
}

void ForeignMemory::broken(const ForeignTarget::TargetRequest* request, const std::string& what) {
  around_.fault(request == nullptr ? around_.base : around_.base + request->address,
                fmt::format("its plug-in {}{}", what, request == nullptr ? "" : fmt::format(" ({})", request->text())));
}

bool ForeignMemory::ends_later() const { return last_end_ > around_.context.clock.now(); }

std::string ForeignMemory::waiting_for() const {
  for (const auto& port : ports_) {
    std::uint64_t cycle = 0;
    const ForeignTarget::TargetRequest* const request = port->open(&cycle);
    if (request == nullptr) continue;
    return fmt::format("its plug-in has not answered {} at {:#x} since cycle {}", request->text(),
                       around_.base + request->address, cycle);
  }
  return {};
}

}  // namespace attnvp
