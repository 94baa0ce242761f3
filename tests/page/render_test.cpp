// SPDX-License-Identifier: Apache-2.0
#include "page/render.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"
#include "support/temporary_directory.h"

namespace ebb::page {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Render, GivesSmallPagesForSmallDocuments) {
  const std::string html = render({});
  EXPECT_LT(html.size(), 165'000U);
  EXPECT_NE(html.find("<title>Ebb</title>"), std::string::npos);
}

TEST(Render, RefersToNothingOutside) {
  Document document;
  document.title = "a page";
  const std::string html = render(document);
  EXPECT_FALSE(std::regex_search(html, std::regex(R"((src|href)\s*=\s*["']?(https?:|//|file:))")));
  EXPECT_EQ(html.find("@import"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(html.find("unsafe-"), std::string::npos) << "only what the hashes name may run";
}

TEST(Render, KeepsHostileTextInsideItsData) {
  const std::string harmless = render({});
  Document document;
  document.title = "</title><script>alert(1)</script><!--";
  document.subtitle = "</script><script>alert(2)</script>\u2028\xFF";
  document.facts = {{"<!--<script>", "--></SCRIPT >"}};
  const std::string html = render(document);
  for (const char* markup : {"<script", "</script", "<!--", "</SCRIPT", "</title"})
    EXPECT_EQ(count_of(html, markup), count_of(harmless, markup)) << markup;
  EXPECT_EQ(html.find('\xFF'), std::string::npos);
  EXPECT_EQ(html.find("\u2028"), std::string::npos);
}

TEST(Write, ReplacesTheFileOrSaysWhyNot) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.write("page.html", "before");
  Document document;
  document.title = "after";
  ASSERT_TRUE(write(document, path).has_value());
  const auto content = base::read_file(path);
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ(*content, render(document));

  const base::Status failed = write(document, folder / "missing/page.html");
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().message.find("missing/page.html"), std::string::npos);
}

}  // namespace
}  // namespace ebb::page
