// How commands declare their options: each once, with its check and, where it is not for every job, the jobs that it is
// valid for. Checks complain as the configuration does: what was found, what is allowed.
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

// A text that is not empty.
CLI::Option* add_text(CLI::App& command, const char* names, std::string& value, const char* meaning);
// May be given several times, a value each.
CLI::Option* add_list(CLI::App& command, const char* names, std::vector<std::string>& values, const char* meaning);
// A file to write.
CLI::Option* add_output(CLI::App& command, const char* names, std::string& path, const char* meaning);
CLI::Option* add_json(CLI::App& command, std::string& path,
                      const char* meaning = "write JSON to a file, or alone to stdout with '-'");

CLI::Option* add_hardware(CLI::App& command, std::string& hardware);
CLI::Option* add_network(CLI::App& command, std::string& network);
CLI::Option* add_settings(CLI::App& command, std::vector<std::string>& settings);
CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed);
CLI::Option* add_memory_limit(CLI::App& command);

// One that results do not depend on: where outputs go, and by how many processes they are made.
CLI::Option* unquoted(CLI::Option* option);

// The command line as a shell takes it, as outputs quote it: without options that results do not depend on.
std::string command_text(int argc, const char* const* argv);

// What a job is: one of the kinds, and what holds for it besides.
enum Job : unsigned {
  kAttention = 1,
  kGemm = 2,
  kRowOperation = 4,
  kLayers = 8,     // a layer or model, operation by operation
  kBeside = 16,    // it has some of the clusters, others run beside it
  kRequests = 32,  // its shape is a batch of requests
  kTiming = 64,    // no tensors
};
inline constexpr unsigned kOperation = kAttention | kGemm | kRowOperation;

// The options of a command that are not for every job.
class JobOptions {
 public:
  // Of a job, all that holds must be among `jobs`.
  void valid_for(unsigned jobs, std::initializer_list<CLI::Option*> options);
  // Throws config::ConfigError for the first option that is given and not valid for that job.
  void check(unsigned job) const;

 private:
  std::vector<std::pair<const CLI::Option*, unsigned>> valid_;
};

}  // namespace attnvp::cli
