// SPDX-License-Identifier: Apache-2.0
#include "cli/page_file.h"

#include <cstdio>

#include "base/file.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "cli/verb.h"
#include "page/render.h"

namespace ebb::cli {

int write_pages(const std::vector<page::Document>& pages, const std::string& path) {
  if (pages.size() > 1 && !base::is_place_of_file(path))
    return complain(base::error(base::Code::bad_input,
                                "--html '%s': %zu pages, one for each device: expected the name of "
                                "a file, or --device",
                                path.c_str(), pages.size()));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string file = path;
    if (pages.size() > 1) {
      const std::size_t dot = path.rfind(".html");
      const std::string stem = dot == std::string::npos ? path : path.substr(0, dot);
      file = stem + base::format_text("-%zu.html", i);
    }
    if (const auto written = page::write(pages[i], file); !written)
      return complain(written.error());
    std::fprintf(stderr, "wrote %s\n", base::plain_line(file).c_str());
  }
  return kDone;
}

}  // namespace ebb::cli
