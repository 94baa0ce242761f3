// SPDX-License-Identifier: Apache-2.0
// Writes a page for each sample into the folder that is given: what the browser then opens.
#include <cstdio>
#include <string>

#include "page/render.h"
#include "page/samples.h"

int main(int count, char** arguments) {
  using namespace ebb::page;
  if (count != 2) {
    std::fputs("sample_pages: expected a folder\n", stderr);
    return 2;
  }
  const std::pair<const char*, Document> pages[] = {
      {"empty", {}},
      {"report", samples::report()},
      {"large", samples::large()},
      {"rows", samples::rows()},
      {"runs", samples::runs()},
      {"stacked", samples::stacked(600)},
      {"stacked_large", samples::stacked(100'000)},
      {"heat", samples::heat()},
      {"sites", samples::sites()},
      {"hostile", samples::hostile()},
      {"broken", samples::broken()},
  };
  for (const auto& [name, document] : pages) {
    const ebb::base::Status written =
        write(document, std::string(arguments[1]) + "/" + name + ".html");
    if (!written) {
      std::fprintf(stderr, "sample_pages: %s\n", written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
