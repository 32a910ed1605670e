// Configurations of public models: parameters and multiply-accumulates of a token within 1% of the published numbers.
// Sources of the counts: the models' cards and the sizes of their weight files on huggingface.co; what differs is
// named.
#include <gtest/gtest.h>

#include <string>

#include "platform/workload/layers.h"
#include "tests/platform/test_files.h"

namespace attnvp::workload {
namespace {

using attnvp::testing::TemporaryFolder;

struct PublicModel {
  const char* name;
  const char* config;  // what differs from the class's defaults
  double parameters;
  double idle;  // parameters that a token does not multiply: tables of tokens and positions, experts not chosen
};

// Parameters of `layers` times `idle` experts of gated networks.
constexpr double experts(double layers, double idle, double ffn, double hidden) {
  return layers * idle * 3 * ffn * hidden;
}

const PublicModel kModels[] = {
    {"Llama-2-7b", R"("model_type": "llama")", 6'738'415'616, 32000.0 * 4096},
    {"Llama-2-13b",
     R"("model_type": "llama", "hidden_size": 5120, "intermediate_size": 13824, "num_attention_heads": 40,
        "num_hidden_layers": 40)",
     13'015'864'320, 32000.0 * 5120},
    {"Llama-2-70b",
     R"("model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64,
        "num_key_value_heads": 8, "num_hidden_layers": 80)",
     68'976'648'192, 32000.0 * 8192},
    {"Llama-3.1-8B",
     R"("model_type": "llama", "intermediate_size": 14336, "num_key_value_heads": 8, "vocab_size": 128256)",
     8'030'261'248, 128256.0 * 4096},
    {"Llama-3.1-70B",
     R"("model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64,
        "num_key_value_heads": 8, "num_hidden_layers": 80, "vocab_size": 128256)",
     70'553'706'496, 128256.0 * 8192},
    {"Llama-3.1-405B",
     R"("model_type": "llama", "hidden_size": 16384, "intermediate_size": 53248, "num_attention_heads": 128,
        "num_key_value_heads": 8, "num_hidden_layers": 126, "vocab_size": 128256)",
     405'853'388'800, 128256.0 * 16384},
    {"Llama-3.2-1B",
     R"("model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 64, "num_hidden_layers": 16, "vocab_size": 128256,
        "tie_word_embeddings": true)",
     1'235'814'400, 0},
    {"Llama-3.2-3B",
     R"("model_type": "llama", "hidden_size": 3072, "intermediate_size": 8192, "num_attention_heads": 24,
        "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 28, "vocab_size": 128256,
        "tie_word_embeddings": true)",
     3'212'749'824, 0},
    {"Mistral-7B-v0.1", R"("model_type": "mistral")", 7'241'732'096, 32000.0 * 4096},
    {"Mixtral-8x7B", R"("model_type": "mixtral")", 46'702'792'704, experts(32, 6, 14336, 4096) + 32000.0 * 4096},
    {"Mixtral-8x22B",
     R"("model_type": "mixtral", "hidden_size": 6144, "intermediate_size": 16384, "num_attention_heads": 48,
        "num_hidden_layers": 56, "vocab_size": 32768)",
     140'630'071'296, experts(56, 6, 16384, 6144) + 32768.0 * 6144},
    {"Qwen2-0.5B",
     R"("model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14,
        "num_key_value_heads": 2, "num_hidden_layers": 24, "tie_word_embeddings": true)",
     494'032'768, 0},
    {"Qwen2.5-7B",
     R"("model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
        "num_key_value_heads": 4, "num_hidden_layers": 28, "vocab_size": 152064)",
     7'615'616'512, 152064.0 * 3584},
    {"Qwen2.5-72B",
     R"("model_type": "qwen2", "hidden_size": 8192, "intermediate_size": 29568, "num_attention_heads": 64,
        "num_key_value_heads": 8, "num_hidden_layers": 80, "vocab_size": 152064)",
     72'706'203'648, 152064.0 * 8192},
    {"Qwen3-8B",
     R"("model_type": "qwen3", "intermediate_size": 12288, "num_key_value_heads": 8, "num_hidden_layers": 36)",
     8'190'735'360, 151936.0 * 4096},
    {"Qwen3-32B",
     R"("model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 25600, "num_attention_heads": 64,
        "num_key_value_heads": 8, "num_hidden_layers": 64)",
     32'762'123'264, 151936.0 * 5120},
    {"Qwen3-30B-A3B", R"("model_type": "qwen3_moe", "num_hidden_layers": 48, "head_dim": 128)", 30'532'122'624,
     experts(48, 120, 768, 2048) + 151936.0 * 2048},
    {"Qwen3-235B-A22B",
     R"("model_type": "qwen3_moe", "hidden_size": 4096, "moe_intermediate_size": 1536, "num_attention_heads": 64,
        "num_hidden_layers": 94, "head_dim": 128)",
     235'093'634'560, experts(94, 120, 1536, 4096) + 151936.0 * 4096},
    {"Qwen1.5-MoE-A2.7B", R"("model_type": "qwen2_moe")", 14'315'784'192,
     experts(24, 56, 1408, 2048) + 151936.0 * 2048},
    {"gemma-2b",
     R"("model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_attention_heads": 8,
        "num_key_value_heads": 1, "num_hidden_layers": 18)",
     2'506'172'416, 0},
    {"gemma-7b", R"("model_type": "gemma")", 8'537'680'896, 0},
    {"gemma-2-2b", R"("model_type": "gemma2")", 2'614'341'888, 0},
    {"gemma-2-9b",
     R"("model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_attention_heads": 16,
        "num_key_value_heads": 8, "num_hidden_layers": 42)",
     9'241'705'984, 0},
    {"gemma-2-27b",
     R"("model_type": "gemma2", "hidden_size": 4608, "intermediate_size": 36864, "num_attention_heads": 32,
        "num_key_value_heads": 16, "head_dim": 128, "num_hidden_layers": 46)",
     27'227'128'320, 0},
    {"gemma-3-1b",
     R"("model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912, "num_attention_heads": 4,
        "num_key_value_heads": 1, "num_hidden_layers": 26, "vocab_size": 262144)",
     999'885'952, 0},
    {"phi-1.5", R"("model_type": "phi")", 1'418'270'720, 51200.0 * 2048},
    {"phi-2", R"("model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 32)",
     2'779'683'840, 51200.0 * 2560},
    {"Phi-3-mini", R"("model_type": "phi3")", 3'821'079'552, 32064.0 * 3072},
    {"phi-4",
     R"("model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920, "num_attention_heads": 40,
        "num_key_value_heads": 10, "num_hidden_layers": 40, "vocab_size": 100352)",
     14'659'507'200, 100352.0 * 5120},
    {"Phi-3.5-MoE", R"("model_type": "phimoe")", 41'873'153'344, experts(32, 14, 6400, 4096) + 32064.0 * 4096},
    {"gpt2", R"("model_type": "gpt2")", 124'439'808, 1024.0 * 768},
    {"gpt2-xl", R"("model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48)", 1'557'611'200, 1024.0 * 1600},
    {"gpt-j-6b", R"("model_type": "gptj")", 6'053'381'344, 50400.0 * 4096},
    {"gpt-neox-20b", R"("model_type": "gpt_neox")", 20'554'567'680, 50432.0 * 6144},
    {"gpt-oss-20b", R"("model_type": "gpt_oss", "num_hidden_layers": 24, "num_local_experts": 32)", 20'914'757'184,
     experts(24, 28, 2880, 2880) + 201088.0 * 2880},
    {"gpt-oss-120b", R"("model_type": "gpt_oss")", 116'829'156'672, experts(36, 124, 2880, 2880) + 201088.0 * 2880},
    {"DeepSeek-V2-Lite",
     R"("model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944, "num_attention_heads": 16,
        "num_hidden_layers": 27, "vocab_size": 102400, "q_lora_rank": null, "moe_intermediate_size": 1408,
        "num_experts_per_tok": 6, "first_k_dense_replace": 1)",
     15'706'484'224, experts(26, 58, 1408, 2048) + 102400.0 * 2048},
    {"DeepSeek-V2",
     R"("model_type": "deepseek_v2", "hidden_size": 5120, "intermediate_size": 12288, "num_attention_heads": 128,
        "num_hidden_layers": 60, "vocab_size": 102400, "moe_intermediate_size": 1536, "n_routed_experts": 160,
        "num_experts_per_tok": 6, "first_k_dense_replace": 1)",
     235'741'434'880, experts(59, 154, 1536, 5120) + 102400.0 * 5120},
    {"DeepSeek-V3", R"("model_type": "deepseek_v3")", 671'026'404'352, experts(58, 248, 2048, 7168) + 129280.0 * 7168},
    {"glm-4-9b", R"("model_type": "glm")", 9'399'951'360, 151552.0 * 4096},
    {"GLM-4-9B-0414", R"("model_type": "glm4")", 9'400'279'040, 151552.0 * 4096},
    {"OLMo-2-7B", R"("model_type": "olmo2", "vocab_size": 100352)", 7'298'617'344, 100352.0 * 4096},
    {"starcoder2-3b", R"("model_type": "starcoder2")", 3'030'371'328, 0},
    {"starcoder2-7b",
     R"("model_type": "starcoder2", "hidden_size": 4608, "intermediate_size": 18432, "num_attention_heads": 36,
        "num_key_value_heads": 4, "num_hidden_layers": 32, "tie_word_embeddings": false)",
     7'400'416'256, 49152.0 * 4608},
    {"falcon-7b", R"("model_type": "falcon")", 6'921'720'704, 0},
    {"mpt-7b", R"("model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432)",
     6'649'286'656, 0},
    {"bloom-7b1", R"("model_type": "bloom", "n_embed": 4096, "num_attention_heads": 32, "n_layer": 30)", 7'069'016'064,
     0},
    {"bloom", R"("model_type": "bloom", "n_embed": 14336, "num_attention_heads": 112, "n_layer": 70)", 176'247'271'424,
     0},
    // Without the pooler, 768 x 769 and 1024 x 1025.
    {"bert-base-uncased", R"("model_type": "bert")", 109'482'240 - 590'592, 30522.0 * 768 + 512.0 * 768},
    {"bert-large-uncased",
     R"("model_type": "bert", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
        "num_hidden_layers": 24)",
     335'141'888 - 1'049'600, 30522.0 * 1024 + 512.0 * 1024},
    {"roberta-base", R"("model_type": "roberta", "max_position_embeddings": 514)", 124'645'632 - 590'592,
     50265.0 * 768 + 512.0 * 768},
    {"distilbert-base", R"("model_type": "distilbert")", 66'362'880, 30522.0 * 768 + 512.0 * 768},
    // Without the head, 768 x 1001.
    {"vit-base-patch16-224", R"("model_type": "vit")", 86'567'656 - 769'000, 197.0 * 768},
    {"vit-large-patch16-224",
     R"("model_type": "vit", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
        "num_hidden_layers": 24)",
     304'326'632 - 1'025'000, 197.0 * 1024},
    {"clip-vit-large-patch14",
     R"("model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
        "num_hidden_layers": 24, "patch_size": 14)",
     303'179'776, 257.0 * 1024},
    {"t5-small", R"("model_type": "t5")", 60'506'624, 0},
    {"t5-base",
     R"("model_type": "t5", "d_model": 768, "d_ff": 3072, "num_heads": 12, "num_layers": 12, "num_decoder_layers": 12)",
     222'903'552, 0},
    {"flan-t5-base",
     R"("model_type": "t5", "d_model": 768, "d_ff": 2048, "num_heads": 12, "num_layers": 12, "num_decoder_layers": 12,
        "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false)",
     247'577'856, 32128.0 * 768},
    {"t5-small, its encoder", R"("model_type": "t5", "is_encoder_decoder": false)", 35'330'816, 32128.0 * 512}};

class PublicModels : public ::testing::TestWithParam<PublicModel> {};

TEST_P(PublicModels, HavePublishedParametersAndMacs) {
  const PublicModel& m = GetParam();
  const TemporaryFolder folder;
  const std::string net = "hf:" + folder.write("config.json", "{" + std::string(m.config) + "}") + ",N=16,scope=model";
  const ParameterCount n = parameters_of(groups_of(load(net)));
  EXPECT_NEAR(static_cast<double>(n.all), m.parameters, 0.01 * m.parameters);
  const double active = m.parameters - m.idle;
  EXPECT_NEAR(static_cast<double>(n.active), active, 0.01 * active);
  // A product is done for every token except where the last projection is of one, and experts have as many in all.
  std::uint64_t macs = 0;
  for (const LayerGroup& g : groups_of(load(net + ",logits=all"))) {
    for (const LayerOperation& o : g.operations) {
      const Gemm* const p = o.workload.gemm();
      if (p != nullptr) macs += std::uint64_t{g.count} * o.count * p->rows * p->columns * p->depth;
    }
  }
  const bool has_head = load(net).model.logits != Logits::kNone;
  if (has_head) {
    EXPECT_EQ(macs, 16 * n.active);
  }
}

// The encoder has 1500 rows, and its first convolution 3000.
TEST(PublicModel, WhisperHasAnEncoderOfSound) {
  const auto count = [](const std::string& keys, const std::string& words = "") {
    const TemporaryFolder folder;
    return groups_of(load("hf:" + folder.write("config.json", R"({"model_type": "whisper", )" + keys + "}") +
                          ",scope=model" + words));
  };
  const std::string tiny = R"("d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6,
      "decoder_attention_heads": 6)";
  const std::string large = R"("d_model": 1280, "encoder_layers": 32, "decoder_layers": 32, "vocab_size": 51866,
      "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120,
      "num_mel_bins": 128)";
  for (const auto& [keys, published] : {std::pair{tiny, 37'760'640.0}, {large, 1'543'490'560.0}}) {
    EXPECT_NEAR(static_cast<double>(parameters_of(count(keys)).all), published, 0.01 * published);
  }
  std::uint64_t macs = 0;
  for (const LayerGroup& g : count(tiny, ",N=10")) {
    for (const LayerOperation& o : g.operations) {
      const Gemm* const p = o.workload.gemm();
      if (p != nullptr) macs += std::uint64_t{g.count} * o.count * p->rows * p->columns * p->depth;
    }
  }
  constexpr std::uint64_t kSquare = 384 * 384, kNetwork = 2 * 384 * 1536;
  EXPECT_EQ(macs, 384ULL * (3000 * 240 + 1500 * 1152) + 4 * 1500 * (4 * kSquare + kNetwork) +
                      4 * (10 * (6 * kSquare + kNetwork) + 1500 * 2 * kSquare) + 51865ULL * 384);
}

// Published in whole billions: 400, with a vision tower of less than one, of which 17 are active, with the table.
TEST(PublicModel, Llama4MaverickHas400BillionParameters) {
  const TemporaryFolder folder;
  const ParameterCount n = parameters_of(groups_of(load("hf:" + folder.write("config.json", R"({"model_type": "llama4",
      "text_config": {"model_type": "llama4_text", "num_local_experts": 128, "interleave_moe_layer_step": 2}})") +
                                                        ",N=16,scope=model")));
  EXPECT_NEAR(static_cast<double>(n.all), 400e9, 4e9);
  EXPECT_NEAR(static_cast<double>(n.active) + 202048.0 * 5120, 17e9, 0.5e9);
}

INSTANTIATE_TEST_SUITE_P(Shipped, PublicModels, ::testing::ValuesIn(kModels), [](const auto& model) {
  std::string name;
  for (const char c : std::string(model.param.name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
});

}  // namespace
}  // namespace attnvp::workload
