#include "platform/machine/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::config {

namespace {

constexpr std::size_t kDeepest = 100;        // maps and lists in each other
constexpr std::size_t kMostNodes = 1 << 20;  // with copies for aliases

std::size_t count(const YamlData& node) {
  std::size_t all = 1;
  for (const YamlData& child : node.children) all += count(child);
  return all;
}

// Builds the tree from yaml-cpp's events, which are several times faster than its nodes.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& source) : source_(source) {}
  YamlData take_root() { return std::move(root_); }

  // yaml-cpp 0.7 reads text such as ", a: 1" as an infinite sequence of empty documents.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) {
      refuse(line_of(mark), "holds a second YAML document, or text that belongs to no key; allowed is one document");
    }
    has_document_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    close({YamlData::YamlKind::kNothing, line_of(mark), {}, {}}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      refuse(line_of(mark), "not valid YAML: an alias stands within the node that it names");
    }
    take(count(found->second), line_of(mark));
    close(YamlData(found->second), YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_key = !open_.empty() && open_.back().node.kind == YamlData::YamlKind::kMap &&
                        open_.back().node.children.size() % 2 == 0;
    if (is_key && value == "<<" && tag == kPlain) {
      refuse(line_of(mark), "merge key '<<' is not supported; allowed is to write the merged keys out");
    }
    close({YamlData::YamlKind::kText, line_of(mark), value, {}}, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlData::YamlKind::kList, anchor, line_of(mark));
  }
  void OnSequenceEnd() override { close_last(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlData::YamlKind::kMap, anchor, line_of(mark));
  }
  void OnMapEnd() override { close_last(); }

 private:
  static constexpr const char* kPlain = "?";  // tag of an unquoted scalar without one
  struct OpenYaml {
    YamlData node;
    YAML::anchor_t anchor;
  };

  static int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }
  [[noreturn]] void refuse(int line, const std::string& why) const { fail({source_, line}, why); }

  void open(YamlData::YamlKind kind, YAML::anchor_t anchor, int line) {
    if (open_.size() == kDeepest)
      refuse(line, fmt::format("has more than {} lists and maps in each other; allowed are so many", kDeepest));
    open_.push_back({{kind, line, {}, {}}, anchor});
  }
  void close_last() {
    OpenYaml done = std::move(open_.back());
    open_.pop_back();
    close(std::move(done.node), done.anchor);
  }
  void close(YamlData node, YAML::anchor_t anchor) {
    take(1, node.line);
    if (anchor != YAML::NullAnchor) {
      take(count(node), node.line);
      anchors_.insert_or_assign(anchor, node);
    }
    (open_.empty() ? root_ : open_.back().node.children.emplace_back()) = std::move(node);
  }
  void take(std::size_t nodes, int line) {
    nodes_ += nodes;
    if (nodes_ > kMostNodes) refuse(line, fmt::format("has more than {} nodes; allowed are so many", kMostNodes));
  }

  const std::string& source_;
  YamlData root_;
  bool has_document_ = false;
  std::vector<OpenYaml> open_;
  std::map<YAML::anchor_t, YamlData> anchors_;
  std::size_t nodes_ = 0;
};

}  // namespace

const std::string& YamlNode::scalar() const {
  static const std::string none;
  return is_scalar() ? data_->text : none;
}

std::size_t YamlNode::size() const {
  if (data_ == nullptr) return 0;
  return data_->kind == YamlData::YamlKind::kMap ? data_->children.size() / 2 : data_->children.size();
}

YamlNode YamlNode::operator[](std::string_view key) const {
  if (!is_map()) return {};
  for (std::size_t i = 0; i < data_->children.size(); i += 2) {
    const YamlData& name = data_->children[i];
    if (name.kind == YamlData::YamlKind::kText && name.text == key) return YamlNode(data_->children[i + 1]);
  }
  return {};
}

YamlNode::YamlIterator YamlNode::begin() const {
  return {data_ == nullptr ? nullptr : data_->children.data(), is_map()};
}

YamlNode::YamlIterator YamlNode::end() const {
  return {data_ == nullptr ? nullptr : data_->children.data() + data_->children.size(), is_map()};
}

YamlNode::YamlEntry YamlNode::YamlIterator::operator*() const {
  if (is_map_) return {YamlNode(), YamlNode(at_[0]), YamlNode(at_[1])};
  return {YamlNode(at_[0]), YamlNode(), YamlNode()};
}

std::shared_ptr<const YamlData> parse_yaml(const std::string& text, const std::string& source) {
  TreeBuilder tree(source);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(tree)) parser.HandleNextDocument(tree);  // a second one is refused
  } catch (const YAML::Exception& problem) {
    fail({source, std::max(problem.mark.line, 0) + 1}, "not valid YAML: " + problem.msg);
  }
  return std::make_shared<const YamlData>(tree.take_root());
}

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
