// What made an output, and of what: said in every file, by each kind of file in its own way.
#pragma once

#include <string>
#include <vector>

namespace attnvp::files {

struct Fact {
  std::string name, value;
};
// "version"; "command", where one is known; and what the command has noted of its job: machine_hash, overrides, ...
std::vector<Fact> origin();
void note(const std::string& name, const std::string& value);  // in place of what it was

enum class Form {
  kOwn,       // says so itself, as JSON does, or cannot, as .npy
  kHash,      // YAML and others: lines that begin with #
  kSlashes,   // Graphviz: lines that begin with //
  kCsv,       // columns behind the others: what reads the file by columns still does
  kVcd,       // $version, $comment
  kGtkw,      // lines that begin with [*]
  kSvg,       // <metadata> in the root
  kHtml,      // <meta> in the head
  kMarkdown,  // a comment at the top
};
// The file's text with its origin in it. The same facts and text give the same bytes.
std::string with_origin(Form form, std::string file);

}  // namespace attnvp::files
