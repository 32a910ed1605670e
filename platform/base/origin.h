// Origin of an output: version, command and job, embedded in every file in a form that suits its format.
#pragma once

#include <string>
#include <vector>

namespace attnvp::text {

// Version of AttnVP and the current command, for all outputs.

std::string version();    // "1.0.0"
std::string generator();  // "AttnVP 1.0.0"

// A word for a POSIX shell, quoted if necessary.
std::string shell_word(const std::string& word);

// The current command in shell syntax, without output paths: equal commands make equal files. Empty if outputs do not
// contain it.
std::string command();
void set_command(std::string text);

}  // namespace attnvp::text

namespace attnvp::files {

struct Fact {
  std::string name, value;
};
// "version", "command" (if known), and facts noted by the command: machine_hash, overrides, ...
std::vector<Fact> origin();
void note(const std::string& name, const std::string& value);  // replaces an earlier value

enum class Form {
  kOwn,       // contains the facts itself (JSON) or cannot (.npy)
  kHash,      // lines that begin with #: YAML and others
  kSlashes,   // lines that begin with //: Graphviz
  kCsv,       // additional columns at the end
  kVcd,       // $version, $comment
  kGtkw,      // lines that begin with [*]
  kSvg,       // <metadata> in the root
  kHtml,      // <meta> in the head
  kMarkdown,  // a comment at the top
};
// The file's text with its origin. Equal facts and text give equal bytes.
std::string with_origin(Form form, std::string file);

}  // namespace attnvp::files
