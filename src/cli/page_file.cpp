// SPDX-License-Identifier: Apache-2.0
#include "cli/page_file.h"

#include <cstdio>

#include "base/plain_text.h"
#include "cli/verb.h"
#include "page/render.h"

namespace ebb::cli {

int write_pages(const std::vector<page::Document>& pages, const std::string& path) {
  const auto files = page::write_all(pages, path);
  if (!files) return complain(files.error());
  for (const std::string& file : *files)
    std::fprintf(stderr, "wrote %s\n", base::plain_line(file).c_str());
  return kDone;
}

}  // namespace ebb::cli
