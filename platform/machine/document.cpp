#include "platform/machine/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

constexpr std::size_t kLargestFileBytes = 1 << 20;

std::string kind_of(const YamlNode& node) {
  if (node.is_map()) return "a map";
  if (node.is_list()) return "a list";
  return node.is_scalar() ? in_quotes(node.scalar()) : "nothing";
}

// The path with '*' for its numbers.
std::string pattern_of(const std::string& path) {
  std::string pattern;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    const std::string part = path.substr(start, dot - start);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    pattern += (start == 0 ? "" : ".") + (is_number ? "*" : part);
    start = dot + 1;
  }
  return pattern;
}

// Requires printable text without tabs before a line's first word, for which YAML's errors are unclear.
void check_text(const std::string& text, const std::string& source) {
  unsigned others = 0;  // summed up without leaving the loop, so that it is vectorised
  for (const char c : text) others += ((c >= 0x20 && c < 0x7f) || c == '\n') ? 0 : 1;
  if (others == 0) return;
  if (text.find('\0') != std::string::npos) fail({source}, "is not a text file");
  const std::size_t foreign = text::first_not_utf8(text);
  int line = 1;
  bool indentation = true, tab = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (at == foreign) fail({source, line}, fmt::format("holds the byte \\x{:02x}; allowed is text in UTF-8", c));
    if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f) {
      fail({source, line}, fmt::format("holds the control character \\x{:02x}; allowed is plain text", c));
    }
    if (c == '\n') {
      ++line;
      indentation = true;
      tab = false;
    } else if (indentation) {
      tab = tab || c == '\t';
      indentation = c == ' ' || c == '\t' || c == '\r';
      if (!indentation && tab && c != '#') fail({source, line}, "is indented by a tab; allowed are spaces");
    }
  }
}

}  // namespace

std::string shown_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || !std::filesystem::path(path).is_absolute()) return path;
  const std::filesystem::path relative = std::filesystem::path(path).lexically_normal().lexically_relative(here);
  if (relative.empty() || *relative.begin() == "..") return path;
  return relative.string();
}

std::string read_text_file(const std::string& path) {
  std::string text = files::read_file(shown_path(path), kLargestFileBytes);
  check_text(text, shown_path(path));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) text.erase(0, kByteOrderMark.size());
  return text;
}

Document Document::load(const std::string& path) { return parse_checked(read_text_file(path), shown_path(path)); }

Document Document::parse(const std::string& text, const std::string& source) {
  check_text(text, source);
  return parse_checked(text, source);
}

Document Document::parse_checked(const std::string& text, const std::string& source) {
  Document document(parse_yaml(text, source), source);
  if (document.root().is_nothing()) fail({source}, "holds no keys");
  return document;
}

Origin Document::origin(const YamlNode& node) const { return {source_, node.line()}; }

void Document::require_map(const YamlNode& node, const std::string& what) const {
  if (!node.is_map()) fail(origin(node), fmt::format("{} must be a map of keys, found {}", what, kind_of(node)));
}

void Document::require_list(const YamlNode& node, const std::string& what) const {
  if (!node.is_list()) fail(origin(node), fmt::format("{} must be a list, found {}", what, kind_of(node)));
}

std::string Document::scalar(const YamlNode& node, const std::string& what) const {
  if (!node.is_scalar()) fail(origin(node), fmt::format("{} must have one value, found {}", what, kind_of(node)));
  return node.scalar();
}

void Document::require_keys(const YamlNode& node, const std::string& what,
                            const std::vector<std::string>& allowed) const {
  require_map(node, what);
  std::map<std::string, int> lines;
  for (const auto& entry : node) {
    const YamlNode& key_node = entry.first;
    const std::string key = scalar(key_node, "a key");
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      fail(origin(key_node), fmt::format("key {} is unknown{}", in_quotes(key), hint(key, allowed)));
    }
    const auto [first, inserted] = lines.emplace(key, origin(key_node).line);
    if (!inserted) {
      fail(origin(key_node), fmt::format("key '{}' is given twice, first in line {}", key, first->second));
    }
  }
}

std::vector<Setting> Document::settings(const std::vector<std::string>& known, const ListKeys& lists) const {
  require_map(root(), "the file");
  std::vector<Setting> out;
  flatten(root(), "", known, with_sections(known), lists, out);
  std::map<std::string, int> lines;
  for (const Setting& setting : out) {
    const auto [first, inserted] = lines.emplace(setting.path, setting.origin.line);
    if (!inserted) {
      fail(setting.origin, fmt::format("key '{}' is given twice, first in line {}", setting.path, first->second));
    }
  }
  return out;
}

// Ends for any input, also for aliases to themselves: each level must be a section of a known path.
void Document::flatten(const YamlNode& node, const std::string& prefix, const std::vector<std::string>& known,
                       const std::vector<std::string>& all, const ListKeys& lists, std::vector<Setting>& out) const {
  for (const auto& entry : node) {
    const YamlNode& key_node = entry.first;
    const YamlNode& value = entry.second;
    const std::string path = prefix + scalar(key_node, "a key");
    const Origin at = origin(key_node);
    if (std::find(all.begin(), all.end(), path) == all.end()) {
      fail(at, unknown_path(path, known, true));
    }
    if (std::find(known.begin(), known.end(), path + ".*") != known.end()) continue;
    if (std::find(known.begin(), known.end(), path) == known.end()) {
      if (!value.is_map()) {
        fail(at, fmt::format("key '{}' is a section, found {}; allowed are its keys {}", path, kind_of(value),
                             fmt::join(siblings(path + ".", all), ", ")));
      }
      flatten(value, path + ".", known, all, lists, out);
      continue;
    }
    const auto list = lists.find(pattern_of(path));
    if (list != lists.end() && value.is_list()) {
      out.push_back({path, std::to_string(value.size()), at});
      flatten_list(value, path, list->second, lists, out);
      continue;
    }
    if (!value.is_scalar()) fail(at, fmt::format("key '{}' must have one value, found {}", path, kind_of(value)));
    out.push_back({path, value.scalar(), at});
  }
}

void Document::flatten_list(const YamlNode& node, const std::string& path, const std::vector<std::string>& item_paths,
                            const ListKeys& lists, std::vector<Setting>& out) const {
  std::size_t i = 0;
  for (const YamlNode& map : node) {
    const std::string item = fmt::format("{}.{}", path, i++);
    require_map(map, fmt::format("key '{}'", item));
    std::vector<std::string> known;
    known.reserve(item_paths.size());
    for (const std::string& of_item : item_paths) known.push_back(item + "." + of_item);
    flatten(map, item + ".", known, with_sections(known), lists, out);
  }
}

}  // namespace attnvp::config
