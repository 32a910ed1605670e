#include "platform/report/json.h"

#include <fmt/format.h>

#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/machine/error.h"

namespace attnvp::report {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kLargestFileBytes = std::uint64_t{2} << 30;
constexpr int kDeepest = 100;  // levels; a run's JSON has five

// Nesting depth of brackets and braces, before parsing.
int depth_of(const std::string& text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

constexpr auto kReplace = ordered_json::error_handler_t::replace;

}  // namespace

ordered_json json_document() {
  ordered_json document{{"schema", 1}, {"version", text::version()}};
  if (!text::command().empty()) document["command"] = text::command();
  return document;
}

void add_machine(ordered_json& document, const std::string& hash, const std::vector<std::string>& overrides) {
  document["machine_hash"] = hash;
  document["overrides"] = ordered_json::object();
  for (const std::string& text : overrides) {
    const std::size_t at = text.find('=');
    document["overrides"][text.substr(0, at)] = text.substr(at + 1);
  }
}

std::string json_text(const ordered_json& document) { return document.dump(2, ' ', false, kReplace) + "\n"; }

std::string json_for_html(const ordered_json& document) {
  std::string data = document.dump(-1, ' ', false, kReplace);
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;) data.replace(at, 1, "\\u003c");
  return data;
}

ordered_json read_json(const std::string& path) {
  const std::string text = files::read_file(path, kLargestFileBytes);
  if (const int depth = depth_of(text); depth > kDeepest) {
    config::fail({path}, fmt::format("is nested {} levels deep; allowed are {}", depth, kDeepest));
  }
  try {
    return ordered_json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    config::fail({path}, fmt::format("not JSON, from byte {} on", e.byte));
  } catch (const nlohmann::json::exception&) {
    config::fail({path}, "not JSON: a number is out of range");
  }
}

}  // namespace attnvp::report
