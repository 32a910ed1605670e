// Windows by family, defaults of absent keys, positions, activations, sources of values.
#include "platform/machine/catalog.h"
#include "platform/machine/provenance.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"
#include "tests/platform/workload/model_files.h"

namespace attnvp::workload {

using namespace config;

namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

// Values of gemma-3-1b.
const std::string kGemma3 =
    R"({"model_type": "gemma3_text", "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256,
        "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26, "max_position_embeddings": 32768,
        "sliding_window": 512, "query_pre_attn_scalar": 256, "hidden_activation": "gelu_pytorch_tanh")";

TEST(ModelFile, LayersThatDifferHaveASelection) {
  const std::string file = kGemma3 + R"(, "sliding_window_pattern": 6})";
  const Workload first = load_file(file, ",phase=decode,cache=32767");
  EXPECT_EQ(first.attention().visible_keys(0, 0), 512U);
  EXPECT_EQ(first.model.layers, 22U);
  EXPECT_EQ(first.model.block_text(), "window, 22 of 26 layers; block=2 is full");
  EXPECT_EQ(load_file(file, ",block=2").model.block_text(), "full, 4 of 26 layers; block=1 is window");
  EXPECT_EQ(load_file(R"({"model_type": "llama"})", "").model.block_text(), "");
  const Workload sliding = load_file(file, ",layer_type=sliding_attention,phase=decode,cache=32767");
  EXPECT_EQ(sliding.attention().mask.window, 512U);
  EXPECT_EQ(sliding.attention().visible_keys(0, 0), 512U);
  EXPECT_EQ(sliding.model.layers, 22U);
  EXPECT_EQ(sliding.name().substr(sliding.name().find(',')), ",layer_type=sliding_attention,phase=decode,cache=32767");
  const Workload full = load_file(file, ",phase=decode,layer_type=full_attention,cache=32767");
  EXPECT_EQ(full.attention().mask.window, 0U);
  EXPECT_EQ(full.attention().visible_keys(0, 0), 32768U);
  EXPECT_EQ(full.model.layers, 4U);
  EXPECT_EQ(load_file(file, ",layer_type=full_attention,scope=layer").model.ffn, 6912U);
  EXPECT_EQ(refusal(file, ",layer_type=full_attention,scope=model"),
            "layer_type: scope=model runs all layers; allowed is none");
  EXPECT_EQ(blocks_of(file), "22 window, 4 full");
  EXPECT_EQ(load_file(file, ",block=2").model.layers, 4U);
  EXPECT_EQ(refusal(file, ",layer_type=linear"),
            "layer_type: found 'linear'; allowed: full_attention, sliding_attention");
  EXPECT_NE(
      message_of([&] { load_file(file, ",layer_type=full_attention,layer_type=full_attention"); }).find("given twice"),
      std::string::npos);
  EXPECT_EQ(refusal(R"({"model_type": "llama"})", ",layer_type=sliding_attention"),
            "layer_type: found 'sliding_attention'; allowed is full_attention, as all 32 layers are");
  EXPECT_EQ(load_file(R"({"model_type": "llama"})", ",layer_type=full_attention").model.layers, 32U);
}

// How many layers have a window, of 26 or as many as the file says.
std::uint32_t windowed(const std::string& keys) {
  const std::string file = "{\"num_hidden_layers\": 26, " + keys + "}";
  return load_file(file, ",layer_type=sliding_attention").model.layers;
}

