// SPDX-License-Identifier: Apache-2.0
#include "show/process_rows.h"

#include <algorithm>
#include <map>

namespace ebb::show {

std::vector<ProcessRow> process_rows(const story::RunStory& story, std::size_t most) {
  std::map<std::size_t, const story::ProcessStory*> by_index;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < std::min(story.processes.size(), most); ++i) {
    by_index[story.processes[i].index] = &story.processes[i];
    order.push_back(story.processes[i].index);
  }
  std::vector<ProcessRow> rows;
  for (story::LabelRow& row : story::rows_of(order, story.labels))
    rows.push_back({by_index.at(row.index), std::move(row.text)});
  return rows;
}

}  // namespace ebb::show
