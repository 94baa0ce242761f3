// SPDX-License-Identifier: Apache-2.0
#include "fl/data/leaf.h"

#include "fl/config.h"
#include "fl/data/partition.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

const std::string kTwoUsers =
    R"({"users": ["a", "b"], "num_samples": [2, 1], "user_data": {
        "b": {"y": [0], "x": [[4, -1]]},
        "a": {"x": [[0.5, 1], [-2, 3e-1]], "y": [3, 1.0]}}})";

base::Status read_text(std::string_view text, LeafSamples& into) {
  pack::TextSource source(text);
  return read_leaf(source, "file", into);
}

std::string leaf_error_of(std::string_view text) {
  LeafSamples samples;
  const auto done = read_text(text, samples);
  if (done) return "none";
  EXPECT_EQ(done.error().code, base::Code::bad_input);
  EXPECT_EQ(done.error().message.find('\n'), std::string::npos);
  return done.error().message;
}

/// One sample of FEMNIST, all of whose values are `value`.
std::string picture(const std::string& value) {
  std::string text = "[";
  for (std::size_t i = 0; i < kLeafPicture; ++i)
    text += (i == 0 ? "" : ", ") + value;
  return text + "]";
}

std::string with_user(const std::string& data) {
  return R"({"user_data": {"u": )" + data + "}}";
}

TEST(Leaf, IsReadUserByUser) {
  LeafSamples samples;
  const auto done = read_text(kTwoUsers, samples);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(samples.length, 2U);
  EXPECT_EQ(samples.users, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(samples.labels, (std::vector<std::uint8_t>{0, 3, 1}));
  EXPECT_EQ(samples.values, (std::vector<float>{4, -1, 0.5F, 1, -2, 0.3F}));
  EXPECT_TRUE(samples.pixels.empty());
}

TEST(Leaf, PicturesBecomeTheBytesThatTheyWere) {
  LeafSamples samples;
  // What 100 / 255 is in Python, cut off.
  const auto done = read_text(
      with_user(R"({"x": [)" + picture("0.392157") + ", " + picture("1") + R"(], "y": [61, 0]})"),
      samples);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(samples.pixels.size(), 2 * kLeafPicture);
  EXPECT_EQ(samples.pixels.front(), 100);
  EXPECT_EQ(samples.pixels.back(), 255);
  EXPECT_TRUE(samples.values.empty());
}

TEST(Leaf, WhatElseIsInAFileIsSkipped) {
  EXPECT_EQ(leaf_error_of(R"({"hierarchies": [null, {"k": [true, "\u00e9", []], "l": {}}],
                         "user_data": {"a": {"more": -1.5e3, "x": [[1]], "y": [0]}}})"),
            "none");
  EXPECT_EQ(leaf_error_of(R"({"deep": )" + std::string(65, '[')),
            "file: byte 73: expected a value that is at most 64 deep");
}

