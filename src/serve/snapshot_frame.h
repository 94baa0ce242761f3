// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "page/document.h"
#include "serve/pages.h"

namespace ebb::serve {

/// What the pages of a snapshot say beside what was found in it.
struct SnapshotFrame {
  std::string key;   ///< in addresses
  std::string name;  ///< of its file
  std::string revision;
  std::string task = {};  ///< what goes on; empty: nothing
  bool can_stop = false;
  bool stays = false;                   ///< also when nobody looks at it
  std::vector<std::string> links = {};  ///< to each of the pages; none: there is one
};

/// As long as nothing is known.
page::Document empty_page(const std::string& name);

/// One line as a card.
page::Verdict said(const char* name, const std::string& line, page::Tone tone);

/// Ready to be sent: as long as it changes, or is kept for who looks at it, a page is live.
std::vector<std::shared_ptr<const MadePage>> made_pages(std::vector<page::Document> pages,
                                                        const SnapshotFrame& frame);

}  // namespace ebb::serve
