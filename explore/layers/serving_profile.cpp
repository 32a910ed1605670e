#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explore/layers/layers.h"
#include "explore/processes/processes.h"
#include "platform/machine/error.h"

namespace attnvp::explore {

namespace {

using workload::LayerGroup;
using workload::LayerOperation;
using workload::Workload;

std::vector<std::uint32_t> powers(std::uint32_t first, std::uint32_t most) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t n = first; n < most; n *= 2) all.push_back(static_cast<std::uint32_t>(n));
  all.push_back(most);
  return all;
}

// A prompt's chunk behind a cache, or a batch of sequences in decode.
struct Shot {
  std::uint32_t chunk = 0, history = 0;  // chunk 0: decode
  std::uint32_t batch = 0, cache = 0;
};

class ServingProfiler {
 public:
  ServingProfiler(const MachineConfig& machine, std::string network, const config::EnergyTable& energy,
                  const ServingGrid& grid, const ServingOptions& options)
      : machine_(machine), network_(std::move(network)), energy_(energy), options_(options) {
    tokens_ = powers(1, grid.tokens);
    sequences_ = powers(1, grid.batch);
    for (const std::uint32_t chunk : powers(std::min(64U, grid.tokens), grid.tokens)) {
      prefills_.push_back({chunk, 0, 0, 0});
      for (const std::uint32_t history : powers(std::min(512U, grid.cache), grid.cache)) {
        prefills_.push_back({chunk, history, 0, 0});
      }
    }
    for (const std::uint32_t batch : sequences_) {
      for (const std::uint32_t cache : powers(std::min(64U, grid.cache), grid.cache)) {
        decodes_.push_back({0, 0, batch, cache});
      }
    }
  }

  std::vector<ServingTable> tables() {
    model_ = workload::load(network_ + ",N=16,scope=model");
    if (model_.model.latent.kv_rank > 0) {
      throw config::ConfigError(
          fmt::format("{}: latent attention has no columns in these tables; allowed are other models", network_));
    }
    if (model_.model.has_cross()) {
      throw config::ConfigError(
          fmt::format("{}: cross-attention has no columns in these tables; allowed are other models", network_));
    }
    if (model_.model.fuse != workload::Fuse::kOff) {
      throw config::ConfigError(
          fmt::format("{}: the tables have a column for each operation apart; allowed is fuse=off", network_));
    }
    for (const std::uint32_t t : tokens_) steps_.emplace(t, groups_of(workload::load(with_tokens(t))));
    for (const auto& [t, groups] : steps_) {
      for (const LayerGroup& g : groups) {
        for (const LayerOperation& o : g.operations) {
          if (!o.workload.is_attention()) want(o.workload);
        }
      }
    }
    for (const auto* list : {&prefills_, &decodes_}) {
      for (const Shot& s : *list) want(attention_of(s));
    }
    if (model_.model.vocabulary > 0) {
      for (const std::uint32_t s : sequences_) want(last_projection(s));
    }
    simulate();
    return {{"llmservingsim/tp1/dense.csv", dense()},
            {"llmservingsim/tp1/per_sequence.csv", per_sequence()},
            {"llmservingsim/tp1/attention.csv", attention()},
            {"llmservingsim/tp1/moe.csv", experts()},
            {"vidur/mlp.csv", vidur_steps()},
            {"vidur/attention.csv", vidur_attention()}};
  }

 private:
  std::string with_tokens(std::uint32_t tokens) const { return fmt::format("{},N={},scope=model", network_, tokens); }
  Workload attention_of(const Shot& s) const {
    return workload::load(s.chunk > 0 ? fmt::format("{},N={}{}", network_, s.chunk,
                                                    s.history > 0 ? fmt::format(",cache={}", s.history) : std::string())
                                      : fmt::format("{},phase=decode,batch={},cache={}", network_, s.batch, s.cache));
  }
  Workload last_projection(std::uint32_t sequences) const {
    return workload::gemm(sequences, model_.model.vocabulary, model_.model.hidden, model_.type(), {},
                          model_.model.weights);
  }

  void want(const Workload& w) {
    if (seconds_.emplace(w.identity(), 0).second) wanted_.push_back(w);
  }

