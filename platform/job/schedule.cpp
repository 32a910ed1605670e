// Text to schedules: dataflow names with options, tilings.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "firmware/dataflows/dataflows.h"
#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/error.h"
#include "platform/config/schema.h"
#include "platform/config/words.h"
#include "platform/job/job.h"

namespace attnvp::job {

namespace {

using config::Origin;
using config::Setting;

// "a=1,b=2" as settings; every key at most once.
std::vector<Setting> split_list(std::string_view list, const Origin& origin) {
  std::vector<Setting> settings;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    const std::string_view part = config::trimmed(list.substr(start, comma - start));
    start = comma + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      config::fail(origin, fmt::format("found {} where key=value is expected", config::in_quotes(part)));
    }
    Setting s{std::string(config::trimmed(part.substr(0, equals))),
              std::string(config::trimmed(part.substr(equals + 1))), origin};
    if (std::any_of(settings.begin(), settings.end(), [&](const Setting& other) { return other.path == s.path; })) {
      config::fail(origin, fmt::format("key '{}' is given twice", s.path));
    }
    settings.push_back(std::move(s));
  }
  return settings;
}

constexpr double kLargest = 4194304;
constexpr double kLargestSubTile = 65535;

const config::Schema<hal::Tiling>& tiling_schema() {
  using config::make_key;
  using config::number;
  using T = hal::Tiling;
  const auto size = [](const char* path, double maximum, const char* meaning, std::uint32_t T::*field) {
    config::Key<T> key = make_key<T>(number(path, config::Unit::kCount, 1, maximum, meaning), field);
    key.default_note = "chosen";
    return key;
  };
  const auto kv_key = [] {
    config::Key<T> key;
    static_cast<config::KeyInfo&>(key) = config::choice(
        "kv", {"auto", "1", "2", "3", "4", "stream"},
        "groups of heads whose K and V are in L1 at once; stream: sub-blocks, loaded anew for every row block");
    key.get = [](const T& t) -> config::Value {
      return std::uint64_t{t.kv_buffers == hal::kKvStream ? 5U : t.kv_buffers};
    };
    key.set = [](T& t, const config::Value& v) {
      const auto index = std::get<std::uint64_t>(v);
      t.kv_buffers = index == 5 ? hal::kKvStream : static_cast<std::uint32_t>(index);
    };
    return key;
  };
  static const config::Schema<T> schema({
      size("bb", kLargest, "B_b: batches whose K and V are in L1 together", &T::bb),
      size("hh", kLargest, "H_h: heads whose K and V are in L1 together", &T::hh),
      size("nq", kLargest, "N_Q: query rows of a row block on one core", &T::nq),
      size("nkv", kLargest, "N_KV: rows of a sub-block of K and V", &T::nkv),
      size("m0", kLargestSubTile, "L0 sub-tile of a matmul: rows of A", &T::m0),
      size("n0", kLargestSubTile, "L0 sub-tile of a matmul: columns of B", &T::n0),
      size("k0", kLargestSubTile, "L0 sub-tile of a matmul: depth loaded at a time", &T::k0),
      kv_key(),
      size("rb", 64, "buffers for row blocks of Q, and twice as many for O, per core", &T::row_buffers),
      size("np", kLargest, "N_P: query rows of one softmax where scores go in tiles of nq x nkv (layerwise, flat)",
           &T::np),
  });
  return schema;
}

}  // namespace

Schedule parse_dataflow(const std::string& text) {
  const Origin origin{"--dataflow " + text};
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const firmware::Dataflow* dataflow = firmware::find_dataflow(name.c_str());
  if (dataflow == nullptr || name != dataflow->name) {
    std::vector<std::string> names;
    for (const firmware::Dataflow* const* d = firmware::kDataflows; *d != nullptr; ++d) names.emplace_back((*d)->name);
    throw config::ConfigError(
        fmt::format("dataflow {} is unknown{}", config::in_quotes(name), config::hint(name, names)));
  }
  Schedule schedule;
  schedule.dataflow = name;
  schedule.text = text;
  std::vector<std::string> options;
  for (const firmware::DataflowOption* o = dataflow->options; o != nullptr && o->name != nullptr; ++o) {
    options.emplace_back(o->name);
  }
  schedule.options.assign(options.size(), 0);
  if (colon == std::string::npos) return schedule;
  for (const Setting& s : split_list(std::string_view(text).substr(colon + 1), origin)) {
    const auto found = std::find(options.begin(), options.end(), s.path);
    if (found == options.end()) {
      config::fail(origin, options.empty() ? fmt::format("dataflow '{}' has no options", name)
                                           : fmt::format("option {} is unknown{}", config::in_quotes(s.path),
                                                         config::hint(s.path, options)));
    }
    const auto index = static_cast<std::size_t>(found - options.begin());
    std::vector<std::string> values;
    for (const char* const* v = dataflow->options[index].values; *v != nullptr; ++v) values.emplace_back(*v);
    const auto value = std::find(values.begin(), values.end(), s.text);
    if (value == values.end()) {
      config::fail(origin, fmt::format("option '{}': found {}; allowed are {}", s.path, config::in_quotes(s.text),
                                       fmt::join(values, ", ")));
    }
    schedule.options[index] = static_cast<std::uint32_t>(value - values.begin());
  }
  return schedule;
}

hal::Tiling parse_tiling(const std::string& text) {
  hal::Tiling tiling{};
  if (text.empty() || text == "default") return tiling;
  std::vector<Setting> settings;
  if (text.find('=') != std::string::npos && !config::is_path(text)) {
    settings = split_list(text, {"--tiling " + text});
  } else {
    settings =
        config::Document::load(config::find_config(config::Folder::kTilings, text)).settings(tiling_schema().paths());
  }
  for (const Setting& s : settings) tiling_schema().apply(tiling, s);
  return tiling;
}

std::vector<std::pair<std::string, std::string>> tiling_text(const hal::Tiling& tiling) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& key : tiling_schema().keys()) {
    if (key.path == "np" && tiling.np == 0) continue;  // scores do not go in tiles
    out.emplace_back(key.path, config::format_value(key, key.get(tiling)));
  }
  return out;
}

}  // namespace attnvp::job
