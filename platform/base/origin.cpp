#include "platform/base/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "platform/base/text.h"

namespace attnvp::text {

namespace {
std::string& current() {
  static std::string text;
  return text;
}
}  // namespace

std::string version() { return ATTNVP_VERSION; }
std::string command() { return current(); }
void set_command(std::string text) { current() = std::move(text); }
std::string generator() { return "AttnVP " + version(); }

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace attnvp::text

namespace attnvp::files {

namespace {

std::vector<Fact>& noted() {
  static std::vector<Fact> facts;
  return facts;
}

// In one line, not truncated.
std::string shown(const std::string& value) { return text::printable(value, std::string::npos); }

void replace_all(std::string& all, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = all.find(from, at)) != std::string::npos; at += to.size()) {
    all.replace(at, from.size(), to);
  }
}

std::string lines(const char* begin, const char* end) {
  std::string out;
  for (const Fact& fact : origin()) out += fmt::format("{}attnvp {}: {}{}\n", begin, fact.name, shown(fact.value), end);
  return out;
}

std::string csv_cell(const std::string& value) {
  if (value.find_first_of(",\"") == std::string::npos) return value;
  std::string quoted = value;
  replace_all(quoted, "\"", "\"\"");
  return "\"" + quoted + "\"";
}

// Appends the same cells to every line; line ends within quotes are skipped.
std::string csv_columns(const std::string& table) {
  std::string names, values;
  for (const Fact& fact : origin()) {
    names += ",attnvp_" + fact.name;
    values += "," + csv_cell(shown(fact.value));
  }
  std::string out;
  bool quoted = false, first = true;
  for (const char c : table) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) {
      out += first ? names : values;
      first = false;
    }
    out += c;
  }
  return out;
}

void insert_after(std::string& file, std::string_view mark, std::size_t from, const std::string& what) {
  const std::size_t at = file.find(mark, from);
  if (at != std::string::npos) file.insert(at + mark.size(), what);
}

std::string html_meta() {
  std::string out;
  for (const Fact& fact : origin()) {
    out +=
        fmt::format("\n<meta name=\"attnvp:{}\" content=\"{}\">", fact.name, text::escaped_for_html(shown(fact.value)));
  }
  return out;
}

std::string svg_metadata() {
  std::string out;
  for (const Fact& fact : origin()) {
    out +=
        fmt::format("{}attnvp {}: {}", out.empty() ? "" : "\n", fact.name, text::escaped_for_html(shown(fact.value)));
  }
  return "\n<metadata>" + out + "</metadata>";
}

}  // namespace

std::vector<Fact> origin() {
  std::vector<Fact> facts{{"version", text::version()}};
  if (!text::command().empty()) facts.push_back({"command", text::command()});
  facts.insert(facts.end(), noted().begin(), noted().end());
  return facts;
}

void note(const std::string& name, const std::string& value) {
  const auto found = std::find_if(noted().begin(), noted().end(), [&](const Fact& f) { return f.name == name; });
  if (found != noted().end()) {
    found->value = value;
  } else {
    noted().push_back({name, value});
  }
}

std::string with_origin(Form form, std::string file) {
  switch (form) {
    case Form::kOwn:
      break;
    case Form::kHash:
      return lines("# ", "") + file;
    case Form::kSlashes:
      return lines("// ", "") + file;
    case Form::kCsv:
      return csv_columns(file);
    case Form::kGtkw:
      return lines("[*] ", "") + file;
    case Form::kVcd: {
      std::string comments = lines("$comment ", " \x01");
      replace_all(comments, "$end", "$ end");  // would end the comment
      replace_all(comments, "\x01", "$end");
      return fmt::format("$version {} $end\n", text::generator()) + comments + file;
    }
    case Form::kSvg:
      insert_after(file, ">", file.find("<svg"), svg_metadata());
      break;
    case Form::kHtml:
      insert_after(file, "<meta charset=\"utf-8\">", 0, html_meta());
      break;
    case Form::kMarkdown: {
      std::string comments = lines("<!-- ", " \x01");
      for (const char* end : {"-->", "--!>"}) replace_all(comments, end, "-- >");
      replace_all(comments, "\x01", "-->");
      return comments + file;
    }
  }
  return file;
}

}  // namespace attnvp::files
