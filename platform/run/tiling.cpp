#include <fmt/format.h>

#include <algorithm>

#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/schema.h"
#include "platform/machine/words.h"
#include "platform/run/schedule.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

namespace {

using config::Setting;
using firmware::Parameter;

constexpr double kLargest = 4194304;

using schedule::FirmwareImage;

const Parameter* find(const FirmwareImage& firmware, std::string_view name) {
  for (const Parameter* p : firmware.parameters()) {
    if (name == p->name) return p;
  }
  return nullptr;
}

std::size_t position(const FirmwareImage& firmware, std::string_view name) {
  const auto& all = firmware.parameters();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Parameter* p) { return name == p->name; });
  return static_cast<std::size_t>(at - all.begin());
}

// Keyword of a parameter of that name in some dataflow; nullptr: none.
const char* word_of(const FirmwareImage& firmware, std::string_view name) {
  for (const firmware::Dataflow* d : firmware.dataflows()) {
    for (const Parameter* const* p = d->parameters; *p != nullptr; ++p) {
      if (name == (*p)->name && (*p)->none != nullptr) return (*p)->none;
    }
  }
  return nullptr;
}

// Greatest value over all dataflows.
double most_of(const FirmwareImage& firmware, std::string_view name) {
  double most = 1;
  for (const firmware::Dataflow* d : firmware.dataflows()) {
    for (const Parameter* const* p = d->parameters; *p != nullptr; ++p) {
      if (name != (*p)->name) continue;
      most = std::max(most, (*p)->extent == firmware::Extent::kCount ? (*p)->most : kLargest);
    }
  }
  return most;
}

std::vector<std::string> names(const FirmwareImage& firmware) {
  std::vector<std::string> all;
  for (const Parameter* p : firmware.parameters()) all.emplace_back(p->name);
  return all;
}

config::KeyInfo key_of(const FirmwareImage& firmware, const Parameter& p) {
  config::KeyInfo key = config::number(p.name, config::KeyUnit::kCount, 1, most_of(firmware, p.name), p.meaning);
  if (p.named != nullptr) {
    std::vector<std::string> values;
    for (const firmware::NamedValue* v = p.named; v->name != nullptr; ++v) values.emplace_back(v->name);
    key = config::choice(p.name, values, p.meaning);
  }
  key.default_note = "chosen";
  return key;
}

std::uint32_t value_of(const FirmwareImage& firmware, const Parameter& p, const Setting& setting) {
  const char* const word = word_of(firmware, p.name);
  if (word != nullptr && config::trimmed(setting.text) == word) return hal::kWord;
  if ((word != nullptr || p.named != nullptr) && config::trimmed(setting.text) == "auto") return 0;
  const auto value =
      static_cast<std::uint32_t>(std::get<std::uint64_t>(config::parse_setting(key_of(firmware, p), setting)));
  return p.named != nullptr ? value + 1 : value;
}

}  // namespace

Tiling::Tiling(std::initializer_list<TileParameter> entries) {
  for (const TileParameter& e : entries) set(e.first, e.second);
}

std::uint32_t Tiling::operator[](std::string_view name) const {
  for (const TileParameter& e : entries_) {
    if (e.first == name) return e.second;
  }
  return 0;
}

std::uint32_t Tiling::used(std::string_view name) const {
  const std::uint32_t value = (*this)[name];
  return value == hal::kWord ? 0 : value;
}

void Tiling::set(std::string_view name, std::uint32_t value) {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const TileParameter& e) { return e.first == name; });
  if (at != entries_.end()) entries_.erase(at);
  if (value == 0) return;
  const auto before = std::find_if(entries_.begin(), entries_.end(), [&](const TileParameter& e) {
    return position(*firmware_, e.first) > position(*firmware_, name);
  });
  entries_.insert(before, {std::string(name), value});
}

bool has_words(std::string_view name) {
  const FirmwareImage& firmware = schedule::compiled_firmware();
  return word_of(firmware, name) != nullptr || find(firmware, name)->named != nullptr;
}