TEST(ModelFile, FamiliesHaveTheirOwnRuleOfWindows) {
  EXPECT_EQ(windowed(R"("model_type": "gemma2")"), 13U);       // every other one
  EXPECT_EQ(windowed(R"("model_type": "gemma3_text")"), 22U);  // all but every sixth
  EXPECT_EQ(windowed(R"("model_type": "cohere2")"), 20U);      // all but every fourth
  EXPECT_EQ(windowed(R"("model_type": "cohere2", "sliding_window_pattern": 2)"), 13U);
  EXPECT_EQ(windowed(R"("model_type": "qwen2", "use_sliding_window": true, "max_window_layers": 20)"), 6U);
  EXPECT_EQ(windowed(R"("model_type": "qwen3", "use_sliding_window": true, "max_window_layers": 0)"), 26U);
  EXPECT_EQ(windowed(R"("model_type": "qwen2_moe", "use_sliding_window": true, "max_window_layers": 21)"), 11U);
  EXPECT_EQ(windowed(R"("model_type": "qwen3_moe", "use_sliding_window": true)"), 26U);
  EXPECT_EQ(windowed(R"("model_type": "mistral")"), 26U);
  // The list of layers, where there is one.
  const std::string three = R"({"model_type": "gemma2", "num_hidden_layers": 3, "layer_types": )";
  EXPECT_EQ(
      load_file(three + R"(["full_attention", "full_attention", "sliding_attention"]})", ",layer_type=full_attention")
          .model.layers,
      2U);
  EXPECT_EQ(load_file(three + R"(["full_attention", "full_attention", "full_attention"]})").model.layers, 3U);
  EXPECT_EQ(refusal(three + R"(["full_attention"]})"),
            "key 'layer_types': found a list of 1; allowed is a list of 3 texts");
  EXPECT_EQ(refusal(three + R"(["full_attention", "full_attention", "linear_attention"]})"),
            "key 'layer_types': found 'linear_attention'; allowed in model_type 'gemma2': full_attention, "
            "sliding_attention");
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_hidden_layers": 1, "layer_types": ["sliding_attention"]})"),
            "key 'layer_types': found 'sliding_attention'; allowed in model_type 'llama': full_attention");
}

TEST(ModelFile, KeysLeftOutAreTheDefaultsOfTheClass) {
  // The text part of gemma-3-12b, which leaves out what equals its class's defaults.
  const std::string file = R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {
      "model_type": "gemma3_text", "hidden_size": 3840, "intermediate_size": 15360, "num_attention_heads": 16,
      "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}})";
  const Workload n = load_file(file, ",N=32,layer_type=full_attention,scope=layer");
  EXPECT_EQ(n.attention().emb, 256U);
  EXPECT_EQ(n.attention().scale, 1.0F / 16);
  EXPECT_EQ(n.attention().soft_cap, 0);
  EXPECT_EQ(n.model.norm, Norm::kRmsNorm);
  EXPECT_EQ(n.model.norm_place, NormPlace::kBoth);
  EXPECT_EQ(n.model.activation, hal::Activation::kGeluTanh);
  EXPECT_TRUE(n.model.gated && n.model.rotary && n.model.qk_norm);
  EXPECT_EQ(operations_of(n)[1].workload.name(), "gemm:32x8192x3840");
  EXPECT_EQ(refusal(R"({"model_type": "gemma3", "text_config": {"head_dim": -1}})"),
            "key 'text_config.head_dim': found '-1'; allowed is a whole number from 1 to 4294967295");
  EXPECT_EQ(refusal(R"({"model_type": "gemma3", "head_dim": 256})"), "key 'text_config': it is missing, or no map");
  // gemma-3-4b and llava-1.5 leave out more.
  const Workload four = load_file(
      R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
          "num_hidden_layers": 34, "sliding_window": 1024}})",
      ",layer_type=sliding_attention");
  EXPECT_EQ(four.attention().heads, 8U);
  EXPECT_EQ(four.attention().kv_heads, 4U);
  EXPECT_EQ(four.model.layers, 29U);
  const Workload llava = load_file(R"({"model_type": "llava", "text_config": {"max_position_embeddings": 4096}})");
  EXPECT_EQ(llava.attention().heads, 32U);
  EXPECT_EQ(llava.attention().emb, 128U);
  EXPECT_EQ(llava.model.ffn, 11008U);
  // A key that is null is given.
  EXPECT_EQ(load_file(R"({"model_type": "mistral"})").attention().kv_heads, 8U);
  EXPECT_EQ(load_file(R"({"model_type": "mistral", "num_key_value_heads": null})").attention().heads_of_kv(), 32U);
  EXPECT_EQ(load_file(R"({"model_type": "mistral"})").attention().mask.window, 4096U);
  EXPECT_EQ(load_file(R"({"model_type": "mistral", "sliding_window": null})").attention().mask.window, 0U);
  const std::string one = R"({"model_type": "gemma2", "num_hidden_layers": 1)";
  EXPECT_EQ(load_file(one + "}").attention().soft_cap, 50);
  EXPECT_EQ(load_file(one + R"(, "attn_logit_softcapping": null})").attention().soft_cap, 0);
  EXPECT_EQ(load_file(R"({"model_type": "qwen3", "hidden_size": 4096, "num_attention_heads": 64})").attention().emb,
            128U);
  EXPECT_EQ(load_file(R"({"model_type": "gpt2", "n_embd": 1024, "n_head": 16})").model.ffn, 4096U);
}

