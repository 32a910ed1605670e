#include "platform/schedule/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string_view>

#include "firmware/riscv/declaration.h"
#include "firmware/runtime/dataflow.h"
#include "models/control/riscv/profile.h"
#include "models/control/riscv_processor/program.h"
#include "models/sim/module.h"

namespace attnvp::schedule {

namespace {

using firmware::Dataflow;
using firmware::Parameter;

// Dataflows of an ELF file, rebuilt as linked structs like the compiled ones.
class ElfImage final : public FirmwareImage {
 public:
  explicit ElfImage(std::shared_ptr<const riscv::ElfFile> file) : FirmwareImage(true), file_(std::move(file)) {
    std::uint32_t at = 0, version = 0;
    file_->section("attnvp_abi", &at);
    if (at == 0 || !file_->read(at, &version, sizeof version) || version != riscv::kDeclarationVersion) {
      refuse(
          fmt::format("it says nothing of its dataflows in this platform's way (section attnvp_abi is {}, allowed is "
                      "{})",
                      version, riscv::kDeclarationVersion));
    }
    std::uint32_t first = 0;
    const std::size_t count = file_->section("attnvp_dataflows", &first).size() / 4;
    for (std::uint32_t i = 0; i < count; ++i) add(word(first + 4 * i));
    if (all_.empty()) refuse("it has no dataflows (section attnvp_dataflows is empty)");
    set_dataflows(all_);
  }
  const riscv::ElfFile& file() const { return *file_; }

 private:
  static constexpr std::uint32_t kMostEntries = 64, kMostText = 4096;

  [[noreturn]] void refuse(const std::string& why) const {
    throw riscv::ElfError(fmt::format("{}: {}", file_->path(), why));
  }
  template <class T>
  T read(std::uint32_t address) const {
    T value{};
    if (!file_->read(address, &value, sizeof value)) refuse(fmt::format("a declaration points to {:#x}", address));
    return value;
  }
  std::uint32_t word(std::uint32_t address) const { return read<std::uint32_t>(address); }
  const char* text(std::uint32_t address) {
    if (address == 0) return nullptr;
    std::string& s = texts_.emplace_back();
    for (char c = read<char>(address); c != '\0'; c = read<char>(++address)) {
      s += c;
      if (s.size() > kMostText) refuse("a text in its declarations does not end");
    }
    return s.c_str();
  }
  const char* required(std::uint32_t address) {
    const char* s = text(address);
    if (s == nullptr || *s == '\0') refuse("a declaration has no name");
    return s;
  }
  const Parameter* parameter(std::uint32_t address) {
    const auto p = read<riscv::ParameterLayout>(address);
    Parameter& made = parameters_.emplace_back();
    made.name = required(p.name);
    made.meaning = required(p.meaning);
    made.extent = static_cast<firmware::Extent>(p.extent);
    made.grain = static_cast<firmware::Grain>(p.grain);
    made.most = p.most;
    made.none = text(p.none);
    for (int i = 0; i < 8; ++i) made.tries[i] = p.tries[i];
    made.in_command = p.in_command != 0;
    made.guess = p.guess;
    made.named = named(p.named);
    return &made;
  }
  const firmware::NamedValue* named(std::uint32_t address) {
    if (address == 0) return nullptr;
    auto& list = named_.emplace_back();
    for (std::uint32_t i = 0; i < kMostEntries; ++i) {
      const auto v =
          read<riscv::NamedValueLayout>(address + i * static_cast<std::uint32_t>(sizeof(riscv::NamedValueLayout)));
      if (v.name == 0) break;
      list.push_back({required(v.name), text(v.meaning), v.traits, text(v.same)});
    }
    list.push_back({nullptr, nullptr, 0, nullptr});
    return list.data();
  }
  const firmware::DataflowOption* options(std::uint32_t address) {
    if (address == 0) return nullptr;
    auto& list = options_.emplace_back();
    for (std::uint32_t i = 0; i < kMostEntries; ++i) {
      const auto o = read<riscv::OptionLayout>(address + i * static_cast<std::uint32_t>(sizeof(riscv::OptionLayout)));
      if (o.name == 0) break;
      auto& values = values_.emplace_back();
      for (std::uint32_t v = 0; v < kMostEntries && word(o.values + 4 * v) != 0; ++v) {
        values.push_back(required(word(o.values + 4 * v)));
      }
      values.push_back(nullptr);
      list.push_back({required(o.name), values.data(), text(o.description)});
    }
    list.push_back({nullptr, nullptr, nullptr});
    return list.data();
  }
  const firmware::Statistic* statistics(std::uint32_t address) {
    if (address == 0) return nullptr;
    auto& list = statistics_.emplace_back();
    for (std::uint32_t i = 0; i < kMostEntries; ++i) {
      const auto s =
          read<riscv::StatisticLayout>(address + i * static_cast<std::uint32_t>(sizeof(riscv::StatisticLayout)));
      if (s.name == 0) break;
      list.push_back({required(s.name), text(s.meaning)});
    }
    list.push_back({nullptr, nullptr});
    return list.data();
  }
  void add(std::uint32_t address) {
    const auto d = read<riscv::DataflowLayout>(address);
    auto& parameters = lists_.emplace_back();
    for (std::uint32_t i = 0; i < kMostEntries && word(d.parameters + 4 * i) != 0; ++i) {
      parameters.push_back(parameter(word(d.parameters + 4 * i)));
    }
    if (parameters.size() > hal::kMaxParameters) refuse("a dataflow has more parameters than a job has room for");
    parameters.push_back(nullptr);
    Dataflow& made = dataflows_.emplace_back();
    made.name = required(d.name);
    made.description = required(d.description);
    made.run = nullptr;  // no code of this host
    made.parameters = parameters.data();
    made.options = options(d.options);
    made.statistics = statistics(d.statistics);
    made.scores = static_cast<hal::Scores>(d.scores);
    made.traits = d.traits;
    all_.push_back(&made);
  }

