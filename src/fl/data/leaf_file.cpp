// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <unordered_map>

#include "fl/data/data_reader.h"
#include "fl/data/json_reader.h"
#include "fl/data/leaf.h"

namespace ebb::fl {
namespace {

constexpr double kLargestValue = 1e6;
/// Offsets of samples are 32 bits wide throughout the simulator.
constexpr std::uint64_t kMostLeafSamples = UINT32_MAX;

/// Reads one file.
class LeafFile {
 public:
  LeafFile(pack::ByteSource& source, const std::string& name, LeafSamples& into)
      : json_(source, name), into_(into) {}

  base::Status read() {
    if (auto begins = json_.take('{', "'{', LEAF's object"); !begins) return begins;
    bool is_first = true;
    while (true) {
      const auto more = json_.has_next('}', is_first);
      if (!more) return more.error();
      if (!*more) break;
      const std::uint64_t at = json_.offset();
      const auto key = json_.key();
      if (!key) return key.error();
      if (auto read = member(*key, at); !read) return read;
    }
    if (auto end = json_.expect_end(); !end) return end;
    return check();
  }

 private:
  base::Status member(const std::string& key, std::uint64_t at) {
    const bool is_second = (key == "users" && users_) || (key == "num_samples" && counts_) ||
                           (key == "user_data" && has_data_);
    if (is_second) return json_.expected("each key once", at);
    if (key == "users") return read_users();
    if (key == "num_samples") return read_counts();
    if (key == "user_data") return read_data();
    return json_.skip();
  }

  base::Status read_users() {
    users_.emplace();
    return read_list("'[', the names of users", [this]() -> base::Status {
      auto name = json_.string("the name of a user");
      if (!name) return name.error();
      users_->push_back(std::move(*name));
      return {};
    });
  }

  base::Status read_counts() {
    counts_.emplace();
    return read_list("'[', numbers of samples", [this]() -> base::Status {
      const auto count = whole("a number of samples", kMostLeafSamples);
      if (!count) return count.error();
      counts_->push_back(*count);
      return {};
    });
  }

  base::Status read_data() {
    has_data_ = true;
    if (auto begins = json_.take('{', "'{', the data of users"); !begins) return begins;
    bool is_first = true;
    while (true) {
      const auto more = json_.has_next('}', is_first);
      if (!more) return more.error();
      if (!*more) return {};
      const std::uint64_t at = json_.offset();
      auto name = json_.key();
      if (!name) return name.error();
      if (!into_.names.insert(*name).second) return json_.expected("each user once", at);
      const auto samples = read_user();
      if (!samples) return samples.error();
      into_.users.push_back(*samples);
      samples_of_.emplace(std::move(*name), *samples);
    }
  }

  /// Of the user whose name was just taken.
  base::Result<std::uint32_t> read_user() {
    const std::uint64_t at = json_.offset();
    const std::size_t before = into_.labels.size();
    std::optional<std::uint64_t> pictures;
    bool has_labels = false;
    if (auto begins = json_.take('{', "'{', the data of a user"); !begins) return begins.error();
    bool is_first = true;
    while (true) {
      const auto more = json_.has_next('}', is_first);
      if (!more) return more.error();
      if (!*more) break;
      const std::uint64_t key_at = json_.offset();
      const auto key = json_.key();
      if (!key) return key.error();
      if ((*key == "x" && pictures) || (*key == "y" && has_labels))
        return json_.expected("each key once", key_at);
      base::Status read;
      if (*key == "x") {
        pictures = 0;
        read = read_list("'[', samples", [&] {
          ++*pictures;
          return read_sample();
        });
      } else if (*key == "y") {
        has_labels = true;
        read = read_list("'[', labels", [this] { return read_label(); });
      } else {
        read = json_.skip();
      }
      if (!read) return read.error();
    }
    const std::uint64_t labels = into_.labels.size() - before;
    if (!pictures || !has_labels || *pictures != labels)
      return json_.expected("a user with x and y, as many samples as labels", at);
    if (into_.labels.size() > kMostLeafSamples)
      return json_.expected("at most 4294967295 samples", at);
    return static_cast<std::uint32_t>(labels);
  }

