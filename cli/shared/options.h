// Declaration of command options with their checks and, if restricted, the kinds of jobs they are valid for. Errors
// have the form of configuration errors: found and allowed value.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::cli {

CLI::Validator one_of(std::vector<std::string> names);
CLI::Validator not_empty();
CLI::Validator within(std::uint64_t least, std::uint64_t most);
CLI::Validator share();  // "5%"; 0 to 100
inline CLI::Validator whole_number() { return within(0, std::numeric_limits<std::uint64_t>::max()); }

// Option with a non-empty text.
CLI::Option* add_text(CLI::App& command, const char* names, std::string& value, const char* meaning);
// Option that may be repeated, one value each.
CLI::Option* add_list(CLI::App& command, const char* names, std::vector<std::string>& values, const char* meaning);
// Option for an output file.
CLI::Option* add_output(CLI::App& command, const char* names, std::string& path, const char* meaning);
CLI::Option* add_json(CLI::App& command, std::string& path,
                      const char* meaning = "write JSON to a file, or alone to stdout with '-'");

CLI::Option* add_hardware(CLI::App& command, std::string& hardware);
CLI::Option* add_network(CLI::App& command, std::string& network);
CLI::Option* add_settings(CLI::App& command, std::vector<std::string>& settings);
CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed);
CLI::Option* add_memory_limit(CLI::App& command);

// Marks an option that does not affect results, such as output paths and number of processes.
CLI::Option* unquoted(CLI::Option* option);

// Command line in shell syntax for outputs, without options that do not affect results.
std::string command_text(int argc, const char* const* argv);

// Properties of a job: one kind, and further conditions.
enum JobTraits : unsigned {
  kAttention = 1,
  kGemm = 2,
  kRowOperation = 4,
  kLayers = 8,     // a layer or model, operation by operation
  kBeside = 16,    // on some clusters, beside other jobs
  kRequests = 32,  // shape given by a batch of requests
  kTiming = 64,    // no tensors
};
inline constexpr unsigned kOperation = kAttention | kGemm | kRowOperation;

// Options that are not valid for all jobs.
class JobOptions {
 public:
  // `jobs` must contain all properties of a job.
  void valid_for(unsigned jobs, std::initializer_list<CLI::Option*> options);
  // Throws config::ConfigError for the first given option that is not valid for the job.
  void check(unsigned job) const;

 private:
  std::vector<std::pair<const CLI::Option*, unsigned>> valid_;
};

}  // namespace attnvp::cli
