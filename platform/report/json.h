// JSON files: common beginning of our files, and reader of given ones.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attnvp::report {

// An object with "schema", "version" and "command".
nlohmann::ordered_json json_document();

// Adds "machine_hash" and "overrides" (key=value of --set).
void add_machine(nlohmann::ordered_json& document, const std::string& hash, const std::vector<std::string>& overrides);

// Indented, with a newline at the end. Invalid UTF-8 is replaced.
std::string json_text(const nlohmann::ordered_json& document);

// On one line, escaped for a page's <script>.
std::string json_for_html(const nlohmann::ordered_json& document);

// Throws config::ConfigError: not a regular file, not JSON (with the byte), nested too deeply.
nlohmann::ordered_json read_json(const std::string& path);

}  // namespace attnvp::report
