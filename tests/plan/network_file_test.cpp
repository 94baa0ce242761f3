// SPDX-License-Identifier: Apache-2.0
#include "plan/network_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "plan/plan.h"
#include "support/temporary_directory.h"

namespace ebb::plan {
namespace {

constexpr Picture kColours{3, 32, 32};

/// What is wrong with a network of these layers.
std::string refusal(const std::string& layers, const std::optional<Picture>& picture = kColours) {
  const auto network = network_from("{\"layers\": [" + layers + "]}", "my.json", picture, 10);
  if (network) return "none";
  EXPECT_EQ(network.error().code, base::Code::bad_input);
  EXPECT_EQ(network.error().message.substr(0, 9), "my.json: ");
  return network.error().message.substr(9);
}

const std::string kLinear = R"({"type": "linear", "out_features": "classes"})";

TEST(NetworkFiles, SayWhatANamedNetworkIs) {
  const auto read = network_from(R"({"name": "pfl's", "layers": [
      {"type": "conv2d", "out_channels": 32, "kernel_size": 3}, {"type": "relu"},
      {"type": "conv2d", "out_channels": 64, "kernel_size": 3}, {"type": "relu"},
      {"type": "max_pool2d", "kernel_size": 2}, {"type": "dropout", "p": 0.25},
      {"type": "linear", "out_features": 128}, {"type": "relu"}, {"type": "dropout", "p": 0.5},
      {"type": "linear", "out_features": "classes"}]})",
                                 "my.json", kColours, 10);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "pfl's");
  const auto planned = [](const Network& network) {
    NetworkRequest request;
    request.network = network;
    request.network.name = "one";
    request.batch = 20;
    const auto plan = ebb::plan::plan(request);
    EXPECT_TRUE(plan);
    return plan ? to_json(*plan).text() : "";
  };
  EXPECT_EQ(planned(*read), planned(*network_named("CNN-Dropout", kColours, 10)));
}

TEST(NetworkFiles, OfResidualLayersAreThoseOfResNet) {
  std::string block = R"({"type": "residual", "body": [
    {"type": "conv2d", "out_channels": OUT, "kernel_size": 3, "stride": STRIDE, "padding": 1,
     "bias": false}, {"type": "group_norm", "num_groups": 8}, {"type": "relu"},
    {"type": "conv2d", "out_channels": OUT, "kernel_size": 3, "padding": 1, "bias": false},
    {"type": "group_norm", "num_groups": 8}]AROUND})";
  const auto with = [&](const std::string& outputs, bool changes) {
    std::string text = block;
    const auto put = [&](const std::string& word, const std::string& value) {
      for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word))
        text.replace(at, word.size(), value);
    };
    put("AROUND", changes ? R"(, "shortcut": [{"type": "conv2d", "out_channels": OUT,
        "kernel_size": 1, "stride": 2, "bias": false}, {"type": "group_norm", "num_groups": 8}])"
                          : "");
    put("OUT", outputs);
    put("STRIDE", changes ? "2" : "1");
    return text + ",";
  };
  std::string layers = R"({"type": "conv2d", "out_channels": 64, "kernel_size": 3, "padding": 1,
      "bias": false}, {"type": "group_norm", "num_groups": 8}, {"type": "relu"},)";
  for (const char* outputs : {"64", "128", "256", "512"})
    layers += with(outputs, std::string(outputs) != "64") + with(outputs, false);
  layers += R"({"type": "global_avg_pool"},)" + kLinear;
  const auto network = network_from("{\"layers\": [" + layers + "]}", "my.json", kColours, 10);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->name, "my");
  EXPECT_EQ(*network->parameters(), 11'173'962U);
}

