// Parser of dataflow names with options.
#include "platform/run/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/run/settings.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

using config::Origin;
using config::Setting;

std::vector<Setting> split_settings(std::string_view list, const Origin& origin) {
  std::vector<Setting> settings;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    const std::string_view part = config::trimmed(list.substr(start, comma - start));
    start = comma + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      config::fail(origin, fmt::format("found {} where key=value is expected", config::in_quotes(part)));
    }
    Setting s{std::string(config::trimmed(part.substr(0, equals))),
              std::string(config::trimmed(part.substr(equals + 1))), origin};
    if (std::any_of(settings.begin(), settings.end(), [&](const Setting& other) { return other.path == s.path; })) {
      config::fail(origin, fmt::format("key '{}' is given twice", s.path));
    }
    settings.push_back(std::move(s));
  }
  return settings;
}

Schedule parse_dataflow(const std::string& text, const schedule::FirmwareImage& firmware) {
  const Origin origin = config::option_origin("--dataflow", text);
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const firmware::Dataflow* dataflow = firmware.find(name);
  if (dataflow == nullptr || name != dataflow->name) {
    std::vector<std::string> names;
    for (const firmware::Dataflow* d : firmware.dataflows()) names.emplace_back(d->name);
    throw config::ConfigError(
        fmt::format("dataflow {} is unknown{}", config::in_quotes(name), config::hint(name, names)));
  }
  Schedule schedule;
  schedule.firmware = &firmware;
  schedule.tiling = Tiling(firmware);
  schedule.dataflow = name;
  schedule.text = text;
  std::vector<std::string> options;
  for (const firmware::DataflowOption* o = dataflow->options; o != nullptr && o->name != nullptr; ++o) {
    options.emplace_back(o->name);
  }
  schedule.options.assign(options.size(), 0);
  if (colon == std::string::npos) return schedule;
  for (const Setting& s : split_settings(std::string_view(text).substr(colon + 1), origin)) {
    const auto found = std::find(options.begin(), options.end(), s.path);
    if (found == options.end()) {
      config::fail(origin, options.empty() ? fmt::format("dataflow '{}' has no options", name)
                                           : fmt::format("option {} is unknown{}", config::in_quotes(s.path),
                                                         config::hint(s.path, options)));
    }
    const auto index = static_cast<std::size_t>(found - options.begin());
    std::vector<std::string> values;
    for (const char* const* v = dataflow->options[index].values; *v != nullptr; ++v) values.emplace_back(*v);
    const auto value = std::find(values.begin(), values.end(), s.text);
    if (value == values.end()) {
      config::fail(origin, fmt::format("option '{}': found {}; allowed are {}", s.path, config::in_quotes(s.text),
                                       fmt::join(values, ", ")));
    }
    schedule.options[index] = static_cast<std::uint32_t>(value - values.begin());
  }
  return schedule;
}

void check_complete(const Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  const std::vector<std::uint32_t> words = words_of(schedule.tiling, dataflow);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != 0) continue;
    throw TilingError(fmt::format("tiling: key '{}' of {} is missing; a run needs every parameter of its dataflow",
                                  dataflow.parameters[i]->name, dataflow.name));
  }
}

bool has(const Schedule& schedule, firmware::Trait trait) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  return (schedule::traits_of(dataflow, words_of(schedule.tiling, dataflow)) & trait) != 0;
}

std::string refusal(const hal::JobResult& answer, const firmware::Dataflow& dataflow) {
  const auto need = [&](const char* memory, const char* key) {
    return fmt::format("{} is too small: the schedule needs at least {} bytes, {} is {} bytes", memory,
                       answer.detail[0], key, answer.detail[1]);
  };
  switch (answer.status) {
    case hal::Status::kDone:
      return "it is done";
    case hal::Status::kIdle:
      return "it ended without a status";
    case hal::Status::kBadJob:
      return "the job block makes no sense to it";
    case hal::Status::kUnknownDataflow:
      return "it has no dataflow of that name";
    case hal::Status::kL1TooSmall:
      return need("L1", "l1.size");
    case hal::Status::kL0TooSmall:
      return need("L0", "l0.size");
    case hal::Status::kTooFewEvents:
      return fmt::format("it needs {} events, events.count is {}", answer.detail[0], answer.detail[1]);
    case hal::Status::kTooFewChannels:
      return fmt::format("it needs {} DMA channels, dma.channels is {}", answer.detail[0], answer.detail[1]);
    case hal::Status::kDramTooSmall:
      return fmt::format("partial results need {} bytes of DRAM behind the tensors, where dram.size leaves {}",
                         answer.detail[0], answer.detail[1]);
    case hal::Status::kL2TooSmall:
      return fmt::format(
          "K and V that are staged need {} bytes of each cluster's part of the L2, where l2.size leaves {}",
          answer.detail[0], answer.detail[1]);
    case hal::Status::kTooManyEvents:
      return "a command names more events than a descriptor can hold";
    case hal::Status::kEngineFault:
      return fmt::format("its access to {:#x} was answered with an error", answer.detail[0]);
    case hal::Status::kBadTiling:
      break;
  }
  const firmware::Parameter& p = *dataflow.parameters[answer.detail[0]];
  const bool word = answer.detail[1] == hal::kWord && p.none != nullptr;
  const bool named = p.named != nullptr && answer.detail[1] >= 1 && answer.detail[1] <= p.most;
  return fmt::format("it cannot do with {}={} on this layer and machine, beside what else is given", p.name,
                     word    ? p.none
                     : named ? p.named[answer.detail[1] - 1].name
                             : std::to_string(answer.detail[1]));
}

}  // namespace attnvp::job
