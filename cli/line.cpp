#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <optional>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "models/control/riscv_processor/program.h"
#include "models/memory/storage/host_memory.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/run/job.h"
#include "platform/schedule/programs.h"

namespace attnvp::cli {

namespace {

constexpr int kDone = 0;
constexpr int kRunFailed = 1;
constexpr int kWrongUsage = 2;

const std::vector<AddCommand>* table = nullptr;
std::vector<char*> command_line;  // of the command line, then nullptr

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// "run bert-base": suggests the option that takes such a value.
std::string explain_extra_argument(const CLI::App& command, const std::string& argument) {
  const std::string quoted = config::in_quotes(argument);
  const std::vector<std::string> options = option_names(command);
  for (const auto& [folder, option] : {std::pair{config::Folder::kNetworks, "--net"},
                                       {config::Folder::kHardware, "--hw"},
                                       {config::Folder::kTilings, "--tiling"}}) {
    if (std::find(options.begin(), options.end(), option) == options.end()) continue;
    for (const config::CatalogEntry& entry : config::list(folder)) {
      if (entry.name == argument)
        return fmt::format("argument {} is unexpected; did you mean '{} {}'?", quoted, option, argument);
    }
  }
  for (const std::string& option : options) {
    if (option == "--dataflow" && schedule::compiled_firmware().find(argument) != nullptr) {
      return fmt::format("argument {} is unexpected; did you mean '--dataflow {}'?", quoted, argument);
    }
  }
  return fmt::format("argument {} is unexpected (see `attnvp help {}`)", quoted, command.get_name());
}

// Error of the command line, in one clause.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* innermost = &app;
  while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().front();
  const CLI::App& command = *innermost;
  const std::vector<std::string> left = app.remaining(true);
  if (!left.empty()) {
    const std::string& first = left.front();
    if (first.size() > 1 && first[0] == '-') {
      const std::string name = first.substr(0, first.find('='));
      return fmt::format("option {} is unknown{}", config::in_quotes(name),
                         config::hint(name, option_names(command), "attnvp help " + command.get_name()));
    }
    const std::vector<std::string> below = command_names(command);
    if (below.empty()) return explain_extra_argument(command, first);
    return fmt::format("command {} is unknown{}", config::in_quotes(first), config::hint(first, below, "attnvp help"));
  }
  std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::vector<std::string> below = command_names(command);
    if (below.empty()) {
      return fmt::format("{}: argument '{}' is missing (see `attnvp help {}`)", command.get_name(),
                         text.substr(0, text.find(' ')), command.get_name());
    }
    return "a command is missing" + config::allowed_names("", below, "attnvp help");
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool missing = text.find("missing") != std::string::npos;
    return text.substr(0, text.find(':')) + (missing ? " needs a value" : " is given more than once");
  }
  return text;
}

// Throws if printed text could not be written.
void check_stdout() {
  errno = 0;
  std::cout.flush();  // CLI11's help
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
    throw config::ConfigError(
        fmt::format("stdout cannot be written: {}",
                    errno != 0 ? std::strerror(errno) : "no space left, or the reader has closed the pipe"));
  }
}

void print_help(const CLI::App& app, const std::vector<std::string>& topic) {
  const CLI::App* at = &app;
  for (const std::string& name : topic) {
    const std::vector<std::string> below = command_names(*at);
    if (std::find(below.begin(), below.end(), name) == below.end()) {
      throw config::ConfigError(
          fmt::format("command {} is unknown{}", config::in_quotes(name), config::hint(name, below, "attnvp help")));
    }
    at = at->get_subcommand(name);
  }
  std::fputs(at->help().c_str(), stdout);
}

enum class CommandSet : std::uint8_t { kUpToTheChosen, kAll };

// The exit status; nothing if the command line is wrong and not all commands were there to explain why.
std::optional<int> parse(int argc, char** argv, CommandSet which) {
  CLI::App app{"AttnVP: a virtual platform for attention accelerators"};
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "help for all commands");
  app.set_version_flag("--version", text::generator(), "say which AttnVP this is");
  int status = kDone;

  const std::string chosen = which == CommandSet::kUpToTheChosen && argc > 1 ? argv[1] : "";
  bool is_all = true;
  for (const AddCommand add : *table) {
    add(app, status);
    is_all = chosen.empty() || app.get_subcommands(nullptr).back()->get_name() != chosen;
    if (!is_all) break;
  }
  text::set_command(command_text(argc, argv));  // without the options of outputs, which the commands added

  std::vector<std::string> topic;
  if (is_all) {
    CLI::App* help_command = app.add_subcommand("help", "help for a command, as its --help");
    help_command->add_option("command", topic, "such as run, or reproduce mas");
    help_command->callback([&] { print_help(app, topic); });

    app.add_subcommand("completion", "a script that completes commands and options in bash")->callback([&] {
      std::fputs(bash_completion(app).c_str(), stdout);
    });
    app.add_subcommand("man", "this command line as a man page, for man -l")->callback([&] {
      std::fputs(man_page(app).c_str(), stdout);
    });
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);
    check_stdout();
    return kDone;
  } catch (const CLI::ParseError& e) {
    if (!is_all) return std::nullopt;
    text::complain(explain(app, e));
    return kWrongUsage;
  }
  check_stdout();
  return status;
}

int dispatch(int argc, char** argv) {
  const std::optional<int> status = parse(argc, argv, CommandSet::kUpToTheChosen);
  return status ? *status : parse(argc, argv, CommandSet::kAll).value_or(kWrongUsage);
}

}  // namespace

int main(int argc, char** argv, const std::vector<AddCommand>& commands) {
  table = &commands;
  return main_again(argc, argv);
}

std::vector<char*> arguments() { return command_line; }

int main_again(int argc, char** argv) {
  command_line.assign(argv, argv + argc);
  command_line.push_back(nullptr);
  try {
    return dispatch(argc, argv);
  } catch (const config::ConfigError& e) {
    text::complain(e.what());
    return kWrongUsage;
  } catch (const job::RunError& e) {
    text::complain(e.what());
    return kRunFailed;
  } catch (const riscv::ElfError& e) {
    text::complain(e.what());
    return kWrongUsage;
  } catch (const riscv::ProgramError& e) {
    text::complain(e.what());
    return kRunFailed;
  } catch (const host_memory::Exceeded& e) {
    text::complain(e.what());
    return kRunFailed;
  } catch (const std::bad_alloc&) {
    text::complain("this host has not enough memory for that layer or machine");
    return kRunFailed;
  } catch (const std::exception& e) {
    text::complain(fmt::format("unexpected failure: {}", e.what()));
    return kRunFailed;
  }
}

}  // namespace attnvp::cli