  void simulate() {
    const auto work = [&](std::size_t i) -> std::string {
      try {
        const job::Schedule schedule =
            schedule_of(machine_, wanted_[i], options_.dataflow, energy_, {}, options_.tuning);
        job::Runner runner(machine_, energy_, false);
        return fmt::format("{:.17g}", runner.run(wanted_[i], schedule, nullptr, {}).seconds());
      } catch (const std::exception& problem) {
        return std::string("!") + problem.what();
      }
    };
    const auto progress = [&](std::size_t done, std::size_t, const std::string&) {
      if (options_.progress) options_.progress(done, wanted_.size());
    };
    const std::vector<std::string> answers = in_processes(wanted_.size(), options_.jobs, work, progress);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (answers[i].empty() || answers[i].front() == '!') {
        throw job::RunError(answers[i].empty() ? wanted_[i].name() + ": its process ended before its answer"
                                               : answers[i].substr(1));
      }
      seconds_[wanted_[i].identity()] = std::stod(answers[i]);
    }
  }

  double seconds(const Workload& w) const { return seconds_.at(w.identity()); }

  // Name of the operation that an operation counts with: of a conversion, that which reads it, or that before it if
  // attention reads it.
  static const std::string& column_of(const std::vector<LayerOperation>& all, const LayerOperation& o) {
    const auto is_other = [](const LayerOperation& of) {
      return of.workload.rows() == nullptr || of.workload.rows()->opcode != hal::Opcode::kConvert;
    };
    const auto at = all.begin() + (&o - all.data());
    const auto reader = std::find_if(at, all.end(), is_other);
    if (reader == at || !reader->workload.is_attention()) return reader->name;
    return std::find_if(std::make_reverse_iterator(at), all.rend(), is_other)->name;
  }

  // Time of a layer's operations with one of the names, in seconds.
  double layer_seconds(std::uint32_t tokens, const std::vector<const char*>& names) const {
    double sum = 0;
    for (const LayerGroup& g : steps_.at(tokens)) {
      if (g.name == "embedding" || g.name == "last projection") continue;
      for (const LayerOperation& o : g.operations) {
        const std::string& column = column_of(g.operations, o);
        const bool is = std::any_of(names.begin(), names.end(), [&](const char* n) { return column == n; });
        if (is) sum += o.count * seconds(o.workload);
      }
      break;  // the first block
    }
    return sum;
  }
  double group_seconds(std::uint32_t tokens, const char* group, const char* name) const {
    double sum = 0;
    for (const LayerGroup& g : steps_.at(tokens)) {
      if (g.name != group) continue;
      for (const LayerOperation& o : g.operations) {
        if (name == nullptr || column_of(g.operations, o) == name) sum += seconds(o.workload);
      }
    }
    return sum;
  }

  static const std::vector<const char*>& norms() {
    static const std::vector<const char*> names = {"attention norm", "attention out norm", "attention sum",
                                                   "network norm",   "network out norm",   "network sum"};
    return names;
  }

  // A layer has two norms, each with the sum before it.
  std::string dense() const {
    std::string text = "layer,tokens,time_us\n";
    const auto rows = [&](const char* layer, const auto& seconds_at) {
      for (const std::uint32_t t : tokens_) {
        if (const double s = seconds_at(t); s > 0) text += fmt::format("{},{},{:.6g}\n", layer, t, s * 1e6);
      }
    };
    const auto of_layer = [&](const char* layer, std::vector<const char*> names) {
      rows(layer, [&, names](std::uint32_t t) { return layer_seconds(t, names); });
    };
    rows("embedding", [&](std::uint32_t t) { return group_seconds(t, "embedding", nullptr); });
    rows("layernorm", [&](std::uint32_t t) { return layer_seconds(t, norms()) / 2; });
    of_layer("qkv_proj", {"qkv"});
    of_layer("qk_norm", {"q, k norm"});
    of_layer("rotary_emb", {"rotary"});
    of_layer("o_proj", {"out"});
    of_layer("gate_up_proj", {"gate, up", "up"});
    of_layer("act_fn", {"activation"});
    of_layer("down_proj", {"down"});
    rows("final_layernorm", [&](std::uint32_t t) { return group_seconds(t, "last projection", "final norm"); });
    return text;
  }

  std::string per_sequence() const {
    std::string text = "layer,sequences,time_us\n";
    if (model_.model.vocabulary == 0) return text;
    for (const std::uint32_t s : sequences_) {
      text += fmt::format("lm_head,{},{:.6g}\n", s, seconds(last_projection(s)) * 1e6);
    }
    return text;
  }

  // A mixed batch is its prefill and its decode, one after the other.
  std::string attention() const {
    std::string text = "layer,prefill_chunk,prefill_key,n_decode,kv_decode,decode_q_len,time_us\n";
    const auto row = [&](const Shot& prefill, const Shot& decode) {
      double s = 0;
      if (prefill.chunk > 0) s += seconds(attention_of(prefill));
      if (decode.batch > 0) s += seconds(attention_of(decode));
      text += fmt::format("attention,{},{},{},{},1,{:.6g}\n", prefill.chunk, prefill.history + prefill.chunk / 2,
                          decode.batch, decode.cache, s * 1e6);
    };
    for (const Shot& d : decodes_) row({}, d);
    for (const Shot& p : prefills_) {
      row(p, {});
      for (const Shot& d : decodes_) row(p, d);
    }
    return text;
  }

  std::string experts() const {
    std::string text = "ep,tokens,activated_experts,time_us\n";
    if (model_.model.experts.count == 0) return text;
    for (const std::uint32_t t : tokens_) {
      std::uint32_t active = 0;
      double s = 0;
      for (const LayerGroup& g : steps_.at(t)) {
        const bool has = std::any_of(g.operations.begin(), g.operations.end(),
                                     [](const LayerOperation& o) { return o.name == "router"; });
        if (!has) continue;
        for (const LayerOperation& o : g.operations) {
          const std::string& column = column_of(g.operations, o);
          const bool is = column == "router" || column == "routing" || column.rfind("expert", 0) == 0 ||
                          column.rfind("shared", 0) == 0;
          if (is) s += o.count * seconds(o.workload);
          if (o.name == "expert down") active += o.count;
        }
        break;
      }
      text += fmt::format("1,{},{},{:.6g}\n", t, active, s * 1e6);
    }
    return text;
  }

  // Vidur's columns of a time in milliseconds: all repetitions of a simulation are equal.
  static std::string stats_columns(const std::vector<const char*>& names) {
    std::string text;
    for (const char* name : names) {
      for (const char* of : {"min", "max", "mean", "median", "std"}) text += fmt::format("time_stats.{}.{},", name, of);
    }
    return text;
  }
  static std::string stats(double seconds) {
    const std::string ms = fmt::format("{:.6g}", seconds * 1e3);
    return fmt::format("{0},{0},{0},{0},0,", ms);
  }

  std::string vidur_steps() const {
    const workload::Model& m = model_.model;
    const workload::Attention& a = model_.attention();
    std::string text =
        stats_columns({"emb", "input_layernorm", "attn_pre_proj", "attn_rope", "attn_post_proj",
                       "post_attention_layernorm", "mlp_up_proj", "mlp_act", "mlp_down_proj", "add"}) +
        "n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,num_tokens,num_tensor_parallel_workers\n";
    for (const std::uint32_t t : tokens_) {
      text += stats(group_seconds(t, "embedding", nullptr));
      for (const std::vector<const char*>& names :
           std::vector<std::vector<const char*>>{{"attention norm", "attention out norm"},
                                                 {"qkv", "q, k norm"},
                                                 {"rotary"},
                                                 {"out"},
                                                 {"network norm", "network out norm"},
                                                 {"gate, up", "up"},
                                                 {"activation"},
                                                 {"down"}}) {
        text += stats(layer_seconds(t, names));
      }
      text += stats(layer_seconds(t, {"attention sum", "network sum"}) / 2);
      text += fmt::format("{},{},{},{},{},{},{},1\n", a.heads, a.heads_of_kv(), m.hidden, m.ffn, m.vocabulary,
                          m.gated ? "True" : "False", t);
    }
    return text;
  }

  std::string vidur_attention() const {
    const workload::Attention& a = model_.attention();
    constexpr std::uint32_t kBlock = 16;  // tokens in a page, Vidur's default
    std::string text = stats_columns({"attn_input_reshape", "attn_kv_cache_save", "attn_prefill", "attn_decode",
                                      "attn_output_reshape"}) +
                       "n_embd,n_q_head,n_kv_head,block_size,num_tensor_parallel_workers,max_model_len,batch_size,"
                       "prefill_chunk_size,kv_cache_size,is_prefill,attention_backend\n";
    std::uint32_t most = 0;
    for (const Shot& p : prefills_) most = std::max(most, p.chunk + p.history);
    const auto row = [&](const Shot& s) {
      const bool is_prefill = s.chunk > 0;
      const double time = seconds(attention_of(s));
      text += stats(0) + stats(0) + stats(is_prefill ? time : 0) + stats(is_prefill ? 0 : time) + stats(0);
      text += fmt::format("{},{},{},{},1,{},{},{},{},{},attnvp\n", model_.model.hidden, a.heads, a.heads_of_kv(),
                          kBlock, most, is_prefill ? 1 : s.batch, s.chunk, is_prefill ? s.history : s.cache,
                          is_prefill ? "True" : "False");
    };
    for (const Shot& p : prefills_) row(p);
    for (const Shot& d : decodes_) row(d);
    return text;
  }

  const MachineConfig& machine_;
  const std::string network_;
  const config::EnergyTable& energy_;
  const ServingOptions& options_;
  Workload model_;
  std::vector<std::uint32_t> tokens_, sequences_;
  std::vector<Shot> prefills_, decodes_;
  std::map<std::uint32_t, std::vector<LayerGroup>> steps_;  // by tokens
  std::vector<Workload> wanted_;
  std::map<std::string, double> seconds_;  // by identity
};

}  // namespace

std::vector<ServingTable> serving_tables(const MachineConfig& machine, const std::string& network,
                                         const config::EnergyTable& energy, const ServingGrid& grid,
                                         const ServingOptions& options) {
  return ServingProfiler(machine, network, energy, grid, options).tables();
}

}  // namespace attnvp::explore
