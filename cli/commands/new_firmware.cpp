// `attnvp new firmware`: creates a project for a new dataflow.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "models/control/config.h"
#include "platform/machine/catalog.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::cli {

namespace {

struct NewFirmwareArguments {
  std::string folder;
  std::string hardware = "edge";
  std::string name;  // of the dataflow; empty: the folder's name
};

namespace fs = std::filesystem;
using config::ConfigError;

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw ConfigError(fmt::format("{}: it cannot be read", path.string()));
  return text.str();
}

void write_all(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw ConfigError(fmt::format("{}: it cannot be written", path.string()));
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

bool is_name(const std::string& name) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() < 32 && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), allowed);
}

int new_firmware(const NewFirmwareArguments& a) {
  const MachineConfig machine = config::load_hardware(a.hardware);
  const auto& memories = machine.own<RiscvConfig>();
  const fs::path folder(a.folder);
  const fs::path base = fs::absolute(folder).lexically_normal();
  std::string name = a.name.empty() ? (base.has_filename() ? base : base.parent_path()).filename().string() : a.name;
  if (!is_name(name)) {
    throw ConfigError(fmt::format(
        "{}: found {} for the dataflow's name; allowed are at most 31 of a to z, 0 to 9 and -, a letter first; --name "
        "gives another",
        a.folder, config::in_quotes(name)));
  }
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    throw ConfigError(fmt::format("{}: it exists, and is not an empty folder", a.folder));
  }
  const fs::path firmware = fs::path(config::config_root()).parent_path() / "firmware";
  const fs::path source = firmware / "riscv";
  if (!fs::exists(source / "template", error)) {
    throw ConfigError(fmt::format("the firmware's sources are not beside {}", config::config_root()));
  }

  const std::vector<std::pair<std::string, std::string>> words = {
      {"@NAME@", name},
      {"@HW@", a.hardware},
      {"LENGTH = 64M\n  data", fmt::format("LENGTH = {}\n  data", memories.code_bytes)},
      {"LENGTH = 64M\n}", fmt::format("LENGTH = {}\n}}", memories.data_bytes)}};
  const auto copy = [&](const fs::path& from, const fs::path& to) { write_all(to, filled(read_all(from), words)); };
  for (const char* file : {"dataflow.cpp", "Makefile", "CMakeLists.txt", "README.md", "debug.gdb"}) {
    copy(source / "template" / file, folder / file);
  }
  copy(source / "template/launch.json", folder / ".vscode/launch.json");
  copy(source / "link.ld", folder / "link.ld");
  for (const char* part : {"hal", "runtime", "runtime/attention", "runtime/product", "riscv", "riscv/include"}) {
    for (const auto& entry : fs::directory_iterator(firmware / part)) {
      const std::string kind = entry.path().extension().string();
      const bool code = kind == ".h" || kind == ".cpp" || kind == ".S" || kind.empty();
      if (!entry.is_regular_file() || !code) continue;
      write_all(folder / "attnvp/firmware" / part / entry.path().filename(), read_all(entry.path()));
    }
  }
  fmt::print("{}: make -C {} builds {}.elf; README.md there says what to do with it\n", a.folder, a.folder, name);
  return 0;
}

}  // namespace

void add_new(CLI::App& app, int& status) {
  const auto a = std::make_shared<NewFirmwareArguments>();
  CLI::App* parent = app.add_subcommand("new", "a project of one's own to begin with");
  parent->require_subcommand(1);
  CLI::App& command =
      *parent->add_subcommand("firmware", "a dataflow as firmware for RISC-V control processors, built with make");
  command.add_option("folder", a->folder, "is made; it must not have files")->required()->check(not_empty());
  command.add_option("--hw", a->hardware, "the machine that it is for")->capture_default_str();
  add_text(command, "--name", a->name, "of the dataflow (default: the folder's)");
  command.callback([a, &status] { status = new_firmware(*a); });
}

}  // namespace attnvp::cli