TEST(ModelFile, WindowsThatAreOffAreNone) {
  const std::string qwen2 = R"({"model_type": "qwen2", "num_attention_heads": 16, "num_key_value_heads": 2,
      "hidden_size": 2048, "num_hidden_layers": 36, "sliding_window": 1024)";
  EXPECT_EQ(load_file(qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 36})").attention().mask.window, 0U);
  EXPECT_EQ(load_file(qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 0})").attention().mask.window,
            1024U);
  EXPECT_EQ(load_file(qwen2 + "}").attention().mask.window, 0U);
  for (const char* type : {"qwen3", "qwen2_moe", "qwen3_moe", "llama", "gemma", "phi", "mixtral"}) {
    const bool reads = std::string(type) == "mixtral";  // which has no switch
    EXPECT_EQ(
        load_file(std::string(R"({"model_type": ")") + type + R"(", "sliding_window": 1024})").attention().mask.window,
        reads ? 1024U : 0U)
        << type;
  }
  EXPECT_EQ(load_file(R"({"model_type": "qwen3_moe", "use_sliding_window": false, "sliding_window": 0})")
                .attention()
                .mask.window,
            0U);
  EXPECT_EQ(load_file(R"({"model_type": "phi3", "sliding_window": 2047})").attention().mask.window, 2047U);
}

TEST(ModelFile, ModelsMayLookBothWays) {
  // EmbeddingGemma: half of its window to either side, |q - k| <= 256, in 20 of 24 layers.
  const std::string file =
      R"({"model_type": "gemma3_text", "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 256,
          "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 24, "sliding_window": 512,
          "_sliding_window_pattern": 6, "use_bidirectional_attention": true})";
  const Workload sliding = load_file(file, ",N=1024,layer_type=sliding_attention");
  EXPECT_EQ(sliding.attention().mask.causal, 0U);
  EXPECT_EQ(sliding.model.layers, 20U);
  EXPECT_EQ(sliding.attention().visible_keys(0, 0), 257U);
  EXPECT_EQ(sliding.attention().visible_keys(0, 512), 513U);
  const Workload full = load_file(file, ",N=1024,layer_type=full_attention");
  EXPECT_FALSE(full.attention().mask.any());
  EXPECT_EQ(full.model.layers, 4U);
  EXPECT_EQ(load_file(R"({"model_type": "gemma", "use_bidirectional_attention": true})").attention().mask.causal, 0U);
  EXPECT_EQ(load_file(R"({"model_type": "llama", "is_causal": false})").attention().mask.causal, 0U);
  EXPECT_EQ(
      refusal(R"({"model_type": "mistral", "is_causal": false})"),
      "key 'is_causal': with a window allowed is causal attention, as it is not known how far the window reaches");
  for (const char* type : {"bert", "roberta"}) {
    const std::string model = std::string(R"({"model_type": ")") + type + '"';
    EXPECT_EQ(load_file(model + "}").attention().mask.causal, 0U);
    EXPECT_EQ(load_file(model + R"(, "is_decoder": true})").attention().mask.causal, 1U);
    EXPECT_EQ(refusal(model + R"(, "position_embedding_type": "relative_key"})"),
              "key 'position_embedding_type': found 'relative_key'; allowed is 'absolute'");
  }
}

