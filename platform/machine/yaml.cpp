#include "platform/machine/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <utility>

#include "platform/machine/error.h"

namespace attnvp::config {

namespace {

constexpr std::size_t kDeepest = 100;        // maps and lists in each other
constexpr std::size_t kMostNodes = 1 << 20;  // with copies for aliases

std::size_t count(const YamlData& node) {
  std::size_t all = 1;
  for (const YamlData& child : node.children) all += count(child);
  return all;
}

class YamlParser {
 public:
  YamlParser(const std::string& text, const std::string& source) : text_(text), source_(source) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlParser() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  YamlParser(const YamlParser&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;

  YamlData parse() {
    YamlData root;
    while (next() != YAML_STREAM_END_EVENT) {
      if (event_.type == YAML_DOCUMENT_END_EVENT) is_over_ = true;
      if (event_.type == YAML_DOCUMENT_START_EVENT && is_over_) refuse_second(line_of(event_.start_mark));
      if (event_.type == YAML_DOCUMENT_START_EVENT || event_.type == YAML_DOCUMENT_END_EVENT) continue;
      if (event_.type == YAML_STREAM_START_EVENT) continue;
      add(root);
    }
    return root;
  }

 private:
  struct OpenYaml {
    YamlData node;
    std::string anchor;
  };

  static int line_of(const yaml_mark_t& mark) { return static_cast<int>(mark.line) + 1; }

  yaml_event_type_t next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) != 0) return event_.type;
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    int line = line_of(parser_.problem_mark);
    if (parser_.error == YAML_READER_ERROR) {
      const std::size_t offset = std::min(parser_.problem_offset, text_.size());
      line = 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    }
    if (is_over_) refuse_second(line);
    refuse(line, fmt::format("not valid YAML: {}", parser_.problem));
  }

  [[noreturn]] void refuse(int line, const std::string& why) const { fail({source_, line}, why); }
  [[noreturn]] void refuse_second(int line) const {
    refuse(line, "holds a second YAML document, or text that belongs to no key; allowed is one document");
  }

  void add(YamlData& root) {
    const int line = line_of(event_.start_mark);
    switch (event_.type) {
      case YAML_SCALAR_EVENT:
        return close(scalar(line), text_of(event_.data.scalar.anchor), root);
      case YAML_SEQUENCE_START_EVENT:
        return open(YamlData::YamlKind::kList, text_of(event_.data.sequence_start.anchor), line);
      case YAML_MAPPING_START_EVENT:
        return open(YamlData::YamlKind::kMap, text_of(event_.data.mapping_start.anchor), line);
      case YAML_ALIAS_EVENT:
        return close(anchored(text_of(event_.data.alias.anchor), line), {}, root);
      default: {  // the end of a list or of a map
        OpenYaml done = std::move(open_.back());
        open_.pop_back();
        return close(std::move(done.node), done.anchor, root);
      }
    }
  }

  void open(YamlData::YamlKind kind, std::string anchor, int line) {
    if (open_.size() == kDeepest)
      refuse(line, fmt::format("has more than {} lists and maps in each other; allowed are so many", kDeepest));
    open_.push_back({{kind, line, {}, {}}, std::move(anchor)});
  }

  void close(YamlData node, const std::string& anchor, YamlData& root) {
    take(1, node.line);
    if (!anchor.empty()) {
      take(count(node), node.line);
      anchors_.insert_or_assign(anchor, node);
    }
    (open_.empty() ? root : open_.back().node.children.emplace_back()) = std::move(node);
  }

  YamlData scalar(int line) {
    const auto& scalar = event_.data.scalar;
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.tag == nullptr;
    const bool is_key = !open_.empty() && open_.back().node.kind == YamlData::YamlKind::kMap &&
                        open_.back().node.children.size() % 2 == 0;
    if (is_plain && is_key && text == "<<") {
      refuse(line, "merge key '<<' is not supported; allowed is to write the merged keys out");
    }
    const bool is_nothing =
        is_plain && (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
    return {is_nothing ? YamlData::YamlKind::kNothing : YamlData::YamlKind::kText, line, std::move(text), {}};
  }

  YamlData anchored(const std::string& name, int line) {
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      refuse(line, fmt::format("not valid YAML: the alias '*{}' names no anchor before it", name));
    }
    take(count(found->second), line);
    return found->second;
  }

  void take(std::size_t nodes, int line) {
    nodes_ += nodes;
    if (nodes_ > kMostNodes) refuse(line, fmt::format("has more than {} nodes; allowed are so many", kMostNodes));
  }

  static std::string text_of(const yaml_char_t* text) {
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }

  const std::string& text_;
  const std::string& source_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool is_over_ = false;  // the document
  std::vector<OpenYaml> open_;
  std::map<std::string, YamlData> anchors_;
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
  return std::make_shared<const YamlData>(YamlParser(text, source).parse());
}

}  // namespace attnvp::config
