#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "cli/commands.h"
#include "platform/base/origin.h"

namespace attnvp::cli {

namespace {

// Visits every command with its path of names, subcommands after their parent.
void for_each_command(const CLI::App& app, const std::string& words,
                      const std::function<void(const CLI::App&, const std::string&)>& visit) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const std::string here = words.empty() ? command->get_name() : words + " " + command->get_name();
    visit(*command, here);
    for_each_command(*command, here, visit);
  }
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    if (c == '-') out += "\\-";
    if (c != '\\' && c != '-') out += c;
  }
  return out.empty() || (out[0] != '.' && out[0] != '\'') ? out : "\\&" + out;
}

std::string options_in_roff(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    const bool positional = option->get_lnames().empty() && option->get_snames().empty();
    std::string names;
    for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
    const std::string standard = option->get_default_str();
    out += fmt::format(".TP\n.B {}\n{}{}\n", roff(positional ? option->get_single_name() : names),
                       roff(option->get_description()),
                       standard.empty() || standard == "false" ? "" : roff(fmt::format(" (default: {})", standard)));
  }
  return out;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH ATTNVP 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\nattnvp \\- {}\n.SH SYNOPSIS\n.B attnvp\n.I command\n"
      "[options]\n.SH DESCRIPTION\nRuns attention layers on simulated accelerators: firmware schedules a layer, "
      "engines "
      "compute it over TLM\\-2.0, and cycles, energy and traffic come out of the modelled resources.\n",
      text::generator(), roff("a virtual platform for attention accelerators"));
  out += options_in_roff(app) + ".SH COMMANDS\n";
  for_each_command(app, "", [&](const CLI::App& command, const std::string& words) {
    out += fmt::format(".SS {}\n{}\n{}", roff("attnvp " + words), roff(command.get_description()),
                       options_in_roff(command));
  });
  out +=
      ".SH EXIT STATUS\n.TP\n0\ndone, and the golden check passed\n.TP\n1\nthe simulated machine or firmware failed, "
      "or "
      "the golden check did\n.TP\n2\nwrong usage or configuration, or an output that cannot be written\n.TP\n130\n"
      "interrupted\n.SH ENVIRONMENT\n.TP\n.B ATTNVP_CONFIGS\nthe folder of configurations, in place of the one beside "
      "the program\n";
  return out;
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> top = flags_of(app);
  std::string cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) top.push_back(command->get_name());
  for_each_command(app, "", [&](const CLI::App& command, const std::string& words) {
    std::vector<std::string> next = flags_of(command);
    for (const CLI::App* below : command.get_subcommands(nullptr)) next.push_back(below->get_name());
    cases += fmt::format("    '{}') words='{}' ;;\n", words, fmt::join(next, " "));
  });
  return fmt::format(R"bash(# Completion of attnvp for bash; written by `attnvp completion`.
_attnvp_names() {{ attnvp list "$1" 2>/dev/null | awk 'NR > 2 {{ print $1 }}'; }}
_attnvp() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} words='{}' chosen=''
  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] && break
    chosen+=${{chosen:+ }}${{COMP_WORDS[i]}}
  done
  case $chosen in
{}  esac
  case $previous in
    --hw) words=$(_attnvp_names hardware) ;;
    --net) words=$(_attnvp_names networks) ;;
    --dataflow) words=$(_attnvp_names dataflows) ;;
    --tiling) words="auto $(_attnvp_names tilings)" ;;
    stream) words=$(_attnvp_names streams) ;;
    sweep) words=$(_attnvp_names sweeps) ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _attnvp attnvp
)bash",
                     fmt::join(top, " "), cases);
}

}  // namespace attnvp::cli
