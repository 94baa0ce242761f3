// SPDX-License-Identifier: Apache-2.0
#include "trace/pickle_reader.h"

#include <gtest/gtest.h>

#include <bit>

#include "trace/builder.h"

namespace ebb::trace {
namespace {

using pickled::bytes;

/// What the reader told: an opcode, its number, its text.
struct Token {
  std::string what;
  std::uint64_t number = 0;
  bool negative = false;
  std::string text = {};
  PickleOp op = PickleOp::stop;
};

/// All that the reader tells of a pickle up to its end, or until its error.
struct Tokens {
  explicit Tokens(const std::string& pickle) {
    pack::TextSource source(pickle);
    PickleReader reader(source, "file");
    if (!reader.begin() || !reader.read(*this)) error = reader.error();
  }
  bool add(Token token) {
    all.push_back(std::move(token));
    return true;
  }
  bool get(std::uint64_t number) { return add({"get", number}); }
  bool memoize() { return add({"memoize"}); }
  bool mark() { return add({"mark"}); }
  bool set_items() { return add({"set_items"}); }
  bool appends() { return add({"appends"}); }
  bool integer(std::uint64_t number, bool negative) { return add({"integer", number, negative}); }
  bool text(std::string_view text) { return add({"text", 0, false, std::string(text)}); }
  bool empty_dict() { return add({"empty_dict"}); }
  bool empty_list() { return add({"empty_list"}); }
  bool other(PickleOp op, std::uint64_t number) {
    return add({"other", number, false, "", op}) && op != PickleOp::stop;
  }

