// The parameters of a schedule, by name: tile sizes and numbers of buffers. What is not given is open and chosen for
// the machine and the layer (platform/schedule).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "platform/config/schema.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

class Tiling {
 public:
  using Entry = std::pair<std::string, std::uint32_t>;
  Tiling() = default;
  explicit Tiling(const schedule::FirmwareImage& firmware) : firmware_(&firmware) {}
  Tiling(std::initializer_list<Entry> entries);  // of the compiled firmware

  std::uint32_t operator[](std::string_view name) const;  // 0: open; hal::kWord: the parameter's word
  std::uint32_t used(std::string_view name) const;        // 0 also where it is the parameter's word
  void set(std::string_view name, std::uint32_t value);   // 0: open again
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const Tiling& o) const { return entries_ == o.entries_; }
  bool operator!=(const Tiling& o) const { return entries_ != o.entries_; }

  const schedule::FirmwareImage& firmware() const { return *firmware_; }

 private:
  const schedule::FirmwareImage* firmware_ = &schedule::compiled_firmware();
  std::vector<Entry> entries_;  // of those given, in the order of the firmware's parameters
};

// Whether some value of a parameter of that name is a word, in some dataflow of the compiled firmware.
bool has_words(std::string_view name);

// Parameters of the compiled firmware as keys, for documentation.
std::vector<config::KeyInfo> tiling_keys();

// "nq=64,nkv=512,...", a name under configs/tilings or a path of a YAML file with those keys. Throws
// config::ConfigError for a name that no dataflow has and a value that none takes.
Tiling parse_tiling(const std::string& text, const schedule::FirmwareImage& firmware = schedule::compiled_firmware());
// Names and values, in order: numbers, or a parameter's word ("stream"): given again, they are that tiling.
using TilingText = std::vector<std::pair<std::string, std::string>>;
TilingText tiling_text(const Tiling& tiling);
// For people: without words that say that a thing is not used.
TilingText tiling_in_short(const Tiling& tiling);
std::string tiling_line(const Tiling& tiling);  // "nq=64 kv=stream"

// A number, or the parameter's word for hal::kWord.
std::string value_text(const Tiling& tiling, std::string_view name);

// The words of the job block, in the dataflow's order; 0 for those that are open. Throws config::ConfigError for a
// parameter that the dataflow does not have, or a value larger than it may be.
std::vector<std::uint32_t> words_of(const Tiling& tiling, const firmware::Dataflow& dataflow);
Tiling tiling_of(const std::vector<std::uint32_t>& words, const firmware::Dataflow& dataflow,
                 const schedule::FirmwareImage& firmware);

}  // namespace attnvp::job
