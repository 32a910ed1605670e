#include "platform/job/tiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/error.h"
#include "platform/config/schema.h"
#include "platform/config/words.h"
#include "platform/job/settings.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

namespace {

using config::Setting;
using firmware::Parameter;

constexpr double kLargest = 4194304;

const Parameter* find(std::string_view name) {
  for (const Parameter* p : all_parameters()) {
    if (name == p->name) return p;
  }
  return nullptr;
}

std::size_t position(std::string_view name) {
  const auto& all = all_parameters();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Parameter* p) { return name == p->name; });
  return static_cast<std::size_t>(at - all.begin());
}

// The word that a parameter of that name has in some dataflow; nullptr: none.
const char* word_of(std::string_view name) {
  for (const firmware::Dataflow* d : schedule::dataflows()) {
    for (const Parameter* const* p = d->parameters; *p != nullptr; ++p) {
      if (name == (*p)->name && (*p)->none != nullptr) return (*p)->none;
    }
  }
  return nullptr;
}

// The most that some dataflow takes.
double most_of(std::string_view name) {
  double most = 1;
  for (const firmware::Dataflow* d : schedule::dataflows()) {
    for (const Parameter* const* p = d->parameters; *p != nullptr; ++p) {
      if (name != (*p)->name) continue;
      most = std::max(most, (*p)->extent == firmware::Extent::kCount ? (*p)->most : kLargest);
    }
  }
  return most;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Parameter* p : all_parameters()) all.emplace_back(p->name);
  return all;
}

config::KeyInfo key_of(const Parameter& p) {
  config::KeyInfo key = config::number(p.name, config::Unit::kCount, 1, most_of(p.name), p.meaning);
  if (p.named != nullptr) {
    std::vector<std::string> values;
    for (const firmware::NamedValue* v = p.named; v->name != nullptr; ++v) values.emplace_back(v->name);
    key = config::choice(p.name, values, p.meaning);
  }
  key.default_note = "chosen";
  return key;
}

std::uint32_t value_of(const Parameter& p, const Setting& setting) {
  const char* const word = word_of(p.name);
  if (word != nullptr && config::trimmed(setting.text) == word) return hal::kWord;
  if ((word != nullptr || p.named != nullptr) && config::trimmed(setting.text) == "auto") return 0;
  const auto value = static_cast<std::uint32_t>(std::get<std::uint64_t>(config::parse_setting(key_of(p), setting)));
  return p.named != nullptr ? value + 1 : value;
}

}  // namespace

Tiling::Tiling(std::initializer_list<Entry> entries) {
  for (const Entry& e : entries) set(e.first, e.second);
}

std::uint32_t Tiling::operator[](std::string_view name) const {
  for (const Entry& e : entries_) {
    if (e.first == name) return e.second;
  }
  return 0;
}

std::uint32_t Tiling::used(std::string_view name) const {
  const std::uint32_t value = (*this)[name];
  return value == hal::kWord ? 0 : value;
}

void Tiling::set(std::string_view name, std::uint32_t value) {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == name; });
  if (at != entries_.end()) entries_.erase(at);
  if (value == 0) return;
  const auto before = std::find_if(entries_.begin(), entries_.end(),
                                   [&](const Entry& e) { return position(e.first) > position(name); });
  entries_.insert(before, {std::string(name), value});
}

const std::vector<const Parameter*>& all_parameters() {
  static const std::vector<const Parameter*> all = [] {
    std::vector<const Parameter*> list;
    for (const firmware::Dataflow* d : schedule::dataflows()) {
      for (const Parameter* const* p = d->parameters; *p != nullptr; ++p) {
        const auto same = [&](const Parameter* o) { return std::string_view(o->name) == (*p)->name; };
        if (std::none_of(list.begin(), list.end(), same)) list.push_back(*p);
      }
    }
    return list;
  }();
  return all;
}

bool has_words(std::string_view name) { return word_of(name) != nullptr || find(name)->named != nullptr; }

std::vector<config::KeyInfo> tiling_keys() {
  std::vector<config::KeyInfo> keys;
  for (const Parameter* p : all_parameters()) keys.push_back(key_of(*p));
  return keys;
}

Tiling parse_tiling(const std::string& text) {
  Tiling tiling;
  if (text.empty() || text == "default") return tiling;
  const std::vector<Setting> settings =
      text.find('=') != std::string::npos && !config::is_path(text)
          ? split_settings(text, config::option_origin("--tiling", text))
          : config::Document::load(config::find_config(config::Folder::kTilings, text)).settings(names());
  for (const Setting& s : settings) {
    const Parameter* p = find(s.path);
    if (p == nullptr) config::refuse_unknown(s, names());
    tiling.set(s.path, value_of(*p, s));
  }
  return tiling;
}

TilingText tiling_text(const Tiling& tiling) {
  TilingText out;
  for (const auto& [name, value] : tiling.entries()) out.emplace_back(name, value_text(name, value));
  return out;
}

TilingText tiling_in_short(const Tiling& tiling) {
  TilingText out;
  for (const auto& [name, value] : tiling.entries()) {
    const bool unused = value == hal::kWord && find(name)->extent != firmware::Extent::kCount;
    if (!unused) out.emplace_back(name, value_text(name, value));
  }
  return out;
}

std::string tiling_line(const Tiling& tiling) {
  std::string line;
  for (const auto& [name, value] : tiling_in_short(tiling))
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, value);
  return line;
}

std::string value_text(std::string_view name, std::uint32_t value) {
  const Parameter& p = *find(name);
  if (p.named != nullptr && value >= 1 && value <= p.most) return p.named[value - 1].name;
  return value == hal::kWord ? word_of(name) : std::to_string(value);
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

Tiling tiling_of(const std::vector<std::uint32_t>& words, const firmware::Dataflow& dataflow) {
  Tiling tiling;
  for (std::size_t i = 0; i < words.size(); ++i) tiling.set(dataflow.parameters[i]->name, words[i]);
  return tiling;
}

}  // namespace attnvp::job