TEST(NetworkFiles, ThatAreWrongSayWhereAndWhatWasExpected) {
  EXPECT_EQ(refusal(kLinear), "none");
  EXPECT_EQ(
      refusal(R"({"kernel_size": 3})"),
      "layers[0]: type is missing, expected one of conv2d, max_pool2d, global_avg_pool, relu, "
      "group_norm, dropout, linear, residual");
  EXPECT_EQ(refusal(R"({"type": "conv2"})"), R"(layers[0].type: "conv2", did you mean "conv2d"?)");
  EXPECT_EQ(refusal("7"), R"(layers[0]: expected an object such as {"type": "relu"})");
  EXPECT_EQ(refusal(R"({"type": "conv2d", "kernel_size": 3})"),
            "layers[0].out_channels is missing");
  EXPECT_EQ(refusal(R"({"type": "relu"}, {"type": "conv2d", "out_channels": 8, "kernel_size": 0})"),
            "layers[1].kernel_size: 0, expected 1 to 31");
  EXPECT_EQ(refusal(R"({"type": "conv2d", "out_channels": 8, "kernel_size": 3, "padding": 3})"),
            "layers[0].padding: 3, expected 0 to 2");
  EXPECT_EQ(refusal(R"({"type": "conv2d", "out_channels": -8, "kernel_size": 3})"),
            "layers[0].out_channels: -8, expected 1 to 65536");
  EXPECT_EQ(refusal(R"({"type": "conv2d", "out_channels": 8, "kernel_size": 3, "bias": 1})"),
            "layers[0].bias: 1, expected true or false");
  EXPECT_EQ(
      refusal(R"({"type": "conv2d", "out_channels": 8, "kernel_size": 3, "padings": 1})"),
      R"(layers[0]: "padings", expected type, out_channels, kernel_size, stride, padding, bias alone)");
  EXPECT_EQ(refusal(R"({"type": "dropout", "p": 1})"),
            "layers[0].p: 1, expected 0 or more and below 1");
  EXPECT_EQ(refusal(R"({"type": "relu"})"),
            "layers: none is linear, expected one that gives the classes");
  EXPECT_EQ(refusal(""), "layers: expected a list of layers");
  EXPECT_EQ(refusal(kLinear + R"(, {"type": "max_pool2d", "kernel_size": 2})"),
            "layers[1]: comes after a linear layer, expected linear, relu or dropout");
  EXPECT_EQ(refusal(R"({"type": "residual", "body": [{"type": "relu"}, )" + kLinear + "]}"),
            "layers[0].body[1]: linear, expected none within a residual layer");
  EXPECT_EQ(refusal(R"({"type": "residual"})"), "layers[0].body is missing");
}

TEST(NetworkFiles, WhoseLayersDoNotFitSayWhere) {
  const std::string pool = R"({"type": "max_pool2d", "kernel_size": 8})";
  EXPECT_EQ(refusal(pool + "," + pool + "," + kLinear),
            "layers[1]: a kernel of 8, expected one that fits into 4 x 4");
  EXPECT_EQ(refusal(pool + "," + pool + "," + kLinear, std::nullopt), "none");
  EXPECT_EQ(refusal(pool + R"(, {"type": "conv2d", "out_channels": 8, "kernel_size": 5})"),
            "layers[1]: a kernel of 5, expected one that fits into 4");
  EXPECT_EQ(refusal(R"({"type": "group_norm", "num_groups": 2})"),
            "layers[0].num_groups: 2, expected a divisor of 3 channels");
  EXPECT_EQ(refusal(R"({"type": "linear", "out_features": 11})"),
            "layers: the last one gives 11 values, expected 10 classes");
  EXPECT_EQ(refusal(R"({"type": "residual", "body": [
                {"type": "conv2d", "out_channels": 8, "kernel_size": 3}]})"),
            "layers[0]: its body gives 8 x 30 x 30, its shortcut 3 x 32 x 32, expected the same "
            "size");
  EXPECT_EQ(
      refusal(R"({"type": "conv2d", "out_channels": 65536, "kernel_size": 31, "padding": 30})"),
      "layers[0]: gives 251920384 values, expected at most 2^26");
}

TEST(NetworkFiles, HaveAnExample) {
  const auto network =
      network_of(EBB_TEST_DATA "/../../examples/models/small-resnet.json", kColours, 10);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->name, "small ResNet");
  EXPECT_EQ(*network->parameters(), 142'170U);
}

TEST(NetworkFiles, AreReadFromWhereTheyAre) {
  const support::TemporaryDirectory directory;
  const std::string path = directory / "small.json";
  EXPECT_EQ(network_of(path, kColours, 10).error().message,
            path + ": no such file, expected a JSON description of a model");
  ASSERT_TRUE(base::write_file_atomically(path, "{\"layers\": [" + kLinear + "]}"));
  const auto network = network_of(path, kColours, 10);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->name, "small");
  EXPECT_EQ(*network->parameters(), 30730U);
  EXPECT_EQ(network_of("ResNet18", kColours, 10)->name, "ResNet18");
  ASSERT_TRUE(base::write_file_atomically(path, "{\"layers\": [}"));
  EXPECT_EQ(network_of(path, kColours, 10).error().message.substr(0, path.size() + 2), path + ": ");
  EXPECT_NE(network_of(directory.path(), kColours, 10).error().message.find("no such file"),
            std::string::npos);
}

}  // namespace
}  // namespace ebb::plan
