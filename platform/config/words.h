// Small text helpers for messages: quoting, trimming, "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/error.h"

namespace attnvp::config {

std::string_view trimmed(std::string_view text);

// 'text' fit for a one-line message: printable, cut off when absurdly long.
std::string in_quotes(std::string_view text);

// The place of what an option gave: "--set l1.size=2 MiB", cut off when absurdly long.
Origin option_origin(std::string_view option, std::string_view value);

// Number of single-character insertions, deletions and substitutions that turn a into b, upper and lower case
// alike.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate a user most likely meant; empty when none is near. For dotted paths, the right last part
// under the wrong section ("bandwidth", "ram.bandwidth") is near as well.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'x'?" or, with nothing near, "; allowed: a, b, c".
std::string hint(std::string_view word, const std::vector<std::string>& candidates);

// The known dotted paths and every section that leads to them: "a.b.c" gives "a", "a.b" and itself.
std::vector<std::string> with_sections(const std::vector<std::string>& known);

// What may stand where the path stands: the keys and sections beside it, whole paths.
std::vector<std::string> siblings(const std::string& path, const std::vector<std::string>& all);

// The sentence for a dotted path that is no key: the nearest known one (of sections too, if asked), else what
// may stand there.
std::string unknown_path(const std::string& path, const std::vector<std::string>& known, bool sections);

}  // namespace attnvp::config
