// SPDX-License-Identifier: Apache-2.0
// What reading costs in memory, measured in a child process that reads nothing else.
#include <gtest/gtest.h>
#include <malloc.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "support/child_process.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"
#include "trace/builder.h"
#include "trace/snapshot_reader.h"

namespace ebb::trace {
namespace {

using namespace pickled;
using base::kMiB;

/// A file made of parts that repeat, without holding it in memory.
class RepeatedSource final : public pack::ByteSource {
 public:
  struct Part {
    std::string bytes;
    std::size_t times = 1;
  };
  explicit RepeatedSource(std::vector<Part> parts) : parts_(std::move(parts)) {}

  base::Result<std::size_t> read(char* into, std::size_t most) override {
    std::size_t given = 0;
    while (given < most && part_ < parts_.size()) {
      const Part& part = parts_[part_];
      const std::size_t count = part.bytes.copy(into + given, most - given, at_);
      given += count;
      at_ += count;
      if (at_ < part.bytes.size()) continue;
      at_ = 0;
      if (++times_ < part.times) continue;
      times_ = 0;
      ++part_;
    }
    done_ += given;
    return given;
  }
  std::uint64_t done() const override { return done_; }
  std::uint64_t total() const override { return 0; }

 private:
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  std::size_t times_ = 0;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;
};
using Parts = std::vector<RepeatedSource::Part>;

std::uint64_t status_field(const char* name) {
  const std::string status = base::read_file("/proc/self/status").value_or("");
  const std::size_t at = status.find(name);
  if (at == std::string::npos) return 0;
  return base::parse_unsigned(base::words(status.substr(at))[1]).value_or(0) * 1024;
}

/// What the process holds now; the high-water mark begins here. The heap that a child inherits
/// keeps nothing free: what is read there would otherwise cost less. And what is large and freed
/// goes back at once: how much of it glibc keeps depends on what earlier cases left in the heap.
std::uint64_t begin_measuring() {
  malloc_trim(0);
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  std::ofstream("/proc/self/clear_refs") << "5";
  return status_field("VmRSS:");
}

struct Cost {
  std::uint64_t peak = 0;  ///< bytes beyond what the process had before
  std::uint64_t read = 0;  ///< bytes of the file
  std::string message;     ///< empty where it was accepted
};

Cost cost_of(const Parts& parts) {
  const std::string said = support::said_by_child([&] {
    const std::uint64_t before = begin_measuring();
    RepeatedSource source(parts);
    const auto snapshot = read_snapshot(source, "file");
    const std::uint64_t peak = status_field("VmHWM:");
    return base::format_text("%llu %llu %s", static_cast<unsigned long long>(peak - before),
                             static_cast<unsigned long long>(source.done()),
                             snapshot ? "" : snapshot.error().message.c_str());
  });
  const auto words = base::words(said);
  Cost cost;
  if (words.size() < 2) return cost;
  cost.peak = *base::parse_unsigned(words[0]);
  cost.read = *base::parse_unsigned(words[1]);
  if (words.size() > 2) cost.message = said.substr(said.find("file"));
  return cost;
}

const std::string kHead = bytes("\x80\x04");

/// Whatever the file is, it costs no more than its size, the allowance, and what libraries take.
void expect_bounded(const Parts& parts) {
  const Cost cost = cost_of(parts);
  EXPECT_GT(cost.read, 0U);
  EXPECT_LE(cost.peak, cost.read + ReadOptions().allowance + 4 * kMiB) << cost.message;
  EXPECT_NE(cost.message, "");
}

TEST(Memory, OfManyEventsWithStacksIsLessThanTheFile) {
  const std::string stack = bytes("](") +
                            dict({{"name", text("some_function")},
                                  {"filename", text("some/file/of/a/program.py")},
                                  {"line", number(117)}}) +
                            "e";
  std::string event = "}\x94(";
  for (const auto& [key, value] :
       {std::pair{"action", text("free_requested") + "\x94"},
        std::pair{"addr", number(0x7F7C38000000)}, std::pair{"size", number(4096)},
        std::pair{"stream", number(0)}, std::pair{"time_us", number(1794704525149261)}}) {
    event += text(key) + value;
  }
  const Parts parts = {{kHead + "}(" + text("device_traces") + "](](", 1},
                       {event + text("frames") + stack + "u", 1000000},
                       {"eeu.", 1}};
  const Cost cost = cost_of(parts);
  EXPECT_EQ(cost.message, "");
  EXPECT_GT(cost.read, 150 * kMiB);
  EXPECT_LT(cost.peak, cost.read);
}

TEST(Memory, OfTheSmallestEventsIsBounded) {
  const std::string keys = text("action") + "\x94" + text("addr") + "\x94" + text("size") + "\x94" +
                           text("alloc") + "\x94\x87";
  const std::string event = bytes("}(h\x00h\x03h\x01K\x00h\x02K\x00u");
  expect_bounded({{kHead + "}(" + text("keys") + keys + text("device_traces") + "](](", 1},
                  {event, 20000000},
                  {"eeu.", 1}});
}

TEST(Memory, OfValuesOnTheStackIsBounded) {
  expect_bounded({{kHead + "](", 1}, {"N", 300 << 20}, {"e.", 1}});
  expect_bounded({{kHead, 1}, {"]", 300 << 20}, {".", 1}});
  expect_bounded({{kHead + "](", 1}, {"}", 300 << 20}, {"e.", 1}});
}

TEST(Memory, OfTheMemoIsBounded) {
  expect_bounded({{kHead + "N", 1}, {"\x94", 300 << 20}, {".", 1}});
  std::string far = kHead + "N";
  for (unsigned i = 0; i < 20000; ++i) {
    const unsigned number = i * 200003;
    far += 'r';
    for (unsigned shift = 0; shift < 32; shift += 8) {
      far += static_cast<char>(number >> shift & 0xFF);
    }
  }
  expect_bounded({{far, 1}, {".", 1}});
}

TEST(Memory, OfStacksThatGrowFrameByFrameIsBounded) {
  const std::string frame =
      dict({{"name", text("f")}, {"filename", text("f.py")}, {"line", number(1)}}) + "\x94";
  expect_bounded({{kHead + "](" + frame + "]", 1}, {bytes("h\x00") + "a", 30000000}, {"e.", 1}});
}

TEST(Memory, OfTextsIsBounded) {
  std::string texts;
  for (int i = 0; i < 1000000; ++i) {
    texts += text(std::to_string(i));
  }
  expect_bounded({{kHead + "](", 1}, {texts, 2}, {"e.", 1}});
  // A length of 4 GiB with little behind it.
  expect_bounded({{kHead + bytes("X\xff\xff\xff\xff"), 1}, {"text", 1000}});
  expect_bounded({{kHead + bytes("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"), 1}, {"text", 50 << 20}});
}

TEST(Memory, OfRangesWithOneLongNameIsBounded) {
  const std::string range = bytes("}(h\x00h\x01h\x02h\x03u");
  const std::string keys = text("stage") + "\x94" + text("START") + "\x94" + text("name") + "\x94" +
                           text(std::string(1000000, 'n')) + "\x94";
  expect_bounded({{kHead + "}(" + text("segments") + "]" + text("keys") + "](" + keys + "e" +
                       text("external_annotations") + "](",
                   1},
                  {range, 1000000},
                  {"eu.", 1}});
}

TEST(Memory, OfEmptyTracesIsBounded) {
  expect_bounded({{kHead + "}(" + text("device_traces") + "](", 1}, {"]", 300 << 20}, {"eu.", 1}});
}

TEST(Memory, OfAGzipBombIsBounded) {
  const support::TemporaryDirectory directory;
  // A pickle that never ends, a gigabyte in a megabyte: 64 members of 16 MiB each.
  for (const char* filling : {"N", "]", "(", "K", "\\x94"}) {
    const std::string path = directory / "bomb.gz";
    const auto made = support::run(
        {EBB_PYTHON, "-c",
         "import gzip, sys\n"
         "member = gzip.compress(b'" +
             std::string(filling) +
             "' * (16 << 20), 9)\n"
             "open(sys.argv[1], 'wb').write(gzip.compress(b'\\x80\\x04](N') + member * 64)\n",
         path});
    ASSERT_EQ(made.status, 0) << made.error;
    const std::string said = support::said_by_child([&] {
      const std::uint64_t before = begin_measuring();
      const auto snapshot = read_snapshot(path);
      return base::format_text("%llu %s",
                               static_cast<unsigned long long>(status_field("VmHWM:") - before),
                               snapshot ? "" : base::name_of(snapshot.error().code));
    });
    const auto words = base::words(said);
    ASSERT_EQ(words.size(), 2U) << said;
    EXPECT_EQ(words[1], "bad_input");
    EXPECT_LT(*base::parse_unsigned(words[0]), 120 * kMiB) << filling;
  }
}

}  // namespace
}  // namespace ebb::trace
