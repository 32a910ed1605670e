// Shipped networks against published configurations.
#include <set>

#include "platform/machine/catalog.h"
#include "platform/machine/provenance.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"
#include "tests/platform/workload/model_files.h"

namespace attnvp::workload {

using namespace config;

namespace {

// A shipped network and a published configuration of the model say the same.
struct Shipped {
  const char *network, *file, *words;
  bool attention;  // otherwise of a paper's table, which leaves out the scale: the layer alone is the model's
};
const Shipped kShipped[] = {
    {"deepseek-v3",
     R"("model_type": "deepseek_v3", "num_attention_heads": 128, "num_key_value_heads": 128, "hidden_size": 7168,
        "vocab_size": 129280, "intermediate_size": 18432, "num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "max_position_embeddings": 163840,
        "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0})",
     "", true},
    {"gemma2-9b",
     R"("model_type": "gemma2", "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
        "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42, "sliding_window": 4096,
        "query_pre_attn_scalar": 256, "hidden_act": "gelu_pytorch_tanh", "attn_logit_softcapping": 50.0)",
     ",layer_type=full_attention", true},
    {"gpt2",
     R"("model_type": "gpt2", "n_head": 12, "n_embd": 768, "n_layer": 12, "n_positions": 1024,
        "activation_function": "gelu_new")",
     "", true},
    {"llama2-7b",
     R"("model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 4096,
        "intermediate_size": 11008, "num_hidden_layers": 32, "hidden_act": "silu", "max_position_embeddings": 4096)",
     "", true},
    {"llama3.1-8b",
     R"("model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "hidden_act": "silu", "max_position_embeddings": 131072)",
     "", true},
    {"llama3.1-70b",
     R"("model_type": "llama", "num_attention_heads": 64, "num_key_value_heads": 8, "hidden_size": 8192,
        "intermediate_size": 28672, "num_hidden_layers": 80, "hidden_act": "silu", "max_position_embeddings": 131072)",
     "", true},
    {"mistral-7b",
     R"("model_type": "mistral", "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "hidden_act": "silu", "sliding_window": 4096)",
     "", true},
    {"phi3-mini",
     R"("model_type": "phi3", "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 3072,
        "intermediate_size": 8192, "num_hidden_layers": 32, "hidden_act": "silu", "sliding_window": 2047)",
     "", true},
    {"qwen2.5-7b",
     R"("model_type": "qwen2", "num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584,
        "intermediate_size": 18944, "num_hidden_layers": 28, "hidden_act": "silu", "sliding_window": 131072,
        "use_sliding_window": false, "max_window_layers": 28)",
     "", true},
    {"qwen3-8b",
     R"("model_type": "qwen3", "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36, "hidden_act": "silu",
        "sliding_window": null)",
     "", true},
    {"qwen3-14b",
     R"("model_type": "qwen3", "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 40, "hidden_act": "silu",
        "sliding_window": null)",
     "", true},
    {"gemma3-12b",
     R"("model_type": "gemma3_text", "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
        "hidden_size": 3840, "intermediate_size": 15360, "num_hidden_layers": 48, "sliding_window": 1024,
        "query_pre_attn_scalar": 256)",
     ",layer_type=full_attention", true},
    {"gemma3-27b",
     R"("model_type": "gemma3_text", "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
        "hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62, "sliding_window": 1024,
        "query_pre_attn_scalar": 168)",
     ",layer_type=full_attention", true},
    {"qwen3-32b",
     R"("model_type": "qwen3", "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
        "hidden_size": 5120, "intermediate_size": 25600, "num_hidden_layers": 64, "hidden_act": "silu",
        "sliding_window": null)",
     "", true},
    {"bert-base", R"("model_type": "bert")", "", false},
    {"bert-large", R"("model_type": "bert", "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 4096)",
     "", false},
    {"vit-b-14", R"("model_type": "vit", "patch_size": 14)", "", false},
    {"vit-h-16", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1280, "intermediate_size": 5120)",
     "", false},
    {"vit-l-14", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 4096)",
     "", false},
    {"vit-b-16", R"("model_type": "vit")", "", false},
    {"vit-l-16", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 4096)",
     "", false},
    {"vit-h-14", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1280, "intermediate_size": 5120)",
     "", false}};

TEST(ModelFile, ShippedNetworksFollowTheSameRules) {
  // MAS-Attention's own shapes, or a model type that is not read.
  std::set<std::string> rest = {"bert-small", "llama3-8b", "t5-mini", "xlm"};
  for (const Shipped& s : kShipped) rest.insert(s.network);
  for (const CatalogEntry& entry : list(Folder::kNetworks)) EXPECT_EQ(rest.erase(entry.name), 1U) << entry.name;
  EXPECT_TRUE(rest.empty());
  for (const Shipped& s : kShipped) {
    const Workload shipped = load(s.network), file = load_file("{" + std::string(s.file) + "}", s.words);
    EXPECT_EQ(shipped.attention().heads, file.attention().heads) << s.network;
    EXPECT_EQ(shipped.attention().heads_of_kv(), file.attention().heads_of_kv()) << s.network;
    EXPECT_EQ(shipped.attention().emb, file.attention().emb) << s.network;
    EXPECT_EQ(shipped.attention().values(), file.attention().values()) << s.network;
    EXPECT_EQ(shipped.model.hidden, file.model.hidden) << s.network;
    EXPECT_EQ(shipped.model.ffn, file.model.ffn) << s.network;
    EXPECT_EQ(shipped.model.gated, file.model.gated) << s.network;
    EXPECT_EQ(shipped.model.norm, file.model.norm) << s.network;
    EXPECT_EQ(shipped.model.norm_place, file.model.norm_place) << s.network;
    EXPECT_EQ(shipped.model.activation, file.model.activation) << s.network;
    EXPECT_EQ(shipped.model.rotary, file.model.rotary) << s.network;
    EXPECT_EQ(shipped.model.qk_norm, file.model.qk_norm) << s.network;
    EXPECT_EQ(shipped.attention().mask.causal, file.attention().mask.causal) << s.network;
    if (!s.attention) continue;
    EXPECT_EQ(shipped.model.layers, file.model.layers) << s.network;
    EXPECT_EQ(shipped.attention().mask.window, file.attention().mask.window) << s.network;
    EXPECT_EQ(shipped.attention().seq_q, file.attention().seq_q) << s.network;
    EXPECT_EQ(shipped.attention().soft_cap, file.attention().soft_cap) << s.network;
    EXPECT_NEAR(shipped.attention().scale, file.attention().scale, 1e-7) << s.network;
  }
}

}  // namespace
}  // namespace attnvp::workload
