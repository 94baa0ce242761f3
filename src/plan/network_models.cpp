// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "base/text.h"
#include "plan/network.h"

namespace ebb::plan {
namespace {

using Kind = NetworkLayer::Kind;

NetworkLayer convolution(std::uint64_t outputs, std::uint64_t kernel, std::uint64_t padding = 0) {
  NetworkLayer layer;
  layer.kind = Kind::convolution;
  layer.outputs = outputs;
  layer.kernel = kernel;
  layer.padding = padding;
  return layer;
}

NetworkLayer bare_convolution(std::uint64_t outputs, std::uint64_t kernel, std::uint64_t stride) {
  NetworkLayer layer = convolution(outputs, kernel, kernel / 2);
  layer.stride = stride;
  layer.bias = false;
  return layer;
}

NetworkLayer pool() {
  NetworkLayer layer;
  layer.kind = Kind::max_pool;
  layer.kernel = 2;
  return layer;
}

NetworkLayer relu(bool in_place = false) {
  NetworkLayer layer;
  layer.in_place = in_place;
  return layer;
}

NetworkLayer norm() {
  NetworkLayer layer;
  layer.kind = Kind::group_norm;
  layer.groups = 8;
  return layer;
}

NetworkLayer linear(std::uint64_t outputs, bool bias = true) {
  NetworkLayer layer;
  layer.kind = Kind::linear;
  layer.outputs = outputs;
  layer.bias = bias;
  return layer;
}

NetworkLayer residual(std::uint64_t outputs, std::uint64_t stride, bool changes) {
  NetworkLayer layer;
  layer.kind = Kind::residual;
  layer.body = {bare_convolution(outputs, 3, stride), norm(), relu(true),
                bare_convolution(outputs, 3, 1), norm()};
  if (changes) layer.around = {bare_convolution(outputs, 1, stride), norm()};
  return layer;
}

std::vector<NetworkLayer> cnn_mnist(std::uint64_t classes) {
  return {convolution(10, 5), pool(), relu(),         convolution(20, 5), pool(), relu(),
          linear(50),         relu(), linear(classes)};
}

std::vector<NetworkLayer> cnn_fedavg(std::uint64_t classes) {
  return {convolution(32, 5, 2), relu(), pool(),         convolution(64, 5, 2), relu(), pool(),
          linear(512, false),    relu(), linear(classes)};
}

std::vector<NetworkLayer> light_cnn(std::uint64_t classes) {
  return {convolution(64, 5), relu(), pool(),         convolution(64, 5), relu(), pool(),
          linear(256),        relu(), linear(classes)};
}

NetworkLayer dropout(double rate) {
  NetworkLayer layer;
  layer.kind = Kind::dropout;
  layer.rate = rate;
  return layer;
}

/// Reddi et al. 2021, for EMNIST; pfl-research's benchmark has it for CIFAR-10.
std::vector<NetworkLayer> cnn_dropout(std::uint64_t classes) {
  return {convolution(32, 3), relu(), convolution(64, 3), relu(),         pool(), dropout(0.25),
          linear(128),        relu(), dropout(0.5),       linear(classes)};
}

std::vector<NetworkLayer> resnet18(std::uint64_t classes) {
  std::vector<NetworkLayer> layers = {bare_convolution(64, 3, 1), norm(), relu(true)};
  std::uint64_t inputs = 64;
  for (const std::uint64_t outputs : std::initializer_list<std::uint64_t>{64, 128, 256, 512}) {
    const std::uint64_t stride = outputs == inputs ? 1 : 2;
    layers.push_back(residual(outputs, stride, outputs != inputs));
    layers.push_back(residual(outputs, 1, false));
    inputs = outputs;
  }
  NetworkLayer average;
  average.kind = Kind::average_pool;
  layers.push_back(average);
  layers.push_back(linear(classes));
  return layers;
}

struct Named {
  std::string_view name;
  std::vector<NetworkLayer> (*layers)(std::uint64_t classes);
};

constexpr Named kNetworks[] = {{"CNN-MNIST", cnn_mnist},
                               {"CNN-MNIST (FedAvg)", cnn_fedavg},
                               {"LightCNN", light_cnn},
                               {"CNN-Dropout", cnn_dropout},
                               {"ResNet18", resnet18}};

/// Letters and digits alone, in lower case: `cnn-mnist-fedavg` is "CNN-MNIST (FedAvg)".
std::string bare(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

}  // namespace

std::vector<std::string_view> network_names() {
  std::vector<std::string_view> names;
  for (const Named& network : kNetworks)
    names.push_back(network.name);
  return names;
}

base::Result<Network> network_named(std::string_view name, const Picture& picture,
                                    std::uint64_t classes) {
  for (const Named& network : kNetworks) {
    if (bare(network.name) == bare(name))
      return Network{std::string(network.name), picture, classes, network.layers(classes)};
  }
  const std::string shown(name.substr(0, 60));
  const auto guess = base::nearest(name, network_names());
  if (guess)
    return base::error(base::Code::bad_input, "model '%s': did you mean '%s'?", shown.c_str(),
                       std::string(*guess).c_str());
  std::string known;
  for (const Named& network : kNetworks)
    known += std::string(network.name) + ", ";
  return base::error(base::Code::bad_input, "model '%s': expected %sor a JSON file", shown.c_str(),
                     known.c_str());
}

}  // namespace ebb::plan
