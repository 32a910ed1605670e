// A report's pieces: a title, a few words, a table, notes; as terminal text and as Markdown.
#pragma once

#include <string>
#include <vector>

namespace attnvp::reproduce {

struct Section {
  std::string title;
  std::string lead;                  // what the table shows; may be empty
  std::vector<std::string> columns;  // none: no table
  std::size_t left = 1;              // columns of text, the first ones; the others are numbers
  bool text_last = false;            // the last column is text as well
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // a list below the table
};

std::string times(double ratio);  // "1.73x"
std::string to_text(const Section& section);
std::string to_markdown(const Section& section);

}  // namespace attnvp::reproduce
