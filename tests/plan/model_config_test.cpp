// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plan/presets.h"

namespace ebb::plan {
namespace {

constexpr const char* kGpt2 = R"({
  "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768,
  "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257, "n_inner": null})";

constexpr const char* kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false,
  "attention_bias": false, "rope_theta": 500000.0})";

TEST(ModelConfig, ReadsGpt2) {
  const auto model = model_from_config(kGpt2, "config.json");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->parameters(), preset("gpt2")->parameters());
}

TEST(ModelConfig, ReadsLlama) {
  const auto model = model_from_config(kLlama, "config.json");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->parameters(), preset("llama-3-8b")->parameters());
}

TEST(ModelConfig, Qwen2HasBiases) {
  const auto model = model_from_config(
      R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
          "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
          "vocab_size": 152064})",
      "config.json");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->parameters(), preset("qwen2.5-7b")->parameters());
}

class BrokenConfig : public testing::TestWithParam<const char*> {};

TEST_P(BrokenConfig, IsOneLineThatNamesTheFile) {
  const auto model = model_from_config(GetParam(), "some/config.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, base::Code::bad_input);
  EXPECT_TRUE(model.error().message.starts_with("some/config.json: ")) << model.error().message;
  EXPECT_EQ(model.error().message.find('\n'), std::string::npos) << model.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Many, BrokenConfig,
    testing::Values("", "[]", "{}", "{", R"({"model_type": 7})", R"({"model_type": "t5"})",
                    R"({"model_type": "x\ny"})", R"({"model_type": "gpt2"})",
                    R"({"model_type": "gpt2", "n_layer": -1, "n_embd": 1, "n_head": 1,
                        "vocab_size": 1})",
                    R"({"model_type": "gpt2", "n_layer": 1, "n_embd": 10, "n_head": 3,
                        "vocab_size": 1})",
                    R"({"model_type": "gpt2", "n_layer": "12", "n_embd": 10, "n_head": 1,
                        "vocab_size": 1})",
                    R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8,
                        "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 8,
                        "attention_bias": true})",
                    R"({"model_type": "llama", "num_hidden_layers": 99999999, "hidden_size": 8,
                        "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 8})"));

}  // namespace
}  // namespace ebb::plan
