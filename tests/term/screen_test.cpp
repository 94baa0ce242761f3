// SPDX-License-Identifier: Apache-2.0
#include "term/screen.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace ebb::term {
namespace {

/// A real terminal of the kernel's, with nobody in front of it.
struct Terminal {
  explicit Terminal(unsigned short rows = 24, unsigned short columns = 80) {
    const winsize size{rows, columns, 0, 0};
    if (openpty(&person, &program, nullptr, nullptr, &size) != 0) std::abort();
  }
  ~Terminal() {
    close(person);
    close(program);
  }
  std::string shown() const {
    char buffer[4096];
    const ssize_t got = read(person, buffer, sizeof buffer);
    return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : "";
  }
  tcflag_t modes() const {
    termios now{};
    tcgetattr(program, &now);
    return now.c_lflag;
  }
  int person = -1;
  int program = -1;
};

TEST(Screen, TakesKeysOneByOneAndGivesTheTerminalBack) {
  const Terminal terminal;
  const tcflag_t before = terminal.modes();
  ASSERT_NE(before & ICANON, 0U);
  {
    Screen screen(terminal.program, terminal.program);
    EXPECT_EQ(terminal.modes() & (ICANON | ECHO), 0U);
    EXPECT_NE(terminal.modes() & ISIG, 0U) << "Ctrl-C still works";
    EXPECT_EQ(terminal.shown(), "\033[?25l");
  }
  EXPECT_EQ(terminal.modes(), before);
  EXPECT_EQ(terminal.shown(), "\033[?25h");
}

TEST(Screen, DrawsOverWhatItDrew) {
  const Terminal terminal;
  Screen screen(terminal.program, terminal.program);
  static_cast<void>(terminal.shown());
  screen.draw({"one", "two"});
  EXPECT_EQ(terminal.shown(), "\r\033[Jone\r\r\ntwo\r\r\n") << "the terminal adds a \\r of its own";
  screen.draw({"three"});
  EXPECT_EQ(terminal.shown(), "\033[2A\r\033[Jthree\r\r\n");
}

TEST(Screen, NeverWrapsAndNeverScrolls) {
  const Terminal terminal(3, 5);
  Screen screen(terminal.program, terminal.program);
  static_cast<void>(terminal.shown());
  screen.draw({"1234567", "b", "c", "d"});
  EXPECT_EQ(terminal.shown(), "\r\033[J12345\r\r\nb\r\r\n");
}

TEST(Screen, NeverWaitsForATerminalThatIsHalted) {
  const Terminal terminal;
  {
    Screen screen(terminal.program, terminal.program);
    static_cast<void>(terminal.shown());
    tcflow(terminal.program, TCOOFF);
    screen.draw({"one"});
    screen.draw({"two"});
    tcflow(terminal.program, TCOON);
    screen.draw({"three"});
    EXPECT_EQ(terminal.shown(), "\r\033[Jone\r\r\n\033[1A\r\033[Jthree\r\r\n");
    tcflow(terminal.program, TCOOFF);
  }
  tcflow(terminal.program, TCOON);
}

TEST(Clipped, CountsColumnsAndEndsColours) {
  EXPECT_EQ(clipped("größe", 3), "grö");
  EXPECT_EQ(clipped("\033[31mabc\033[0m", 2), "\033[31mab\033[0m");
  EXPECT_EQ(clipped("ab", 9), "ab");
  EXPECT_EQ(clipped("ab\033[3", 9), "ab") << "half an escape sequence is none";
}

}  // namespace
}  // namespace ebb::term
