// JSON files: how every one of ours begins, and how those of others are read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attnvp::report {

// An object with "schema", "version" and "command" to go on from.
nlohmann::ordered_json json_document();

// "machine_hash" and "overrides", of --set key=value.
void add_machine(nlohmann::ordered_json& document, const std::string& hash, const std::vector<std::string>& overrides);

// As all files have it: indented, with a newline at the end. What is no UTF-8 is replaced, not complained of.
std::string json_text(const nlohmann::ordered_json& document);

// On one line, fit to stand in a page's <script>.
std::string json_for_html(const nlohmann::ordered_json& document);

// Throws config::ConfigError: not a regular file, not JSON (with the byte), nested beyond reason.
nlohmann::ordered_json read_json(const std::string& path);

}  // namespace attnvp::report
