// Text functions for messages: quoting, trimming, "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "platform/machine/error.h"

namespace attnvp::config {

std::string_view trimmed(std::string_view text);

// 'text' for a one-line message: printable, truncated if too long.
std::string in_quotes(std::string_view text);

// Location of an option's value: "--set l1.size=2 MiB", truncated if too long.
Origin option_origin(std::string_view option, std::string_view value);

// Levenshtein distance of a and b, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Nearest candidate; empty: none is near. For dotted paths, a correct last part in a wrong section ("bandwidth",
// "ram.bandwidth") is also near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; allowed: a, b, c". A long list is cut to the names nearest to the word (the first ones, if it is empty); `command`
// lists all: "; allowed: a, b, c, ... (all: attnvp list networks)".
std::string allowed_names(std::string_view word, const std::vector<std::string>& names, std::string_view command = {});

// "; did you mean 'x'?" or, if none is near, the allowed names.
std::string hint(std::string_view word, const std::vector<std::string>& candidates, std::string_view command = {});

// The known dotted paths with their sections: "a.b.c" gives "a", "a.b" and itself.
std::vector<std::string> with_sections(const std::vector<std::string>& known);

// Keys and sections in the same section as the path, as whole paths.
std::vector<std::string> siblings(const std::string& path, const std::vector<std::string>& all);

// Message for an unknown dotted path: the nearest known one (optionally also sections), else the allowed ones.
std::string unknown_path(const std::string& path, const std::vector<std::string>& known, bool sections);

}  // namespace attnvp::config
