#include "explore/serve/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

namespace {

using config::ConfigError;
using nlohmann::ordered_json;

constexpr std::size_t kLongestText = 300;
constexpr std::size_t kMostSettings = 200;

void check_text(const std::string& what, const std::string& text) {
  if (text.size() > kLongestText) {
    throw ConfigError(fmt::format("state: {} has {} characters; allowed are {}", what, text.size(), kLongestText));
  }
  if (!text::is_printable(text)) throw ConfigError(fmt::format("state: {} has characters that cannot be shown", what));
}

void add_setting(ServerState& state, const std::string& key, const std::string& value) {
  check_text("a key", key);
  check_text("key " + config::in_quotes(key), value);
  const auto same = [&](const auto& other) { return other.first == key; };
  if (std::any_of(state.settings.begin(), state.settings.end(), same)) {
    throw ConfigError(fmt::format("state: key {} is given twice", config::in_quotes(key)));
  }
  if (state.settings.size() >= kMostSettings) {
    throw ConfigError(fmt::format("state: more than {} keys are set", kMostSettings));
  }
  state.settings.emplace_back(key, value);
}

// Member of the state by its name in JSON and YAML; nullptr: no text of that name.
std::string* text_of(ServerState& state, const std::string& name) {
  if (name == "hardware") return &state.hardware;
  if (name == "network") return &state.network;
  if (name == "dataflow") return &state.dataflow;
  return name == "tiling" ? &state.tiling : nullptr;
}

[[noreturn]] void refuse_member(const std::string& name) {
  throw ConfigError(fmt::format("state: member {} is unknown{}", config::in_quotes(name),
                                config::hint(name, {"hardware", "network", "dataflow", "tiling", "set"})));
}

std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == ',' || c == ':';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1, low = high < 0 ? -1 : digit_of(text[i + 2]);
    if (text[i] == '%' && low < 0) {
      throw ConfigError(fmt::format("state: '%' at character {} of the address is not followed by two digits", i + 1));
    }
    if (text[i] == '%') {
      out += static_cast<char>(16 * high + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// JSON strings are YAML's double-quoted scalars.
std::string quoted(const std::string& text) { return ordered_json(text).dump(); }

}  // namespace

std::vector<std::string> ServerState::overrides() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : settings) all.push_back(key + "=" + value);
  return all;
}

ServerState state_of_json(const ordered_json& json) {
  if (!json.is_object()) throw ConfigError("state: found no object; allowed is {\"hardware\": ..., \"set\": {...}}");
  ServerState state;
  for (const auto& [name, value] : json.items()) {
    if (std::string* const text = text_of(state, name); text != nullptr) {
      if (!value.is_string()) throw ConfigError(fmt::format("state: member '{}' must be a text", name));
      *text = value.get<std::string>();
      check_text("member '" + name + "'", *text);
      continue;
    }
    if (name != "set") refuse_member(name);
    if (!value.is_object()) throw ConfigError("state: member 'set' must be an object");
    for (const auto& [key, setting] : value.items()) {
      if (!setting.is_string()) {
        throw ConfigError(fmt::format("state: the value of key {} must be a text", config::in_quotes(key)));
      }
      add_setting(state, key, setting.get<std::string>());
    }
  }
  return state;
}

ServerState state_of_query(const std::string& query) {
  ServerState state;
  for (std::size_t start = 0; start < query.size();) {
    const std::size_t end = std::min(query.find('&', start), query.size());
    const std::string word = query.substr(start, end - start);
    start = end + 1;
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const std::string value = decoded(word.substr(std::min(equals + 1, word.size())));
    const std::string member = name == "hw" ? "hardware" : name == "net" ? "network" : name;
    if (name == "set") {
      const std::size_t at = value.find('=');
      if (at == std::string::npos) throw ConfigError("state: 'set' of the address needs key=value");
      add_setting(state, value.substr(0, at), value.substr(at + 1));
    } else if (std::string* const text = text_of(state, member); text != nullptr && member != "set") {
      *text = value;
      check_text("member '" + member + "'", value);
    } else {
      refuse_member(name);
    }
  }
  return state;
}

ServerState state_of_yaml(const std::string& text) {
  const config::Document d = config::Document::parse(text, "the state's YAML");
  d.require_keys(d.root(), "the state", {"hardware", "network", "dataflow", "tiling", "set", "data"});
  ServerState state;
  for (const char* name : {"hardware", "network", "dataflow", "tiling"}) {
    if (!d.root()[name]) continue;
    std::string& value = *text_of(state, name);
    value = d.scalar(d.root()[name], fmt::format("key '{}'", name));
    check_text(fmt::format("member '{}'", name), value);
  }
  const config::YamlNode settings = d.root()["set"];
  if (!settings) return state;
  d.require_map(settings, "key 'set'");
  for (const auto& entry : settings) {
    const std::string key = d.scalar(entry.first, "a key of 'set'");
    add_setting(state, key, d.scalar(entry.second, fmt::format("key '{}'", key)));
  }
  return state;
}

ordered_json to_json(const ServerState& state) {
  ordered_json json{{"hardware", state.hardware}, {"network", state.network}, {"dataflow", state.dataflow}};
  if (!state.tiling.empty()) json["tiling"] = state.tiling;
  json["set"] = ordered_json::object();
  for (const auto& [key, value] : state.settings) json["set"][key] = value;
  return json;
}

std::string to_query(const ServerState& state) {
  std::string query =
      fmt::format("hw={}&net={}&dataflow={}", encoded(state.hardware), encoded(state.network), encoded(state.dataflow));
  if (!state.tiling.empty()) query += "&tiling=" + encoded(state.tiling);
  for (const auto& [key, value] : state.settings) query += "&set=" + encoded(key + "=" + value);
  return query;
}

std::string to_yaml(const ServerState& state) {
  std::string yaml =
      fmt::format("# One job of attnvp serve; `attnvp sweep FILE` runs it\nhardware: {}\nnetwork: {}\ndataflow: {}\n",
                  quoted(state.hardware), quoted(state.network), quoted(state.dataflow));
  if (!state.tiling.empty()) yaml += fmt::format("tiling: {}\n", quoted(state.tiling));
  if (!state.settings.empty()) yaml += "set:\n";
  for (const auto& [key, value] : state.settings) yaml += fmt::format("  {}: {}\n", quoted(key), quoted(value));
  return yaml;
}

std::string to_command(const ServerState& state, const std::string& command) {
  std::string text = fmt::format("attnvp {} --hw {} --net {} --dataflow {}", command, text::shell_word(state.hardware),
                                 text::shell_word(state.network), text::shell_word(state.dataflow));
  for (const std::string& setting : state.overrides()) text += " --set " + text::shell_word(setting);
  if (!state.tiling.empty()) text += " --tiling " + text::shell_word(state.tiling);
  return command == "run" ? text + " --data timing" : text;
}

}  // namespace attnvp::explore