TEST(Leaf, WhatIsNoJsonIsRefusedWithThePlace) {
  EXPECT_EQ(leaf_error_of(""), "file: byte 0: expected '{', LEAF's object");
  EXPECT_EQ(leaf_error_of("[1]"), "file: byte 0: expected '{', LEAF's object");
  EXPECT_EQ(leaf_error_of("{}"), "file: expected user_data");
  EXPECT_EQ(leaf_error_of("{} x"), "file: byte 3: expected the end of the file");
  EXPECT_EQ(leaf_error_of(R"({"a" 1})"), "file: byte 5: expected ':'");
  EXPECT_EQ(leaf_error_of(R"({"a": 1 "b": 2})"), "file: byte 8: expected ',' or '}'");
  EXPECT_EQ(leaf_error_of(R"({"a": 1-2})"), "file: byte 6: expected a value");
  EXPECT_EQ(leaf_error_of(R"({"a": nul})"), "file: byte 9: expected a value");
  EXPECT_EQ(leaf_error_of(R"({"a)"), "file: byte 3: expected the end of a string");
  EXPECT_EQ(leaf_error_of(R"({"\x)"), "file: byte 4: expected an escape of JSON");
  EXPECT_EQ(leaf_error_of(R"({")" + std::string(5000, 'k')),
            "file: byte 2: expected a string of at most 4096 bytes");
  for (std::size_t length = 0; length < kTwoUsers.size(); ++length)
    EXPECT_NE(leaf_error_of(std::string_view(kTwoUsers).substr(0, length)), "none") << length;
}

TEST(Leaf, NumbersThatDoNotBelongTogetherAreRefused) {
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = kTwoUsers;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(leaf_error_of(replaced("[2, 1]", "[2, 2]")),
            "file: users[1]: expected as many samples in user_data as num_samples says");
  EXPECT_EQ(leaf_error_of(replaced("[2, 1]", "[2]")),
            "file: expected a number in num_samples for each of the users");
  EXPECT_EQ(leaf_error_of(replaced(R"(["a", "b"])", R"(["a"])")),
            "file: expected as many users as there are in user_data");
  EXPECT_EQ(leaf_error_of(replaced(R"("users": ["a")", R"("users": ["c")")),
            "file: users[0]: expected as many samples in user_data as num_samples says");
  EXPECT_EQ(leaf_error_of(replaced("[2, 1]", "[2, 0.5]")),
            "file: byte 41: expected a number of samples");
  EXPECT_EQ(leaf_error_of(replaced(R"("b": {)", R"("a": {)")),
            "file: byte 109: expected each user once");
}

TEST(Leaf, SamplesThatAreNoneAreRefused) {
  const std::string at = "file: byte 20: expected ";
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [[1]], "y": [1, 2]})")),
            at + "a user with x and y, as many samples as labels");
  EXPECT_EQ(leaf_error_of(with_user(R"({"y": []})")),
            at + "a user with x and y, as many samples as labels");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [[1], [1, 2]], "y": [1, 2]})")),
            "file: byte 32: a sample of 2 numbers, expected 1 as in the first");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": ["a.jpg"], "y": [1]})")),
            "file: byte 27: expected '[', the numbers of a sample");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [[]], "y": [1]})")),
            "file: byte 27: expected a sample with at least one number");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [[1e7]], "y": [1]})")),
            "file: byte 27: expected a vector of numbers from -1e6 to 1e6");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [[1]], "y": [256]})")),
            "file: byte 39: expected a label from 0 to 255");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [[1]], "y": [1.5]})")),
            "file: byte 39: expected a label from 0 to 255");
  EXPECT_EQ(leaf_error_of(with_user(R"({"x": [)" + picture("1.5") + R"(], "y": [1]})")),
            "file: byte 27: expected a picture of 28x28, of numbers from 0 to 1");
  std::string endless = R"({"x": [[1)";
  for (std::size_t i = 0; i < kMostLeafValues; ++i)
    endless += ",1";
  EXPECT_NE(leaf_error_of(with_user(endless)).find("expected a sample of at most 4096 numbers"),
            std::string::npos);
}

class LeafFolder : public testing::Test {
 protected:
  LeafFolder() {
    std::filesystem::create_directories(folder_ / "train");
    std::filesystem::create_directories(folder_ / "test");
    folder_.write("train/b.json", kTwoUsers);
    folder_.write("train/a.json", R"({"user_data": {"z": {"x": [[2, 0]], "y": [2]}}})");
    folder_.write("train/notes.txt", "not read");
    folder_.write("test/a.json", R"({"user_data": {"a": {"x": [[8, 0]], "y": [4]}}})");
  }

  std::string error() const {
    const auto data = load_data_set("leaf", folder_.path());
    return data ? "none" : data.error().message;
  }

  const support::TemporaryDirectory folder_;
};

