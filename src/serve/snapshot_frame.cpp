// SPDX-License-Identifier: Apache-2.0
#include "serve/snapshot_frame.h"

#include <utility>

#include "page/thin.h"

namespace ebb::serve {
namespace {

constexpr std::size_t kSnapshotPoints = 8000;
// Pages that nobody sees are let go on once a minute by browsers: Snapshots forgets later.
constexpr std::uint32_t kKeepSeconds = 20;

std::string name_of_page(const std::string& key, std::size_t index) {
  return index == 0 ? key : key + "-" + std::to_string(index);
}

}  // namespace

page::Document empty_page(const std::string& name) {
  page::Document page;
  page.title = "Snapshot";
  page.subtitle = name;
  return page;
}

page::Verdict said(const char* name, const std::string& line, page::Tone tone) {
  page::Verdict verdict;
  verdict.name = name;
  verdict.headline = line;
  verdict.tone = tone;
  return verdict;
}

std::vector<std::shared_ptr<const MadePage>> made_pages(std::vector<page::Document> pages,
                                                        const SnapshotFrame& frame) {
  std::vector<std::shared_ptr<const MadePage>> made;
  const bool goes_on = !frame.task.empty();
  for (std::size_t i = 0; i < pages.size(); ++i) {
    page::Document& page = pages[i];
    page::thin(page, kSnapshotPoints);
    page.up = "All runs";
    for (std::size_t other = 0; other < frame.links.size(); ++other)
      if (other != i) page.links.push_back({frame.links[other], name_of_page(frame.key, other)});
    if (goes_on) page.task = page::Task{frame.task, {}, frame.can_stop ? frame.key + "/stop" : ""};
    const bool is_live = goes_on || !frame.stays;
    if (is_live) {
      page.live = page::Live{frame.key + "/events", name_of_page(frame.key, i) + "/document",
                             frame.revision, goes_on ? "" : "Kept while this page is open",
                             goes_on ? 0 : kKeepSeconds};
    }
    auto one = std::make_shared<MadePage>();
    one->title = page.title + " " + frame.name;
    one->json = page::to_json(page).text();
    one->revision = frame.revision;
    one->live = is_live;
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace ebb::serve
