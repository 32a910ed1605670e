// Quantities as text, "5 MiB" or "3.75 GHz", to numbers and back; independent of the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/keys/key.h"

namespace attnvp::config {

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
