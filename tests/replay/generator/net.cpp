// SPDX-License-Identifier: Apache-2.0
#include "replay/generator/net.h"

#include <algorithm>

namespace ebb::replay::generator {
namespace {

/// Adds a parameter and returns its index.
int parameter(Net& net, std::uint64_t bytes) {
  net.weights.push_back(bytes);
  return static_cast<int>(net.weights.size()) - 1;
}

/// The indices of a layer's parameters.
struct TransformerLayer {
  int norm1, joined, projection, norm2, up, down;
};

struct ConvolutionBlock {
  std::uint64_t channels;
  std::uint64_t shrink;  ///< of the side, from the input on
  std::uint64_t filter;  ///< bytes of its weights
  int weight, norm;
};

}  // namespace

Net transformer(Draws& draws, std::uint64_t layers, std::uint64_t width, std::uint64_t vocabulary,
                bool written_out) {
  const std::uint64_t element = draws.pick<std::uint64_t>({2, 4});
  const std::uint64_t heads = width / 64;
  const bool dropout = draws.one_in(2);
  const bool exact_loss = draws.one_in(2);  // logits once more, in full precision
  Net net;
  const int embedding = parameter(net, vocabulary * width * element);
  std::vector<TransformerLayer> parts;
  for (std::uint64_t i = 0; i < layers; ++i) {
    const std::uint64_t square = width * width * element;
    TransformerLayer layer{};
    layer.norm1 = parameter(net, width * element);
    layer.joined = parameter(net, 3 * square);
    layer.projection = parameter(net, square);
    layer.norm2 = parameter(net, width * element);
    layer.up = parameter(net, 4 * square);
    layer.down = parameter(net, 4 * square);
    parts.push_back(layer);
  }
  const int head = draws.one_in(2) ? embedding : parameter(net, vocabulary * width * element);
  net.input = [](std::uint64_t batch, std::uint64_t length) { return batch * length * 8; };
  net.kernels = [=](std::uint64_t batch, std::uint64_t length) {
    const std::uint64_t tokens = batch * length;
    const std::uint64_t hidden = tokens * width * element;
    const std::uint64_t scores = batch * heads * length * length * element;
    std::vector<Kernel> all;
    all.push_back({.output = hidden, .weight = embedding});
    for (const TransformerLayer& layer : parts) {
      all.push_back(
          {.output = hidden, .beside = tokens * 8, .weight = layer.norm1, .begins_layer = true});
      all.push_back({.output = 3 * hidden, .weight = layer.joined});
      if (written_out) {
        all.push_back({.output = scores, .saved = false});
        all.push_back({.output = scores, .beside = dropout ? scores / element : 0});
        all.push_back({.output = hidden, .workspace = hidden});
      } else {
        all.push_back({.output = hidden, .beside = batch * heads * length * 4});
      }
      all.push_back({.output = hidden, .weight = layer.projection, .saved = false});
      all.push_back({.output = hidden, .beside = dropout ? tokens * width : 0});
      all.push_back({.output = hidden, .beside = tokens * 8, .weight = layer.norm2});
      all.push_back({.output = 4 * hidden, .weight = layer.up});
      all.push_back({.output = 4 * hidden});
      all.push_back({.output = hidden, .weight = layer.down, .saved = false});
      all.push_back({.output = hidden});
    }
    all.push_back({.output = tokens * vocabulary * element, .weight = head, .begins_layer = true});
    if (exact_loss) all.push_back({.output = tokens * vocabulary * 4, .saved = false});
    all.push_back({.output = tokens * vocabulary * 4});
    all.push_back({.output = 4});
    return all;
  };
  return net;
}

Net convolutions(Draws& draws, std::uint64_t blocks, std::uint64_t channels) {
  const std::uint64_t element = draws.pick<std::uint64_t>({2, 4});
  const std::uint64_t appetite = draws.below(4);  // for workspace, as the library chose algorithms
  Net net;
  std::vector<ConvolutionBlock> parts;
  std::uint64_t from = 3;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t stage = i * 4 / blocks;
    ConvolutionBlock block{};
    block.channels = channels << stage;
    block.shrink = 2ULL << stage;
    block.filter = from * block.channels * 9 * 4;
    block.weight = parameter(net, block.filter);
    block.norm = parameter(net, block.channels * 4);
    from = block.channels;
    parts.push_back(block);
  }
  const int head = parameter(net, from * 1000 * 4);
  net.input = [](std::uint64_t batch, std::uint64_t side) { return batch * 3 * side * side * 4; };
  net.kernels = [=](std::uint64_t batch, std::uint64_t side) {
    std::vector<Kernel> all;
    for (const ConvolutionBlock& block : parts) {
      const std::uint64_t edge = std::max<std::uint64_t>(1, side / block.shrink);
      const std::uint64_t image = batch * block.channels * edge * edge * element;
      const std::uint64_t workspace = appetite == 0 ? 0 : block.filter / 2 + image * appetite / 8;
      all.push_back(
          {.output = image, .workspace = workspace, .weight = block.weight, .begins_layer = true});
      all.push_back({.output = image, .beside = block.channels * 8, .weight = block.norm});
      if (block.shrink > 4) all.push_back({.output = image});
    }
    all.push_back({.output = batch * parts.back().channels * element, .begins_layer = true});
    all.push_back({.output = batch * 1000 * element, .weight = head});
    all.push_back({.output = batch * 1000 * 4});
    all.push_back({.output = 4});
    return all;
  };
  return net;
}

Net perceptron(std::vector<std::uint64_t> widths) {
  Net net;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    parameter(net, widths[i - 1] * widths[i] * 4);
    parameter(net, widths[i] * 4);
  }
  net.input = [first = widths.front()](std::uint64_t batch, std::uint64_t) {
    return batch * first * 4;
  };
  net.kernels = [widths](std::uint64_t batch, std::uint64_t) {
    std::vector<Kernel> all;
    for (std::size_t i = 1; i < widths.size(); ++i) {
      const std::uint64_t output = batch * widths[i] * 4;
      const int weight = 2 * static_cast<int>(i - 1);
      all.push_back({.output = output, .weight = weight, .begins_layer = true});
      all.push_back({.output = output, .weight = weight + 1});
    }
    all.push_back({.output = 4});
    return all;
  };
  return net;
}

Net graph_network(std::uint64_t layers, std::uint64_t width) {
  Net net;
  for (std::uint64_t i = 0; i < layers; ++i) {
    parameter(net, width * width * 4);
  }
  net.input = [width](std::uint64_t nodes, std::uint64_t) { return nodes * width * 4; };
  net.kernels = [=](std::uint64_t nodes, std::uint64_t edges) {
    std::vector<Kernel> all;
    for (std::uint64_t i = 0; i < layers; ++i) {
      all.push_back({.output = edges * width * 4, .beside = edges * 8, .begins_layer = true});
      all.push_back({.output = nodes * width * 4, .workspace = nodes * 8});
      all.push_back({.output = nodes * width * 4, .weight = static_cast<int>(i)});
      all.push_back({.output = nodes * width * 4});
    }
    all.push_back({.output = nodes * 40 * 4, .begins_layer = true});
    all.push_back({.output = 4});
    return all;
  };
  return net;
}

}  // namespace ebb::replay::generator