  std::vector<Token> all;
  base::Error error;
};

Token only(const std::string& value) {
  const Tokens tokens(pickled::file(value));
  EXPECT_EQ(tokens.all.size(), 2U) << tokens.error.message;
  return tokens.all.empty() ? Token{} : tokens.all[0];
}

std::int64_t integer(const std::string& value) {
  const Token token = only(value);
  EXPECT_EQ(token.what, "integer");
  EXPECT_EQ(token.negative, static_cast<std::int64_t>(token.number) < 0);
  return static_cast<std::int64_t>(token.number);
}

std::string pickle_refusal(const std::string& pickle) {
  const Tokens tokens(pickle);
  EXPECT_EQ(tokens.error.code, base::Code::bad_input);
  return tokens.error.message;
}

TEST(PickleReader, ReadsIntegersOfEveryLength) {
  EXPECT_EQ(integer(bytes("K\xff")), 255);
  EXPECT_EQ(integer(bytes("M\x00\x80")), 0x8000);
  EXPECT_EQ(integer(bytes("J\xff\xff\xff\xff")), -1);
  EXPECT_EQ(integer(bytes("J\xff\xff\xff\x7f")), 0x7FFFFFFF);
  EXPECT_EQ(integer(bytes("\x8a\x00")), 0);
  EXPECT_EQ(integer(bytes("\x8a\x01\x80")), -128);
  EXPECT_EQ(integer(bytes("\x8a\x06\x00\x00\x00\x38\x7c\x7f")), 0x7F7C38000000);
  EXPECT_EQ(integer(bytes("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80")),
            std::numeric_limits<std::int64_t>::min());
}

TEST(PickleReader, ReadsUnsignedIntegersOf64BitsWithTheirSignByte) {
  const Token token = only(bytes("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"));
  EXPECT_EQ(token.what, "integer");
  EXPECT_FALSE(token.negative);
  EXPECT_EQ(token.number, 0xFFFFFFFFFFFFFFFFU);
}

TEST(PickleReader, CallsIntegersHugeThatNeedMoreThan64Bits) {
  EXPECT_EQ(only(bytes("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01")).op, PickleOp::huge_integer);
  EXPECT_EQ(only(bytes("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff")).op, PickleOp::huge_integer);
  EXPECT_EQ(only("\x8a\xff" + std::string(255, '\x11')).op, PickleOp::huge_integer);
  EXPECT_EQ(only("\x8a\xff" + std::string(255, '\xff')).what, "integer");
}

TEST(PickleReader, ReadsRealsAndBooleans) {
  EXPECT_EQ(std::bit_cast<double>(only(bytes("G\x3f\xe8\x00\x00\x00\x00\x00\x00")).number), 0.75);
  EXPECT_EQ(only("\x88").number, 1U);
  EXPECT_EQ(only("\x89").number, 0U);
  EXPECT_EQ(only("N").op, PickleOp::none);
}

TEST(PickleReader, ReadsTextsOfEveryLengthAcrossItsBuffer) {
  for (const std::size_t length : {0UL, 255UL, 256UL, 70000UL, 300000UL, kLongestText}) {
    for (const char opcode : {'X', '\x8d'}) {
      const std::string text(length, 'x');
      std::string pickle = "\x80\x04" + std::string(1, opcode);
      for (unsigned i = 0; i < (opcode == 'X' ? 4U : 8U); ++i) {
        pickle += static_cast<char>(i < 4 ? length >> (8 * i) & 0xFF : 0);
      }
      const Tokens tokens(pickle + text + "N.");
      ASSERT_EQ(tokens.all.size(), 3U) << tokens.error.message;
      EXPECT_EQ(tokens.all[0].text, text);
      EXPECT_EQ(tokens.all[1].op, PickleOp::none);
    }
  }
}

TEST(PickleReader, SkipsTextsLongerThanAnythingInASnapshot) {
  const std::string text(kLongestText + 1, 'x');
  const Tokens tokens(bytes("\x80\x04X\x01\x00\x10\x00") + text + "N.");
  ASSERT_EQ(tokens.all.size(), 3U) << tokens.error.message;
  EXPECT_EQ(tokens.all[0].op, PickleOp::long_text);
}

TEST(PickleReader, SkipsFrames) {
  EXPECT_EQ(only(bytes("\x95\xff\xff\xff\xff\xff\xff\xff\xff") + "N").op, PickleOp::none);
}

TEST(PickleReader, AcceptsProtocols2To5Only) {
  for (char version = 0; version < 10; ++version) {
    const Tokens tokens(std::string("\x80") + version + "N.");
    EXPECT_EQ(tokens.error.message.empty(), version >= 2 && version <= 5) << int{version};
  }
  EXPECT_EQ(pickle_refusal(bytes("\x80\x06N.")),
            "file: byte 0: pickle protocol 6, expected 2 to 5");
  EXPECT_EQ(
      pickle_refusal("(dp0\n."),
      "file: byte 0: not a pickle of protocol 2 to 5 (is it one of protocol 0 or 1?); write it "
      "with pickle.dump and its default protocol");
}

TEST(PickleReader, RefusesWhatIsNoPickle) {
  EXPECT_EQ(pickle_refusal(""), "file: is empty, expected a snapshot");
  EXPECT_EQ(pickle_refusal("hello"),
            "file: byte 0: not a pickle, expected what torch.cuda.memory._dump_snapshot writes");
  EXPECT_EQ(pickle_refusal(std::string("SQLite format 3\0 and so on", 27)),
            "file: byte 0: an SQLite database (torch.cuda.memory._dump_snapshot_sqlite?), expected "
            "a pickle, as torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes it");
  EXPECT_EQ(pickle_refusal("SQLite format 2 and so on"),
            "file: byte 0: not a pickle, expected what torch.cuda.memory._dump_snapshot writes");
  EXPECT_EQ(pickle_refusal("PK\x03\x04 and so on"),
            "file: byte 0: a zip archive (torch.save?), expected what "
            "torch.cuda.memory._dump_snapshot writes");
  EXPECT_EQ(pickle_refusal(bytes("\x80\x04}\xff.")),
            "file: byte 3: 0xff is no opcode of pickle: the file is damaged");
}

TEST(PickleReader, RefusesEveryOpcodeThatNamesAnObject) {
  const std::pair<unsigned char, const char*> opcodes[] = {
      {'c', "GLOBAL"}, {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},       {'b', "BUILD"},
      {'i', "INST"},   {'o', "OBJ"},           {0x81, "NEWOBJ"},      {0x92, "NEWOBJ_EX"},
      {'P', "PERSID"}, {'Q', "BINPERSID"},     {0x82, "EXT1"},        {0x83, "EXT2"},
      {0x84, "EXT4"},  {0x96, "BYTEARRAY8"},   {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
  };
  for (const auto& [opcode, name] : opcodes) {
    EXPECT_EQ(pickle_refusal(bytes("\x80\x04K\x01") + static_cast<char>(opcode) + "os\nsystem\n."),
              std::string("file: byte 4: ") + name +
                  " names an object; a snapshot holds only dicts, lists, numbers and text");
  }
}

TEST(PickleReader, RefusesTheOtherOpcodesOfPickleByName) {
  for (const auto& [opcode, name] :
       {std::pair{'I', "INT"}, std::pair{'2', "DUP"}, std::pair{'0', "POP"},
        std::pair{'\x8b', "LONG4"}, std::pair{'\x80', "PROTO"}, std::pair{'p', "PUT"}}) {
    EXPECT_EQ(pickle_refusal(bytes("\x80\x02N") + opcode + "1\n."),
              std::string("file: byte 3: ") + name +
                  " has no place in a snapshot of pickle protocol 2 to 5");
  }
}

TEST(PickleReader, AllOpcodesAreReadOrRefusedOneWayOrTheOther) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const Tokens tokens(bytes("\x80\x04") + static_cast<char>(opcode) + std::string(600, '.'));
    EXPECT_TRUE(!tokens.all.empty() || tokens.error.message.find("file: byte ") == 0) << opcode;
  }
}

TEST(PickleReader, BelievesNoLengthBeforeTheBytesAreThere) {
  EXPECT_EQ(pickle_refusal(bytes("\x80\x04X\xff\xff\xff\xff") + "abc."),
            "file: byte 11: the file ends too early, in the middle of the pickle");
  EXPECT_EQ(pickle_refusal(bytes("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff") + "abc."),
            "file: byte 15: the file ends too early, in the middle of the pickle");
  EXPECT_EQ(pickle_refusal(bytes("\x80\x04\x8a\x08\x01\x02")),
            "file: byte 6: the file ends too early, in the middle of the pickle");
  EXPECT_EQ(pickle_refusal(bytes("\x80\x04\x8c\xff") + "abc"),
            "file: byte 7: the file ends too early, in the middle of the pickle");
  EXPECT_EQ(pickle_refusal(bytes("\x80\x04X\x01")),
            "file: byte 4: the file ends too early, in the middle of the pickle");
}

}  // namespace
}  // namespace ebb::trace
