// Parameters of a schedule by name: tile sizes and numbers of buffers. Parameters that are not given are open; the
// search chooses them (platform/schedule).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "platform/machine/document.h"
#include "platform/machine/schema.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

class Tiling {
 public:
  using TileParameter = std::pair<std::string, std::uint32_t>;
  Tiling() = default;
  explicit Tiling(const schedule::FirmwareImage& firmware) : firmware_(&firmware) {}
  Tiling(std::initializer_list<TileParameter> entries);  // of the compiled firmware

  std::uint32_t operator[](std::string_view name) const;  // 0: open; hal::kWord: the parameter's keyword
  std::uint32_t used(std::string_view name) const;        // 0 also for the parameter's keyword
  void set(std::string_view name, std::uint32_t value);   // 0: open
  bool empty() const { return entries_.empty(); }
  const std::vector<TileParameter>& entries() const { return entries_; }
  bool operator==(const Tiling& o) const { return entries_ == o.entries_; }
  bool operator!=(const Tiling& o) const { return entries_ != o.entries_; }

  const schedule::FirmwareImage& firmware() const { return *firmware_; }

 private:
  const schedule::FirmwareImage* firmware_ = &schedule::compiled_firmware();
  std::vector<TileParameter> entries_;  // given parameters, in the order of the firmware's parameters
};

// Whether a parameter of that name has a keyword, in some dataflow of the compiled firmware.
bool has_words(std::string_view name);

// Parameters of the compiled firmware as documented keys.
std::vector<config::KeyInfo> tiling_keys();

// Parses "nq=64,nkv=512,...", a name under configs/tilings or a path of a YAML file with those keys. Throws
// config::ConfigError for a name or value that no dataflow supports.
Tiling parse_tiling(const std::string& text, const schedule::FirmwareImage& firmware = schedule::compiled_firmware());
// Names and values in order: numbers or keywords ("stream"). Parsing them gives the same tiling.
using TilingText = std::vector<std::pair<std::string, std::string>>;
TilingText tiling_text(const Tiling& tiling);
// For output: without keywords of unused parameters.
TilingText tiling_in_short(const Tiling& tiling);
std::string tiling_line(const Tiling& tiling);    // "nq=64 kv=stream"
std::string tiling_option(const Tiling& tiling);  // all parameters, for parse_tiling: "nq=64,kv=stream"

// A number, or the parameter's keyword for hal::kWord.
std::string value_text(const Tiling& tiling, std::string_view name);

// Words of the job block in the dataflow's order; 0: open. Throws config::ConfigError for a parameter that the dataflow
// does not have, or a value above its maximum.
std::vector<std::uint32_t> words_of(const Tiling& tiling, const firmware::Dataflow& dataflow);
Tiling tiling_of(const std::vector<std::uint32_t>& words, const firmware::Dataflow& dataflow,
                 const schedule::FirmwareImage& firmware);

// Parser of "a=1,b=2" on the command line. Each key at most once. Throws config::ConfigError.
std::vector<config::Setting> split_settings(std::string_view list, const config::Origin& origin);

}  // namespace attnvp::job
