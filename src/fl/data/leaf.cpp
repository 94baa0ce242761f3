// SPDX-License-Identifier: Apache-2.0
#include "fl/data/leaf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "base/folder.h"

namespace ebb::fl {
namespace {

base::Result<std::vector<std::string>> leaf_files(const std::string& folder) {
  const auto entries = base::read_folder(folder);
  std::vector<std::string> paths;
  for (const base::FolderEntry& entry : entries.value_or(base::FolderEntries{})) {
    if (entry.name.ends_with(".json") || entry.name.ends_with(".json.gz"))
      paths.push_back(folder + "/" + entry.name);
  }
  if (paths.empty())
    return base::error(base::Code::not_found, "%s: %s", folder.c_str(),
                       entries ? "no files of LEAF" : "cannot be read");
  std::sort(paths.begin(), paths.end());
  return paths;
}

base::Status read_split(const std::string& folder, LeafSamples& into) {
  const auto paths = leaf_files(folder);
  if (!paths) return paths.error();
  for (const std::string& path : *paths) {
    auto source = pack::open_source(path);
    if (!source) return source.error();
    if (auto read = read_leaf(**source, path, into); !read) return read;
  }
  if (into.labels.empty())
    return base::error(base::Code::bad_input, "%s: no samples, expected some", folder.c_str());
  // They are not needed any more, and may be many.
  into.names = {};
  return {};
}

/// Mean and deviation of all pixels, as everybody normalises pictures.
Normalisation of_pictures(const std::vector<std::uint8_t>& pixels) {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (const std::uint64_t pixel : pixels) {
    sum += pixel;
    squares += pixel * pixel;
  }
  const auto count = static_cast<double>(pixels.size());
  const double mean = static_cast<double>(sum) / count;
  const double deviation =
      std::sqrt(std::max(static_cast<double>(squares) / count - mean * mean, 0.0));
  return {{static_cast<float>(mean / 255)},
          {deviation > 0 ? static_cast<float>(deviation / 255) : 1.0F}};
}

/// The least and the largest value of each place of a vector.
struct Ranges {
  explicit Ranges(std::size_t length)
      : least(length, std::numeric_limits<float>::max()),
        largest(length, std::numeric_limits<float>::lowest()) {}

  void add(const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t place = i % least.size();
      least[place] = std::min(least[place], values[i]);
      largest[place] = std::max(largest[place], values[i]);
    }
  }

  std::vector<std::uint8_t> bytes_of(const std::vector<float>& values) const {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t place = i % least.size();
      const float range = largest[place] - least[place];
      const float share = range > 0 ? (values[i] - least[place]) / range : 0.0F;
      bytes.push_back(static_cast<std::uint8_t>(std::lround(share * 255)));
    }
    return bytes;
  }

  /// What makes the values of their bytes again.
  Normalisation normalisation() const {
    Normalisation made;
    for (std::size_t place = 0; place < least.size(); ++place) {
      const float range = largest[place] - least[place];
      made.mean.push_back(range > 0 ? -least[place] / range : -least[place]);
      made.deviation.push_back(range > 0 ? 1 / range : 1.0F);
    }
    return made;
  }

  std::vector<float> least;
  std::vector<float> largest;
};

void set_pixels(LeafSamples& train, LeafSamples& test, DataSet& data) {
  if (train.length == kLeafPicture) {
    data.picture = {1, 28, 28};
    data.normalisation = of_pictures(train.pixels);
    data.train.pixels = std::move(train.pixels);
    data.test.pixels = std::move(test.pixels);
    return;
  }
  Ranges ranges(train.length);
  ranges.add(train.values);
  ranges.add(test.values);
  data.picture = {train.length, 1, 1};
  data.normalisation = ranges.normalisation();
  data.train.pixels = ranges.bytes_of(train.values);
  data.test.pixels = ranges.bytes_of(test.values);
}

base::Status load_both(const std::string& folder, DataSet& data) {
  LeafSamples train;
  if (auto read = read_split(folder + "/train", train); !read) return read;
  const auto idle = std::find(train.users.begin(), train.users.end(), 0U);
  if (idle != train.users.end())
    return base::error(base::Code::bad_input,
                       "%s/train: user %td has no samples, expected some of each", folder.c_str(),
                       idle - train.users.begin());
  LeafSamples test;
  test.length = train.length;
  if (auto read = read_split(folder + "/test", test); !read) return read;
  data.classes = 0;
  for (const LeafSamples* samples : {&train, &test}) {
    const auto& labels = samples->labels;
    data.classes = std::max(data.classes, *std::max_element(labels.begin(), labels.end()) + 1U);
  }
  set_pixels(train, test, data);
  data.train.labels = std::move(train.labels);
  data.test.labels = std::move(test.labels);
  data.users = std::move(train.users);
  return {};
}

}  // namespace

base::Status load_leaf(const std::string& folder, DataSet& data) {
  try {
    return load_both(folder, data);
  } catch (const std::bad_alloc&) {
    return base::error(base::Code::out_of_memory, "%s: no memory for its samples", folder.c_str());
  }
}

}  // namespace ebb::fl
