// Configuration files: YAML documents as nodes and as flat settings, and tables of CSV. Errors have file and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/machine/error.h"

namespace attnvp::config {

// Tree of a YAML document: maps, lists, texts and nothing.

// Storage of a node; a Document owns the tree.
struct YamlData {
  enum class YamlKind : std::uint8_t { kNothing, kText, kList, kMap };
  YamlKind kind = YamlKind::kNothing;
  int line = 1;  // where it begins
  std::string text;
  std::vector<YamlData> children;  // of a map: key, value, key, value
};

// A node of a document that outlives it, or no node.
class YamlNode {
 public:
  struct YamlEntry;
  class YamlIterator;

  YamlNode() = default;
  explicit YamlNode(const YamlData& data) : data_(&data) {}

  explicit operator bool() const { return data_ != nullptr; }
  bool is_nothing() const { return is(YamlData::YamlKind::kNothing); }
  bool is_scalar() const { return is(YamlData::YamlKind::kText); }
  bool is_list() const { return is(YamlData::YamlKind::kList); }
  bool is_map() const { return is(YamlData::YamlKind::kMap); }
  int line() const { return data_ == nullptr ? 1 : data_->line; }
  const std::string& scalar() const;  // empty if it is none

  // Number of items of a list or of entries of a map.
  std::size_t size() const;
  // Value of the first entry with that key; no node if there is none.
  YamlNode operator[](std::string_view key) const;
  YamlIterator begin() const;
  YamlIterator end() const;

 private:
  bool is(YamlData::YamlKind kind) const { return data_ != nullptr && data_->kind == kind; }
  const YamlData* data_ = nullptr;
};

// An item of a list, or key and value of a map's entry.
struct YamlNode::YamlEntry : YamlNode {
  YamlNode first, second;
};

class YamlNode::YamlIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = YamlEntry;
  using difference_type = std::ptrdiff_t;
  using pointer = const YamlEntry*;
  using reference = YamlEntry;

  YamlIterator(const YamlData* at, bool is_map) : at_(at), is_map_(is_map) {}
  YamlEntry operator*() const;
  YamlIterator& operator++() {
    at_ += is_map_ ? 2 : 1;
    return *this;
  }
  bool operator==(const YamlIterator& other) const { return at_ == other.at_; }

 private:
  const YamlData* at_;
  bool is_map_;
};

// The tree of a text in YAML 1.2 as yaml-cpp reads it, which must be one document; nothing for an empty one. Aliases
// become copies. Throws ConfigError with the name `source` and a line.
std::shared_ptr<const YamlData> parse_yaml(const std::string& text, const std::string& source);

// One scalar of a YAML file with its dotted path ("l1.size"), or a "key=value" of the command line.
struct Setting {
  std::string path;
  std::string text;
  Origin origin;
};

// Text of a regular file of at most 1 MiB, in UTF-8 without control characters; a byte order mark is removed. Throws
// ConfigError.
std::string read_text_file(const std::string& path);

// Path for messages: relative to the working directory if below it.
std::string shown_path(const std::string& path);

// Keys whose value may be a list of maps, with the allowed paths of a map: {"cores", {"mac.rows"}}. '*' stands for an
// item of an enclosing list: "clusters.*.cores".
using ListKeys = std::map<std::string, std::vector<std::string>>;

class Document {
 public:
  // Throws ConfigError: not readable, not YAML, more than one document, empty.
  static Document load(const std::string& path);
  static Document parse(const std::string& text, const std::string& source);

  YamlNode root() const { return YamlNode(*tree_); }  // valid while the document or a copy exists
  const std::string& source() const { return source_; }

  Origin origin(const YamlNode& node) const;

  // Checks of one node; each throws ConfigError with file and line. Messages call the node `what`.
  void require_map(const YamlNode& node, const std::string& what) const;
  void require_list(const YamlNode& node, const std::string& what) const;
  std::string scalar(const YamlNode& node, const std::string& what) const;

  // The node must be a map of allowed keys without duplicates.
  void require_keys(const YamlNode& node, const std::string& what, const std::vector<std::string>& allowed) const;

  // Flattens the root map to dotted paths, in file order. `known` holds every allowed path, and "x.*" for a section
  // that is read elsewhere. Refuses unknown keys and sections (naming the nearest known one), duplicates, values of a
  // section, and maps or lists of a key. A list under a key of `lists` becomes the key with the number of items,
  // "cores" with "2", followed by the items' settings, "cores.1.mac.rows".
  std::vector<Setting> settings(const std::vector<std::string>& known, const ListKeys& lists = {}) const;

 private:
  Document(std::shared_ptr<const YamlData> tree, std::string source)
      : tree_(std::move(tree)), source_(std::move(source)) {}
  static Document parse_checked(const std::string& text, const std::string& source);
  // `all`: the known paths with those of their sections.
  void flatten(const YamlNode& node, const std::string& prefix, const std::vector<std::string>& known,
               const std::vector<std::string>& all, const ListKeys& lists, std::vector<Setting>& out) const;
  void flatten_list(const YamlNode& node, const std::string& path, const std::vector<std::string>& item_paths,
                    const ListKeys& lists, std::vector<Setting>& out) const;

  std::shared_ptr<const YamlData> tree_;
  std::string source_;
};

// Reader of comma-separated values (RFC 4180): a line of column names, then lines with as many cells. Lines that begin
// with '#' are comments. Cells may be in double quotes; blanks around their text are ignored.

struct CsvLine {
  Origin origin;
  std::vector<std::string> cells;
};

// Column names must be unique. Throws ConfigError with file and line.
std::vector<CsvLine> read_csv_table(const std::string& path);
// Lines of a part of a table; `first` is the file and the number of its first line.
std::vector<CsvLine> read_csv_lines(std::string_view part, const Origin& first);

// Throws ConfigError with file and line: not a number, not finite, not above 0.
double positive_number(const CsvLine& line, std::size_t column);
// As positive_number, but allows 0.
double number_from_zero(const CsvLine& line, std::size_t column);

}  // namespace attnvp::config