  std::shared_ptr<const riscv::ElfFile> file_;
  // Containers with stable addresses.
  std::deque<std::string> texts_;
  std::deque<Parameter> parameters_;
  std::deque<std::vector<const Parameter*>> lists_;
  std::deque<std::vector<const char*>> values_;
  std::deque<std::vector<firmware::DataflowOption>> options_;
  std::deque<std::vector<firmware::Statistic>> statistics_;
  std::deque<std::vector<firmware::NamedValue>> named_;
  std::deque<Dataflow> dataflows_;
  std::vector<const Dataflow*> all_;
};

class Compiled final : public FirmwareImage {
 public:
  Compiled() : FirmwareImage(false) { set_dataflows({firmware::dataflows().begin(), firmware::dataflows().end()}); }
};

}  // namespace

void FirmwareImage::set_dataflows(std::vector<const Dataflow*> all) {
  dataflows_ = std::move(all);
  for (const Dataflow* d : dataflows_) {
    for (const Parameter* const* p = d->parameters; *p != nullptr; ++p) {
      const auto same = [&](const Parameter* o) { return std::string_view(o->name) == (*p)->name; };
      if (std::none_of(parameters_.begin(), parameters_.end(), same)) parameters_.push_back(*p);
    }
  }
}

std::vector<const Dataflow*> FirmwareImage::dataflows_for(bool softmax, unsigned step) const {
  std::vector<const Dataflow*> some;
  for (const Dataflow* d : dataflows_) {
    if ((d->traits & (firmware::kOneStep | firmware::kRowStep)) != step) continue;
    const bool chain = d->is(firmware::kChain);
    if (step != 0 ? chain != softmax : softmax ? !d->is(firmware::kOnlyChain) : chain) some.push_back(d);
  }
  return some;
}

const Dataflow* FirmwareImage::find(const std::string& name) const {
  for (const Dataflow* d : dataflows_) {
    if (name == d->name) return d;
  }
  return nullptr;
}

const FirmwareImage& compiled_firmware() {
  static const Compiled compiled;
  return compiled;
}

const FirmwareImage& firmware_of(const MachineConfig& machine) {
  const auto& config = machine.own<RiscvConfig>();
  if (machine.control.cpu != "riscv" || config.firmware == RiscvConfig::kShipped) return compiled_firmware();
  static std::map<std::shared_ptr<const riscv::ElfFile>, const ElfImage> read;  // all programs read so far
  std::shared_ptr<const riscv::ElfFile> file = riscv::open_program(config);
  return read.try_emplace(file, file).first->second;
}

unsigned traits_of(const Dataflow& dataflow, const std::vector<std::uint32_t>& words) {
  unsigned traits = dataflow.traits;
  for (std::size_t i = 0; i < words.size() && dataflow.parameters[i] != nullptr; ++i) {
    const firmware::NamedValue* named = dataflow.parameters[i]->named;
    if (named != nullptr && words[i] >= 1 && words[i] <= dataflow.parameters[i]->most)
      traits |= named[words[i] - 1].traits;
  }
  return traits;
}

std::uint32_t largest(const firmware::Parameter& p, const Job& job) {
  const hal::Layer& l = job.block.layer;
  const auto extent = [&]() -> std::uint32_t {
    switch (p.extent) {
      case firmware::Extent::kBatch:
        return l.batch;
      case firmware::Extent::kHeads:
        return l.heads;
      case firmware::Extent::kQueries:
      case firmware::Extent::kBlocks:
        return l.seq_q;
      case firmware::Extent::kKeys:
        return l.seq_kv;
      case firmware::Extent::kDepth:
        return l.emb;
      case firmware::Extent::kCount:
        break;
    }
    return p.most;
  };
  return std::max(extent(), 1U);
}

FirmwareRun untimed(const FirmwareImage& image, const MachineConfig& machine, riscv::CallStack* calls) {
  if (!image.is_program()) return firmware::boot;
  const std::uint64_t most = machine.simulation.max_cycles;
  return [&file = static_cast<const ElfImage&>(image).file(), core = riscv::core_config(machine.own<RiscvConfig>(), 0),
          most = most != 0 ? most : CycleLimit::kUntimed, calls](hal::Cpu& cpu, std::uint32_t cluster) {
    riscv::HartConfig of_cluster = core;
    of_cluster.hart = of_cluster.clusters_l1 = cluster;
    if (calls != nullptr) *calls = {};
    riscv::run_untimed(file, of_cluster, cpu, most, calls);
  };
}

const Dataflow* dataflow_of(const Job& job) {
  return (job.image != nullptr ? *job.image : compiled_firmware()).find(job.block.dataflow);
}

void run_firmware(const Job& job, hal::Cpu& cpu, std::uint32_t cluster) {
  if (job.firmware == nullptr) return firmware::boot(cpu, cluster);
  job.firmware(cpu, cluster);
}

ProgramCalls::ProgramCalls(const Job& job, const MachineConfig& machine)
    : job_(job), calls_(std::make_unique<riscv::CallStack>()) {
  if (any()) job_.firmware = untimed(*job_.image, machine, calls_.get());
}
ProgramCalls::~ProgramCalls() = default;
bool ProgramCalls::any() const { return job_.image != nullptr && job_.image->is_program(); }
std::vector<std::string> ProgramCalls::lines() const {
  std::vector<std::string> all;
  if (!any()) return all;
  const riscv::ElfFile& file = static_cast<const ElfImage*>(job_.image)->file();
  for (const std::uint32_t pc : calls_->now()) {
    const auto [known, fresh] = lines_.try_emplace(pc);
    if (fresh) known->second = file.lines_at(pc);
    all.insert(all.end(), known->second.begin(), known->second.end());
  }
  return all;
}

}  // namespace attnvp::schedule
