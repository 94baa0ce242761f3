// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "base/result.h"

namespace ebb::base {
namespace {

TEST(Error, CarriesCodeMessageAndNativeNumber) {
  const Error plain = error(Code::bad_input, "role '%s'", "chef");
  EXPECT_EQ(plain.message, "role 'chef'");
  EXPECT_EQ(plain.native, 0);
  const Error missing = system_error(ENOENT, "cannot open %s", "x");
  EXPECT_EQ(missing.code, Code::not_found);
  EXPECT_EQ(missing.native, ENOENT);
  EXPECT_EQ(missing.message, "cannot open x: No such file or directory");
  EXPECT_EQ(system_error(EACCES, "x").code, Code::not_permitted);
  EXPECT_EQ(system_error(EIO, "x").code, Code::io);
}

TEST(Error, NamesEveryCodeDifferently) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(Code::internal); ++code)
    names.insert(name_of(static_cast<Code>(code)));
  EXPECT_EQ(names.size(), 7U);
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, GivesTheOtherValueOnFailure) {
  const Result<int> failed(error(Code::io, "no"));
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.value_or(3), 3);
  EXPECT_TRUE(Status());
  EXPECT_FALSE(Status(error(Code::io, "no")));
}

TEST(ResultDeathTest, TakingAValueThatIsNotThereAborts) {
  const Result<int> failed(error(Code::io, "no"));
  EXPECT_DEATH(static_cast<void>(failed.value()), "does not hold");
}

}  // namespace
}  // namespace ebb::base