std::vector<config::KeyInfo> tiling_keys() {
  std::vector<config::KeyInfo> keys;
  const FirmwareImage& firmware = schedule::compiled_firmware();
  for (const Parameter* p : firmware.parameters()) keys.push_back(key_of(firmware, *p));
  return keys;
}

Tiling parse_tiling(const std::string& text, const FirmwareImage& firmware) {
  Tiling tiling(firmware);
  if (text.empty() || text == "default") return tiling;
  const std::vector<Setting> settings =
      text.find('=') != std::string::npos && !config::is_path(text)
          ? split_settings(text, config::option_origin("--tiling", text))
          : config::Document::load(config::find_config(config::Folder::kTilings, text)).settings(names(firmware));
  for (const Setting& s : settings) {
    const Parameter* p = find(firmware, s.path);
    if (p == nullptr) config::refuse_unknown(s, names(firmware));
    tiling.set(s.path, value_of(firmware, *p, s));
  }
  return tiling;
}

TilingText tiling_text(const Tiling& tiling) {
  TilingText out;
  for (const auto& entry : tiling.entries()) out.emplace_back(entry.first, value_text(tiling, entry.first));
  return out;
}

TilingText tiling_in_short(const Tiling& tiling) {
  TilingText out;
  for (const auto& [name, value] : tiling.entries()) {
    const Parameter* const p = find(tiling.firmware(), name);
    const bool unused = value == hal::kWord && p != nullptr && p->extent != firmware::Extent::kCount;
    if (!unused) out.emplace_back(name, value_text(tiling, name));
  }
  return out;
}

std::string tiling_line(const Tiling& tiling) {
  std::string line;
  for (const auto& [name, value] : tiling_in_short(tiling))
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, value);
  return line;
}

std::string tiling_option(const Tiling& tiling) {
  std::string list;
  for (const auto& [name, value] : tiling_text(tiling))
    list += fmt::format("{}{}={}", list.empty() ? "" : ",", name, value);
  return list;
}

std::string value_text(const Tiling& tiling, std::string_view name) {
  const Parameter* const p = find(tiling.firmware(), name);
  const std::uint32_t value = tiling[name];
  if (p != nullptr && p->named != nullptr && value >= 1 && value <= p->most) return p->named[value - 1].name;
  const char* const word = value == hal::kWord ? word_of(tiling.firmware(), name) : nullptr;
  return word != nullptr ? word : std::to_string(value);
}

std::vector<std::uint32_t> words_of(const Tiling& tiling, const firmware::Dataflow& dataflow) {
  std::vector<std::uint32_t> words;
  std::vector<std::string> known;
  for (const Parameter* const* p = dataflow.parameters; *p != nullptr; ++p) {
    known.emplace_back((*p)->name);
    words.push_back(tiling[(*p)->name]);
    const std::uint32_t most = (*p)->extent == firmware::Extent::kCount ? (*p)->most : hal::kWord;
    if (words.back() <= most || (words.back() == hal::kWord && (*p)->none != nullptr)) continue;
    throw config::ConfigError(fmt::format("tiling: key '{}': found '{}'; {} takes 1 to {}{}", known.back(),
                                          words.back(), dataflow.name, most,
                                          (*p)->none != nullptr ? fmt::format(", {}", (*p)->none) : ""));
  }
  for (const auto& [name, value] : tiling.entries()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw config::ConfigError(
        fmt::format("tiling: {} has no '{}'; it has {}", dataflow.name, name, fmt::join(known, ", ")));
  }
  return words;
}

Tiling tiling_of(const std::vector<std::uint32_t>& words, const firmware::Dataflow& dataflow,
                 const FirmwareImage& firmware) {
  Tiling tiling(firmware);
  for (std::size_t i = 0; i < words.size(); ++i) tiling.set(dataflow.parameters[i]->name, words[i]);
  return tiling;
}

}  // namespace attnvp::job
