// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fl/data/data_reader.h"
#include "fl/data/data_set.h"
#include "fl/random.h"

namespace ebb::fl {
namespace {

constexpr std::size_t kBlobs = 4;
constexpr std::uint64_t kLargestSyntheticSide = 512;
constexpr std::uint32_t kMostClasses = 256;  // labels are bytes

// Streams of Purpose::synthetic_data, in the place of rounds.
constexpr std::uint32_t kPrototypes = 0;
constexpr std::uint32_t kTrain = 1;
constexpr std::uint32_t kTest = 2;

base::Status check_options(const SyntheticOptions& options) {
  const plan::Picture& picture = options.picture;
  const auto within = [](std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    return value >= least && value <= most;
  };
  if (!within(picture.channels, 1, 16) || !within(picture.height, 8, kLargestSyntheticSide) ||
      !within(picture.width, 8, kLargestSyntheticSide)) {
    return base::error(base::Code::bad_input,
                       "synthetic data: pictures of %llux%llux%llu, expected 1 to 16 channels and "
                       "sides from 8 to %llu",
                       static_cast<unsigned long long>(picture.channels),
                       static_cast<unsigned long long>(picture.height),
                       static_cast<unsigned long long>(picture.width),
                       static_cast<unsigned long long>(kLargestSyntheticSide));
  }
  if (!within(options.classes, 2, kMostClasses)) {
    return base::error(base::Code::bad_input, "synthetic data: %u classes, expected 2 to %u",
                       options.classes, kMostClasses);
  }
  if (options.train == 0 || options.test == 0) {
    return base::error(base::Code::bad_input,
                       "synthetic data: %u samples to train and %u to test, expected at least 1",
                       options.train, options.test);
  }
  return {};
}

/// What all pictures of a class have in common: in each channel a few round blobs, light or dark,
/// over a middle grey. Smooth, so that shifting it by a pixel changes little.
std::vector<float> prototype_of(const SyntheticOptions& options, std::uint32_t label) {
  const plan::Picture& picture = options.picture;
  Random random(options.seed, Purpose::synthetic_data, kPrototypes, label);
  std::vector<float> pixels(picture.channels * picture.height * picture.width, 127.5F);
  const auto side = static_cast<double>(std::min(picture.height, picture.width));
  for (std::uint64_t channel = 0; channel < picture.channels; ++channel) {
    const auto plane = std::span(pixels).subspan(channel * picture.height * picture.width,
                                                 picture.height * picture.width);
    for (std::size_t blob = 0; blob < kBlobs; ++blob) {
      const double y = random.uniform(0.2, 0.8) * static_cast<double>(picture.height);
      const double x = random.uniform(0.2, 0.8) * static_cast<double>(picture.width);
      const double radius = random.uniform(0.08, 0.2) * side;
      const double height = (blob % 2 == 0 ? 1 : -1) * random.uniform(70, 120);
      for (std::size_t at = 0; at < plane.size(); ++at) {
        const std::size_t row = at / picture.width;
        const std::size_t column = at % picture.width;
        const double dy = static_cast<double>(row) - y;
        const double dx = static_cast<double>(column) - x;
        plane[at] +=
            static_cast<float>(height * std::exp(-(dy * dy + dx * dx) / (2 * radius * radius)));
      }
    }
  }
  return pixels;
}

/// Even noise of deviation 25 out of one random byte: what matters is that a network cannot learn
/// it, and a quarter of the random words makes a set of usual size a matter of a second.
float noise_of(std::uint32_t byte) {
  constexpr float kReach = 43;
  return (static_cast<float>(byte) - 127.5F) * (kReach / 127.5F);
}

/// The prototype, shifted by up to a fourteenth of its side, lighter or darker, under noise.
void draw_sample(const plan::Picture& picture, std::span<const float> prototype, Random& random,
                 std::span<std::uint8_t> into) {
  const auto shift_of = [&](std::uint64_t side) {
    const auto reach = static_cast<std::int64_t>(side / 14);
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * reach + 1))) -
           reach;
  };
  const auto height = static_cast<std::int64_t>(picture.height);
  const auto width = static_cast<std::int64_t>(picture.width);
  const std::int64_t down = shift_of(picture.height);
  const std::int64_t right = shift_of(picture.width);
  const auto contrast = static_cast<float>(random.uniform(0.6, 1.1));
  std::size_t at = 0;
  std::uint32_t word = 0;
  for (std::uint64_t channel = 0; channel < picture.channels; ++channel) {
    const auto plane = prototype.subspan(channel * picture.height * picture.width);
    for (std::int64_t row = 0; row < height; ++row) {
      const std::int64_t from = std::clamp(row - down, std::int64_t{0}, height - 1) * width;
      for (std::int64_t column = 0; column < width; ++column, ++at) {
        const auto source =
            static_cast<std::size_t>(from + std::clamp(column - right, std::int64_t{0}, width - 1));
        word = at % 4 == 0 ? random.bits() : word >> 8;
        const float value = 127.5F + contrast * (plane[source] - 127.5F) + noise_of(word & 0xFF);
        into[at] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
      }
    }
  }
}

base::Status draw_split(const SyntheticOptions& options,
                        const std::vector<std::vector<float>>& prototypes, std::uint32_t stream,
                        std::uint32_t count, Split& split) {
  const std::size_t length = prototypes.front().size();
  const std::string name = "synthetic data";
  if (const auto room = reserve(split.pixels, std::uint64_t{count} * length, name); !room)
    return room;
  if (const auto room = reserve(split.labels, count, name); !room) return room;
  split.pixels.resize(count * length);
  split.labels.resize(count);
  for (std::uint32_t index = 0; index < count; ++index) {
    Random random(options.seed, Purpose::synthetic_data, stream, index);
    const std::uint32_t label = index % options.classes;
    split.labels[index] = static_cast<std::uint8_t>(label);
    draw_sample(options.picture, prototypes[label], random,
                std::span(split.pixels).subspan(index * length, length));
  }
  return {};
}

}  // namespace

base::Result<std::shared_ptr<const DataSet>> synthetic_data_set(const SyntheticOptions& options) {
  if (const auto right = check_options(options); !right) return right.error();
  const auto data = std::make_shared<DataSet>();
  data->name = "synthetic";
  data->picture = options.picture;
  data->classes = options.classes;
  data->normalisation.mean.assign(options.picture.channels, 0.5F);
  data->normalisation.deviation.assign(options.picture.channels, 0.2F);
  std::vector<std::vector<float>> prototypes;
  for (std::uint32_t label = 0; label < options.classes; ++label)
    prototypes.push_back(prototype_of(options, label));
  if (const auto drawn = draw_split(options, prototypes, kTrain, options.train, data->train);
      !drawn)
    return drawn.error();
  if (const auto drawn = draw_split(options, prototypes, kTest, options.test, data->test); !drawn)
    return drawn.error();
  return std::shared_ptr<const DataSet>(data);
}

}  // namespace ebb::fl
