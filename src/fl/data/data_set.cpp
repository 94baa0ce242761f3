// SPDX-License-Identifier: Apache-2.0
#include "fl/data/data_set.h"

#include <algorithm>
#include <array>

#include "fl/data/cifar.h"
#include "fl/data/idx.h"
#include "fl/data/leaf.h"
#include "fl/names.h"

namespace ebb::fl {
namespace {

constexpr std::string_view kIdxFiles =
    "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, "
    "t10k-labels-idx1-ubyte; plain or .gz";
constexpr std::string_view kEmnist = "emnist";

/// Where Debian's package dataset-fashion-mnist puts it.
constexpr const char* kDebianFolder = "/usr/share/datasets/fashion-mnist";

constexpr std::array<DataSetKind, 7> kKinds = {{
    {"fashion-mnist", kIdxFiles, "70,000 grey pictures of clothes, 28x28, 10 classes"},
    {"mnist", kIdxFiles, "70,000 grey pictures of digits, 28x28, 10 classes"},
    {"emnist",
     "emnist-digits-train-images-idx3-ubyte, …-train-labels-idx1-ubyte, …-test-…; plain or .gz",
     "280,000 grey pictures of digits, 28x28; emnist-letters, emnist-balanced, … likewise"},
    {"cifar-10", "data_batch_1.bin to data_batch_5.bin, test_batch.bin",
     "60,000 colour pictures, 32x32, 10 classes"},
    {"cifar-100", "train.bin, test.bin", "60,000 colour pictures, 32x32, 100 classes"},
    {kLeafName, "train/*.json, test/*.json; plain or .gz",
     "LEAF's JSON: pictures of 28x28 (FEMNIST) or vectors; its users are the clients"},
    {"synthetic", "none", "pictures drawn from the seed, of any size and number of classes",
     DataSource::seed},
}};

bool is_emnist(std::string_view name) {
  return name == kEmnist ||
         (name.starts_with("emnist-") && name.size() > 7 &&
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == name.npos);
}

/// `name` as data_set_kinds() has it, or nothing.
const DataSetKind* kind_of(std::string_view name) {
  const std::string_view key = is_emnist(name) ? kEmnist : name;
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const DataSetKind& kind) { return kind.name == key; });
  return found == kKinds.end() ? nullptr : &*found;
}

// Means and deviations of the training pictures, as everybody uses them.
const Normalisation kMnist = {{0.1307F}, {0.3081F}};
const Normalisation kFashionMnist = {{0.2860F}, {0.3530F}};
const Normalisation kCifar10 = {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};
const Normalisation kCifar100 = {{0.5071F, 0.4867F, 0.4408F}, {0.2675F, 0.2565F, 0.2761F}};

base::Status load(std::string_view name, const std::string& folder, DataSet& data) {
  if (name == "cifar-10" || name == "cifar-100") {
    data.augments = true;
    data.normalisation = name == "cifar-10" ? kCifar10 : kCifar100;
    return load_cifar(folder, name == "cifar-10" ? cifar_10() : cifar_100(), data);
  }
  if (name == kLeafName) return load_leaf(folder, data);
  data.normalisation = name == "fashion-mnist" ? kFashionMnist : kMnist;
  if (!is_emnist(name)) return load_idx(folder, "", "t10k", 10, data);
  // Its files have rows and columns exchanged. So they stay: to a network it is all the same.
  const std::string stem = name == kEmnist ? "emnist-digits" : std::string(name);
  return load_idx(folder, stem + "-", "test", 0, data);
}

base::Error with_remedy(base::Error error, const DataSetKind& kind, bool from_debian) {
  if (error.code == base::Code::not_found) {
    error.message += from_debian ? "; install Debian's package dataset-fashion-mnist, or say where "
                                   "its files are"
                                 : "; expected " + std::string(kind.files);
  }
  return error;
}

}  // namespace

std::vector<DataSetKind> data_set_kinds() {
  return {kKinds.begin(), kKinds.end()};
}

DataSource data_source(std::string_view name) {
  const DataSetKind* kind = kind_of(name);
  return kind == nullptr ? DataSource::files : kind->source;
}

base::Status check_data_set_name(std::string_view name) {
  if (kind_of(name) != nullptr) return {};
  std::vector<std::string_view> known;
  for (const DataSetKind& kind : kKinds)
    known.push_back(kind.name);
  return unknown_name("data set", name, known);
}

base::Result<std::shared_ptr<const DataSet>> load_data_set(std::string_view name,
                                                           const std::string& folder) {
  if (const auto known = check_data_set_name(name); !known) return known.error();
  const DataSetKind& kind = *kind_of(name);
  if (kind.source == DataSource::seed) return synthetic_data_set({});
  const bool from_debian = folder.empty() && kind.name == "fashion-mnist";
  if (folder.empty() && !from_debian) {
    return base::error(base::Code::bad_input,
                       "data set '%s': expected the folder of its files (%s)",
                       std::string(name).c_str(), std::string(kind.files).c_str());
  }
  const auto data = std::make_shared<DataSet>();
  data->name = name;
  if (const auto loaded = load(name, from_debian ? kDebianFolder : folder, *data); !loaded)
    return with_remedy(loaded.error(), kind, from_debian);
  return std::shared_ptr<const DataSet>(data);
}

}  // namespace ebb::fl
