// SPDX-License-Identifier: Apache-2.0
#include "sites/table_view.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "sites/table.h"
#include "support/temporary_directory.h"

namespace ebb::sites {
namespace {

class Views : public testing::Test {
 protected:
  std::string sound_table() const {
    const auto table = std::make_unique<Table>();
    EXPECT_TRUE(table->open((folder_ / "sound").c_str(), 1));
    const std::uint64_t calls[] = {0x1111, 0x2222};
    const std::uint32_t text = table->add_text("a.py");
    const PythonCall python{text, text, 3};
    table->add_module(0x1000, 0x2000, 0, "/lib/a.so");
    const std::uint32_t stack = table->add_stack(calls, 2, &python, 1, true);
    for (std::uint64_t i = 1; i < 200; ++i)
      table->insert(i << 12, {1 << 20, Table::about_of(stack, 0, 0), 0});
    std::ostringstream all;
    all << std::ifstream(folder_ / "sound", std::ios::binary).rdbuf();
    return all.str();
  }

  support::TemporaryDirectory folder_;
};

TEST_F(Views, SamplesOfAnInterpreterThatNobodyReadsAreCounted) {
  int made = 0;
  const auto uncounted = [&](const char* module, std::uint64_t minor) {
    const std::string path = folder_ / ("table" + std::to_string(++made));
    const auto table = std::make_unique<Table>();
    EXPECT_TRUE(table->open(path.c_str(), 1));
    table->add_module(0x1000, 0x2000, 0, module);
    table->header().python = minor;
    for (std::uint64_t i = 1; i <= 7; ++i)
      table->insert(i << 12, {1 << 20, Table::about_of(0, 0, 0), 0});
    const auto view = TableView::read(path);
    EXPECT_TRUE(view) << view.error().message;
    return view ? view->no_python : 0;
  };
  EXPECT_EQ(uncounted("/usr/bin/python3.13t", 0), 7U) << "free-threaded";
  EXPECT_EQ(uncounted("/opt/app/libpython3.12.so.1.0", 0), 7U) << "embedded, without the hook";
  EXPECT_EQ(uncounted("/usr/bin/python3.12", 12), 0U) << "it is read";
  EXPECT_EQ(uncounted("/lib/numpy/core.cpython-312.so", 0), 0U);
  EXPECT_EQ(uncounted("/job/python3_tools.so", 0), 0U);
  EXPECT_EQ(uncounted("/usr/bin/job", 0), 0U);
}

TEST_F(Views, AFileOfAnotherKindIsRefused) {
  folder_.write("text", std::string(10'000, 'x'));
  folder_.write("empty", "");
  for (const char* name : {"text", "empty", "missing"}) {
    EXPECT_FALSE(TableView::read(folder_ / name)) << name;
    EXPECT_FALSE(StackReader::open(folder_ / name)) << name;
  }
}

TEST_F(Views, ATableThatIsCutShortIsRefused) {
  folder_.write("cut", sound_table().substr(0, 100'000));
  const auto read = TableView::read(folder_ / "cut");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("became shorter"), std::string::npos);
}

TEST_F(Views, DamagedTablesAreReadWithoutHarm) {
  const std::string sound = sound_table();
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    std::string damaged = sound;
    for (int i = 0; i < 40; ++i) {
      // The magic stays: what is behind it is to be read. Most hits go to header and data.
      const std::size_t at = 8 + random() % (i < 30 ? 5000 : damaged.size() - 8);
      damaged[at] = static_cast<char>(random());
    }
    folder_.write("damaged", damaged);
    static_cast<void>(TableView::read(folder_ / "damaged"));
    const auto reader = StackReader::open(folder_ / "damaged");
    if (!reader) continue;
    EXPECT_LE(reader->modules().size(), 20'000U);
    for (std::uint32_t number = 0; number < 6000; number += 8)
      EXPECT_LE(reader->stack(number).native.size(), 48U);
  }
}

}  // namespace
}  // namespace ebb::sites
