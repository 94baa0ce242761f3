// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "record/store.h"

namespace ebb::story {

/// What one process of a run is called, so that it can be told from the others.
struct Label {
  std::string name;        ///< "simulator_worker site-1", "train.py --epochs 3, worker 2"
  std::size_t worker = 0;  ///< which of its parent's forked children, from 1; 0: it is none
  std::size_t parent = 0;  ///< then its parent's index
  std::string own_name;    ///< then what it calls itself ("simulator_server"), if it does
};

/// One per process of the run, in its order: the script, module or program without interpreter and
/// folders, and of the arguments those in which processes of one program differ; all of them where
/// there is only one. A forked child, which has its parent's command line, is a worker of it, under
/// the name that it has by one of the events.
std::vector<Label> labels_of(const std::vector<record::ProcessHistory>& processes,
                             const std::vector<record::Event>& events = {});

/// One row of a table of processes.
struct LabelRow {
  std::size_t index = 0;  ///< of the process
  std::string text;
};

/// The rows of a table of processes in this order, but with workers right below their parent: there
/// they are "worker 2" or what they call themselves, indented.
std::vector<LabelRow> rows_of(const std::vector<std::size_t>& order,
                              const std::vector<Label>& labels);

}  // namespace ebb::story
