// SPDX-License-Identifier: Apache-2.0
#include "trace/pickle_writer.h"

#include <gtest/gtest.h>

#include "support/python_value.h"

namespace ebb::trace {
namespace {

using support::python;

TEST(PickleWriter, WritesEveryKindOfValueThatPythonReadsBack) {
  PickleWriter writer;
  writer.begin_list();
  for (const std::uint64_t value :
       {0ULL, 255ULL, 256ULL, 65536ULL, 0x7FFFFFFFULL, 0x80000000ULL, 0x7FFF12345678ULL,
        0x8000000000000000ULL, 0xFFFFFFFFFFFFFFFFULL}) {
    writer.natural(value);
  }
  for (const std::int64_t value : {-1LL, -2147483648LL, -2147483649LL}) {
    writer.integer(value);
  }
  writer.real(0.6);
  writer.boolean(true);
  writer.boolean(false);
  writer.text("twice");
  writer.text("twice");
  writer.text(std::string(300, 'x'));
  writer.natural(3);
  writer.natural(4);
  writer.end_pair();
  writer.begin_dict();
  writer.text("k");
  writer.begin_list();
  writer.end_list();
  writer.end_dict();
  writer.end_list();
  EXPECT_EQ(python(std::move(writer).finish(), "v"),
            "[0, 255, 256, 65536, 2147483647, 2147483648, 140733498807928, 9223372036854775808, "
            "18446744073709551615, -1, -2147483648, -2147483649, 0.6, True, False, 'twice', "
            "'twice', '" +
                std::string(300, 'x') + "', (3, 4), {'k': []}]");
}

TEST(PickleWriter, RefersBackToMoreThan256Strings) {
  PickleWriter writer;
  writer.begin_list();
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 0; i < 300; ++i) {
      writer.text("s" + std::to_string(i));
    }
  }
  writer.end_list();
  EXPECT_EQ(python(std::move(writer).finish(), "v[:300] == v[300:], v[599]"), "(True, 's299')");
}

}  // namespace
}  // namespace ebb::trace
