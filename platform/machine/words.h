// Words of settings and messages: quoting, trimming, "did you mean", and values with units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/keys/key.h"
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

// Quantities as text, "5 MiB" or "3.75 GHz", to numbers and back; independent of the locale.

// "size in bytes", "frequency", ... for messages and the reference.
std::string unit_meaning(KeyUnit unit);

// "B, KiB, MiB, ..."; empty for plain integers.
std::string allowed_units(KeyUnit unit);

// Parse decimal text exactly to the nearest double ("20 ns" is 20e-9, not 20 * 1e-9). Throw ConfigError without
// location ("found '5', which has no unit; ..."): not a number, missing or unknown unit, negative, not finite, not
// whole where required, out of range of the type.
std::uint64_t parse_integer(KeyUnit unit, std::string_view text);
double parse_real(KeyUnit unit, std::string_view text);

// A number without unit, finite and not negative. Throws like parse_real.
double parse_plain_real(std::string_view text);

// Shortest text that parses to the same number: 5242880 -> "5 MiB", 3.75e9 -> "3.75 GHz".
std::string format_integer(KeyUnit unit, std::uint64_t value);
std::string format_real(KeyUnit unit, double value);

}  // namespace attnvp::config