TEST(ModelFile, PositionsAreThoseThatTokensCanHave) {
  EXPECT_EQ(
      load_file(R"({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1})").attention().seq_q,
      512U);
  EXPECT_EQ(
      load_file(R"({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 0})").attention().seq_q,
      513U);
  EXPECT_EQ(load_file(R"({"model_type": "bert", "max_position_embeddings": 514, "pad_token_id": 0})").attention().seq_q,
            514U);
  EXPECT_EQ(refusal(R"({"model_type": "roberta", "max_position_embeddings": 2})"),
            "key 'max_position_embeddings': found '2'; allowed is more than 'pad_token_id' + 1, 2");
  EXPECT_EQ(load_file(R"({"model_type": "vit"})").attention().seq_q, 197U);
  EXPECT_EQ(load_file(R"({"model_type": "vit", "image_size": 1024, "patch_size": 16})").attention().seq_q, 4097U);
  EXPECT_EQ(load_file(R"({"model_type": "llama", "max_position_embeddings": 131072})").attention().seq_q, 2048U);
}

TEST(ModelFile, GeluIsExactOrTanhByFamily) {
  const auto activation = [](const std::string& keys) {
    return load_file("{" + keys + "}", ",scope=layer").model.activation;
  };
  const hal::Activation exact = hal::Activation::kGelu, tanh = hal::Activation::kGeluTanh;
  EXPECT_EQ(activation(R"("model_type": "gemma", "hidden_act": "gelu")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "gemma", "hidden_act": "gelu", "hidden_activation": null)"), tanh);
  EXPECT_EQ(activation(R"("model_type": "gemma", "hidden_activation": "gelu")"), exact);
  EXPECT_EQ(activation(R"("model_type": "gemma2", "num_hidden_layers": 1, "hidden_act": "gelu")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "gpt2")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "bert", "hidden_act": "gelu")"), exact);
  EXPECT_EQ(activation(R"("model_type": "vit")"), exact);
  EXPECT_EQ(activation(R"("model_type": "llama")"), hal::Activation::kSilu);
  EXPECT_EQ(activation(R"("model_type": "t5")"), hal::Activation::kRelu);
  EXPECT_EQ(activation(R"("model_type": "t5", "feed_forward_proj": "gated-gelu")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "t5", "feed_forward_proj": "gelu")"), exact);
  EXPECT_EQ(activation(R"("model_type": "t5", "feed_forward_proj": "gated-silu")"), hal::Activation::kSilu);
}

TEST(ModelFile, T5HasItsBiasAndNoScale) {
  const Workload n = load_file(R"({"model_type": "t5", "d_ff": 2048, "d_kv": 64, "d_model": 512, "num_heads": 8,
      "num_layers": 6, "n_positions": 512, "feed_forward_proj": "relu", "relative_attention_num_buckets": 32})");
  EXPECT_EQ(n.attention().bias, Bias::kRelative);
  EXPECT_EQ(n.attention().scale, 1);
  EXPECT_FALSE(n.attention().mask.any());
  EXPECT_EQ(n.attention().seq_q, 512U);
  EXPECT_EQ(n.model.norm, Norm::kRmsNorm);
  EXPECT_FALSE(n.model.gated);
  EXPECT_EQ(refusal(R"({"model_type": "t5", "relative_attention_num_buckets": 64})"),
            "key 'relative_attention_num_buckets': found '64'; allowed is 32");
  EXPECT_TRUE(load_file(R"({"model_type": "t5", "feed_forward_proj": "gated-gelu"})", ",scope=layer").model.gated);
}

TEST(ModelFile, ValuesSayWhereTheyComeFrom) {
  const TemporaryFolder folder;
  folder.write("m/config.json", kGemma3 + "}");
  const Provenances of_keys = network_provenance("hf:m,layer_type=full_attention,batch=2");
  EXPECT_EQ(of_keys.at("emb").text(), "published key 'head_dim' of the file");
  EXPECT_EQ(of_keys.at("batch").kind, ProvenanceKind::kSet);
  folder.write("n/config.json", R"({"model_type": "gemma", "num_attention_heads": 16})");
  EXPECT_EQ(network_provenance("hf:n").at("emb").text(), "published default of GemmaConfig for key 'head_dim'");
  EXPECT_EQ(network_provenance("llama3.1-8b,batch=2").at("batch").kind, ProvenanceKind::kSet);
  EXPECT_EQ(network_provenance("llama3.1-8b,batch=2").at("heads").kind, ProvenanceKind::kPublished);
}

}  // namespace
}  // namespace attnvp::workload
