#include "platform/machine/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

constexpr std::size_t kLargestFileBytes = 1 << 20;

std::string kind_of(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  return node.IsScalar() ? in_quotes(node.Scalar()) : "nothing";
}

// Counts documents and finds merge keys, which yaml-cpp treats as ordinary keys. YAML::LoadAll does not end on text
// such as ", a: 1", which yaml-cpp 0.7 reads as an infinite sequence of empty documents.
class Survey : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { line_ = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { next(); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { next(); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    const bool is_key = !open_.empty() && open_.back() == At::kKey;
    if (is_key && value == "<<" && tag == "?" && merge_line_ == 0) merge_line_ = mark.line + 1;
    next();
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    next();
    open_.push_back(At::kItem);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    next();
    open_.push_back(At::kKey);
  }
  void OnMapEnd() override { open_.pop_back(); }

  int line() const { return line_; }              // start of the last document
  int merge_line() const { return merge_line_; }  // first merge key; 0: none

 private:
  enum class At : std::uint8_t { kItem, kKey, kValue };
  void next() {
    if (open_.empty() || open_.back() == At::kItem) return;
    open_.back() = open_.back() == At::kKey ? At::kValue : At::kKey;
  }
  std::vector<At> open_;  // next item of each open map and list
  int line_ = 0, merge_line_ = 0;
};

// False for the usual file, which need not be parsed twice: its root is a block map or a block list, which only a
// marker ends, and it has no merge key.
bool may_hold_more(const std::string& text, const YAML::Node& root) {
  if ((!root.IsMap() && !root.IsSequence()) || root.Style() != YAML::EmitterStyle::Block) return true;
  if (text.find("<<") != std::string::npos) return true;
  for (std::size_t line = 0; line < text.size(); line = text.find('\n', line), line += line < text.size() ? 1 : 0) {
    const std::string_view start(text.data() + line, std::min<std::size_t>(3, text.size() - line));
    if (start == "---" || start == "..." || start.substr(0, 1) == "%") return true;
  }
  return false;
}

// Requires exactly one document without merge keys.
void check_documents(const std::string& text, const std::string& source) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Survey survey;
  const bool second = parser.HandleNextDocument(survey) && parser.HandleNextDocument(survey);
  if (second) {
    fail({source, std::max(survey.line(), 1)},
         "holds a second YAML document, or text that belongs to no key; allowed is one document");
  }
  if (survey.merge_line() != 0) {
    fail({source, survey.merge_line()}, "merge key '<<' is not supported; allowed is to write the merged keys out");
  }
}

// Requires printable text without tabs before a line's first word, for which YAML's errors are unclear.
void check_text(const std::string& text, const std::string& source) {
  const auto is_printable = [](unsigned char c) { return (c >= 0x20 && c < 0x7f) || c == '\n'; };
  if (std::all_of(text.begin(), text.end(), is_printable)) return;
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
  YAML::Node root;
  try {
    root = YAML::Load(text);
    if (may_hold_more(text, root)) check_documents(text, source);
  } catch (const YAML::Exception& problem) {
    fail({source, std::max(problem.mark.line, 0) + 1}, "not valid YAML: " + problem.msg);
  }
  if (root.IsNull()) fail({source}, "holds no keys");
  return Document(root, source);
}

Origin Document::origin(const YAML::Node& node) const { return {source_, std::max(node.Mark().line, 0) + 1}; }

void Document::require_map(const YAML::Node& node, const std::string& what) const {
  if (!node.IsMap()) fail(origin(node), fmt::format("{} must be a map of keys, found {}", what, kind_of(node)));
}

void Document::require_list(const YAML::Node& node, const std::string& what) const {
  if (!node.IsSequence()) fail(origin(node), fmt::format("{} must be a list, found {}", what, kind_of(node)));
}

std::string Document::scalar(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar()) fail(origin(node), fmt::format("{} must have one value, found {}", what, kind_of(node)));
  return node.Scalar();
}

void Document::require_keys(const YAML::Node& node, const std::string& what,
                            const std::vector<std::string>& allowed) const {
  require_map(node, what);
  std::map<std::string, int> lines;
  for (const auto& entry : node) {
    const YAML::Node& key_node = entry.first;
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
  require_map(root_, "the file");
  std::vector<Setting> out;
  flatten(root_, "", known, lists, out);
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
void Document::flatten(const YAML::Node& node, const std::string& prefix, const std::vector<std::string>& known,
                       const ListKeys& lists, std::vector<Setting>& out) const {
  const std::vector<std::string> all = with_sections(known);
  for (const auto& entry : node) {
    const YAML::Node& key_node = entry.first;
    const YAML::Node& value = entry.second;
    const std::string path = prefix + scalar(key_node, "a key");
    const Origin at = origin(key_node);
    if (std::find(all.begin(), all.end(), path) == all.end()) {
      fail(at, unknown_path(path, known, true));
    }
    if (std::find(known.begin(), known.end(), path + ".*") != known.end()) continue;
    if (std::find(known.begin(), known.end(), path) == known.end()) {
      if (!value.IsMap()) {
        fail(at, fmt::format("key '{}' is a section, found {}; allowed are its keys {}", path, kind_of(value),
                             fmt::join(siblings(path + ".", all), ", ")));
      }
      flatten(value, path + ".", known, lists, out);
      continue;
    }
    const auto list = lists.find(path);
    if (list != lists.end() && value.IsSequence()) {
      out.push_back({path, std::to_string(value.size()), at});
      flatten_list(value, path, list->second, out);
      continue;
    }
    if (!value.IsScalar()) fail(at, fmt::format("key '{}' must have one value, found {}", path, kind_of(value)));
    out.push_back({path, value.Scalar(), at});
  }
}

void Document::flatten_list(const YAML::Node& node, const std::string& path, const std::vector<std::string>& item_paths,
                            std::vector<Setting>& out) const {
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string item = fmt::format("{}.{}", path, i);
    require_map(node[i], fmt::format("key '{}'", item));
    std::vector<std::string> known;
    known.reserve(item_paths.size());
    for (const std::string& of_item : item_paths) known.push_back(item + "." + of_item);
    flatten(node[i], item + ".", known, {}, out);
  }
}

}  // namespace attnvp::config