TEST_F(LeafFolder, IsADataSetWhoseUsersAreClients) {
  const auto data = load_data_set("leaf", folder_.path());
  ASSERT_TRUE(data) << data.error().message;
  const DataSet& set = **data;
  EXPECT_EQ(set.users, (std::vector<std::uint32_t>{1, 1, 2}));
  EXPECT_EQ(set.classes, 5U);
  EXPECT_EQ(set.picture.channels, 2U);
  EXPECT_EQ(set.picture.height, 1U);
  EXPECT_EQ(set.train.labels, (std::vector<std::uint8_t>{2, 0, 3, 1}));
  EXPECT_EQ(set.test.labels, (std::vector<std::uint8_t>{4}));
  // The first values lie between -2 and 8, the second ones between -1 and 1.
  EXPECT_EQ(set.train.pixels, (std::vector<std::uint8_t>{102, 128, 153, 0, 64, 255, 0, 166}));
  const auto value = [&](std::size_t place, std::uint8_t byte) {
    return (static_cast<float>(byte) / 255 - set.normalisation.mean[place]) /
           set.normalisation.deviation[place];
  };
  EXPECT_NEAR(value(0, 153), 4, 1e-5);
  EXPECT_NEAR(value(0, 255), 8, 1e-5);
  EXPECT_NEAR(value(1, 0), -1, 1e-5);

  const auto partition = partition_by_users(set.users, 3);
  ASSERT_TRUE(partition) << partition.error().message;
  EXPECT_EQ(partition->clients(), 3U);
  EXPECT_EQ(partition->of(2).front(), 2U);
  EXPECT_EQ(partition->of(2).back(), 3U);
  EXPECT_EQ(partition_by_users(set.users, 2)->indices.size(), 2U);
  EXPECT_EQ(partition_by_users(set.users, 4).error().message,
            "4 clients, expected 1 to 3: as many as the data set has users");
}

TEST_F(LeafFolder, OfPicturesIsNormalisedByWhatIsInThem) {
  std::filesystem::remove(folder_ / "train/b.json");
  folder_.write("train/a.json",
                with_user(R"({"x": [)" + picture("0") + "," + picture("1") + R"(], "y": [0, 9]})"));
  folder_.write("test/a.json", with_user(R"({"x": [)" + picture("0.2") + R"(], "y": [1]})"));
  const auto data = load_data_set("leaf", folder_.path());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data)->picture.channels, 1U);
  EXPECT_EQ((*data)->picture.height, 28U);
  EXPECT_EQ((*data)->classes, 10U);
  EXPECT_FLOAT_EQ((*data)->normalisation.mean[0], 0.5F);
  EXPECT_FLOAT_EQ((*data)->normalisation.deviation[0], 0.5F);
  EXPECT_EQ((*data)->test.pixels.front(), 51);
}

TEST_F(LeafFolder, ThatDoesNotFitTogetherIsRefused) {
  folder_.write("test/a.json", R"({"user_data": {"a": {"x": [[8]], "y": [4]}}})");
  EXPECT_NE(error().find("test/a.json: byte 27: a sample of 1 numbers, expected 2 as in the first"),
            std::string::npos);
  folder_.write("test/a.json", R"({"user_data": {}})");
  EXPECT_NE(error().find("/test: no samples, expected some"), std::string::npos);
  folder_.write("train/c.json", kTwoUsers);
  EXPECT_NE(error().find("train/c.json: byte 68: expected each user once"), std::string::npos)
      << error();
  folder_.write("train/c.json", R"({"user_data": {"idle": {"x": [], "y": []}}})");
  EXPECT_NE(error().find("/train: user 3 has no samples, expected some of each"),
            std::string::npos);
  std::filesystem::remove_all(folder_ / "train");
  EXPECT_NE(error().find("expected train/*.json, test/*.json"), std::string::npos) << error();
}

TEST(LeafOptions, UsersAreTheClientsOfLeafAndOfNothingElse) {
  Config config;
  config.dataset = "leaf";
  EXPECT_EQ(check(config).error().message,
            "partition iid with dataset leaf, expected users: they are the clients");
  config.partition.kind = PartitionKind::users;
  EXPECT_TRUE(check(config));
  config.partition.sizes = SizeSkew::lognormal;
  EXPECT_EQ(check(config).error().message,
            "sizes lognormal with partition users, expected none: each user has its own");
  config.dataset = "mnist";
  config.partition.sizes = SizeSkew::none;
  EXPECT_EQ(check(config).error().message,
            "partition users with dataset mnist, expected leaf: the others have none");
}

}  // namespace
}  // namespace ebb::fl