  base::Status read_sample() {
    const std::uint64_t at = json_.offset();
    sample_.clear();
    auto read = read_list("'[', the numbers of a sample", [this]() -> base::Status {
      if (sample_.size() == kMostLeafValues)
        return json_.expected("a sample of at most 4096 numbers");
      const auto value = json_.number("a number");
      if (!value) return value.error();
      sample_.push_back(*value);
      return {};
    });
    if (!read) return read;
    if (sample_.empty()) return json_.expected("a sample with at least one number", at);
    if (into_.length == 0) into_.length = sample_.size();
    if (sample_.size() != into_.length)
      return base::error(base::Code::bad_input,
                         "%s: byte %llu: a sample of %zu numbers, expected %zu as in the first",
                         json_.name().c_str(), static_cast<unsigned long long>(at), sample_.size(),
                         into_.length);
    return into_.length == kLeafPicture ? add_picture(at) : add_vector(at);
  }

  base::Status add_picture(std::uint64_t at) {
    if (auto room = make_room(into_.pixels, sample_.size(), json_.name()); !room) return room;
    for (const double value : sample_) {
      if (!(value >= 0 && value <= 1))
        return json_.expected("a picture of 28x28, of numbers from 0 to 1", at);
      into_.pixels.push_back(static_cast<std::uint8_t>(std::lround(value * 255)));
    }
    return {};
  }

  base::Status add_vector(std::uint64_t at) {
    for (const double value : sample_) {
      if (!(std::fabs(value) <= kLargestValue))
        return json_.expected("a vector of numbers from -1e6 to 1e6", at);
      into_.values.push_back(static_cast<float>(value));
    }
    return {};
  }

  base::Status read_label() {
    const auto label = whole("a label from 0 to 255", 255);
    if (!label) return label.error();
    into_.labels.push_back(static_cast<std::uint8_t>(*label));
    return {};
  }

  base::Result<std::uint64_t> whole(const char* what, std::uint64_t most) {
    const std::uint64_t at = json_.offset();
    const auto number = json_.number(what);
    if (!number) return number.error();
    if (!(*number >= 0 && *number <= static_cast<double>(most)) || *number != std::floor(*number))
      return json_.expected(what, at);
    return static_cast<std::uint64_t>(*number);
  }

  template <class Item>
  base::Status read_list(const char* what, Item item) {
    if (auto begins = json_.take('[', what); !begins) return begins;
    bool is_first = true;
    while (true) {
      const auto more = json_.has_next(']', is_first);
      if (!more) return more.error();
      if (!*more) return {};
      if (auto read = item(); !read) return read;
    }
  }

  /// Whether what the file says of its users is so.
  base::Status check() const {
    const auto wrong = [&](const char* what) {
      return base::error(base::Code::bad_input, "%s: expected %s", json_.name().c_str(), what);
    };
    if (!has_data_) return wrong("user_data");
    if (users_ && users_->size() != samples_of_.size())
      return wrong("as many users as there are in user_data");
    if (counts_ && (!users_ || counts_->size() != users_->size()))
      return wrong("a number in num_samples for each of the users");
    for (std::size_t i = 0; users_ && i < users_->size(); ++i) {
      const auto found = samples_of_.find((*users_)[i]);
      if (found == samples_of_.end() || (counts_ && (*counts_)[i] != found->second))
        return base::error(base::Code::bad_input,
                           "%s: users[%zu]: expected as many samples in user_data as num_samples "
                           "says",
                           json_.name().c_str(), i);
    }
    return {};
  }

  JsonReader json_;
  LeafSamples& into_;
  std::vector<double> sample_;
  std::optional<std::vector<std::string>> users_;
  std::optional<std::vector<std::uint64_t>> counts_;
  bool has_data_ = false;
  std::unordered_map<std::string, std::uint32_t> samples_of_;
};

}  // namespace

base::Status read_leaf(pack::ByteSource& source, const std::string& name, LeafSamples& into) {
  return LeafFile(source, name, into).read();
}

}  // namespace ebb::fl
