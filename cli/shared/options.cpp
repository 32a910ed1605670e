#include "cli/shared/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "models/memory/storage/host_memory.h"
#include "platform/base/origin.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::cli {

namespace {

// Options that are omitted in outputs.
std::set<std::string>& unquoted_names() {
  static std::set<std::string> names;
  return names;
}

struct OptionRefusal {
  unsigned jobs;
  const char* sentence;
};
constexpr OptionRefusal kRefusals[] = {
    {kRequests, "{} does not go with --requests"},
    {kBeside, "{} is for a job that has the machine to itself, without --clusters and --beside"},
    {kLayers, "{} is for a single operation; a layer's are gemm:ROWSxCOLUMNSxDEPTH and its attention"},
    {kTiming, "{} needs --data full: timing moves no tensors"},
    {kGemm | kRowOperation, "{} is for attention; a step's operands are random"},
};

}  // namespace

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string shown = fmt::format("{}", fmt::join(names, ", "));
  const auto check = [names = std::move(names), shown](std::string& text) {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    return known ? std::string() : fmt::format("found {}; allowed: {}", config::in_quotes(text), shown);
  };
  return {check, fmt::format("({})", shown), "one_of"};
}

CLI::Validator not_empty() {
  const auto check = [](std::string& text) { return text.empty() ? std::string("found ''") : std::string(); };
  return {check, "", "not_empty"};
}

CLI::Validator within(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](std::string& text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return std::string();
    return fmt::format("found {}; allowed is {} to {}", config::in_quotes(text), least, most);
  };
  return {check, "", "within"};
}

CLI::Validator share() {
  const auto check = [](std::string& text) {
    double value = -1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop + 1 == end && *stop == '%' && value >= 0 && value <= 100) return std::string();
    return fmt::format("found {}; allowed is a share such as 5%", config::in_quotes(text));
  };
  return {check, "", "share"};
}

CLI::Option* add_text(CLI::App& command, const char* names, std::string& value, const char* meaning) {
  return command.add_option(names, value, meaning)->check(not_empty());
}

CLI::Option* add_list(CLI::App& command, const char* names, std::vector<std::string>& values, const char* meaning) {
  return command.add_option(names, values, meaning)->allow_extra_args(false);
}

CLI::Option* unquoted(CLI::Option* option) {
  for (const std::string& name : option->get_lnames()) unquoted_names().insert("--" + name);
  for (const std::string& name : option->get_snames()) unquoted_names().insert("-" + name);
  return option;
}

CLI::Option* add_output(CLI::App& command, const char* names, std::string& path, const char* meaning) {
  return unquoted(add_text(command, names, path, meaning));
}

CLI::Option* add_json(CLI::App& command, std::string& path, const char* meaning) {
  return add_output(command, "--json", path, meaning);
}

CLI::Option* add_hardware(CLI::App& command, std::string& hardware) {
  return command.add_option("--hw", hardware, "machine: a name under configs/hardware or a path")
      ->capture_default_str();
}

CLI::Option* add_network(CLI::App& command, std::string& network) {
  return command
      .add_option("--net", network, "layer: a name under configs/networks, a path, or a shape such as H=12,N=512,E=64")
      ->capture_default_str();
}

CLI::Option* add_settings(CLI::App& command, std::vector<std::string>& settings) {
  return add_list(command, "--set", settings, "set any key of the machine: key=value, e.g. l1.size='2 MiB'");
}

CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed) {
  return command.add_option("--seed", seed, "seed of the random tensors")->check(whole_number())->capture_default_str();
}

CLI::Option* add_memory_limit(CLI::App& command) {
  const auto set = [](const std::string& text) {
    try {
      host_memory::set_limit(config::parse_integer(config::KeyUnit::kBytes, text));
    } catch (const config::ConfigError& problem) {
      throw config::ConfigError(fmt::format("--memory-limit: {}", problem.what()));
    }
  };
  return command.add_option_function<std::string>(
      "--memory-limit", set,
      "memory of the host that may be taken, e.g. '4 GiB' (default: nine tenths of what it and its containers have)");
}

std::string command_text(int argc, const char* const* argv) {
  std::string line = "attnvp";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto& names = unquoted_names();
    const auto name = std::find_if(names.begin(), names.end(), [&](const std::string& option) {
      const bool glued = option.size() == 2 ? word.rfind(option, 0) == 0 : word.rfind(option + "=", 0) == 0;
      return word == option || glued;
    });
    if (name == names.end()) {
      line += " " + text::shell_word(word);
    } else if (word == *name) {
      ++i;  // its value
    }
  }
  return line;
}

void JobOptions::valid_for(unsigned jobs, std::initializer_list<CLI::Option*> options) {
  for (const CLI::Option* option : options) valid_.emplace_back(option, jobs);
}

void JobOptions::check(unsigned job) const {
  for (const OptionRefusal& refusal : kRefusals) {
    for (const auto& [option, jobs] : valid_) {
      if (option->count() == 0 || (job & refusal.jobs & ~jobs) == 0) continue;
      throw config::ConfigError(fmt::format(fmt::runtime(refusal.sentence), option->get_name()));
    }
  }
}

}  // namespace attnvp::cli
