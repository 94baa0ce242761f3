// SPDX-License-Identifier: Apache-2.0
#include "cache/truth_log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

namespace ebb::cache::truth {
namespace {

Action action_named(const std::string& name) {
  for (std::size_t i = 0; i < kActions; ++i) {
    if (name == name_of(static_cast<Action>(i))) return static_cast<Action>(i);
  }
  ADD_FAILURE() << "unknown action " << name;
  return Action::snapshot;
}

BlockState state_named(const std::string& name) {
  for (BlockState state : {BlockState::active_allocated, BlockState::active_pending_free}) {
    if (name == name_of(state)) return state;
  }
  return BlockState::inactive;
}

template <class T>
std::vector<T> rest_of(std::istringstream& line) {
  std::vector<T> words;
  for (T word; line >> word;) {
    words.push_back(word);
  }
  return words;
}

bool read_operation(const std::string& word, std::istringstream& line, Operation& op) {
  using Kind = Operation::Kind;
  if (word == "a") {
    std::int64_t address = 0;
    line >> op.bytes >> op.stream >> address;
    op.address = address < 0 ? 0 : static_cast<Address>(address);
  } else if (word == "f") {
    op.kind = Kind::free;
    line >> op.address;
    op.streams = rest_of<StreamId>(line);
  } else if (word == "e") {
    op.kind = Kind::empty_cache;
  } else if (word == "s") {
    op.kind = Kind::synchronize;
  } else if (word == "pb") {
    op.kind = Kind::pool_begin;
    line >> op.pool.first >> op.pool.second >> op.no_split;
  } else if (word == "pe") {
    op.kind = Kind::pool_end;
  } else if (word == "pd") {
    op.kind = Kind::pool_destroy;
    line >> op.pool.first >> op.pool.second;
  } else {
    return false;
  }
  return true;
}

void read_line(const std::string& text, Log& log) {
  std::istringstream line(text);
  std::string word;
  line >> word;
  Operation op;
  if (read_operation(word, line, op)) {
    log.operations.push_back(op);
  } else if (word == "=") {
    auto& counters = log.operations.back().counters;
    for (std::pair<std::size_t, std::int64_t> pair; line >> pair.first >> pair.second;) {
      counters.push_back(pair);
    }
  } else if (word == "c" || word == "w") {
    log.operations.back().completed = rest_of<Address>(line);
    log.operations.back().completed_by_waiting = word == "w";
  } else if (word == "t") {
    TraceEntry entry;
    std::string action;
    line >> action >> entry.address >> entry.size >> entry.stream;
    entry.action = action_named(action);
    log.trace.push_back(entry);
  } else if (word == "S") {
    SnapshotSegment segment;
    std::string type;
    line >> segment.address >> segment.total_size >> segment.allocated_size >>
        segment.active_size >> segment.requested_size >> segment.stream >> type >>
        segment.pool.first >> segment.pool.second >> segment.expandable;
    segment.small = type == "small";
    log.segments.push_back(segment);
  } else if (word == "B") {
    SnapshotBlock block;
    std::string state;
    line >> block.address >> block.size >> block.requested_size >> state;
    block.state = state_named(state);
    log.segments.back().blocks.push_back(block);
  } else if (word == "final") {
    std::string name;
    line >> name >> log.final_stats[name];
  } else if (word == "event") {
    SegmentEvent event;
    line >> event.requests >> event.action >> event.size;
    log.events.push_back(event);
  } else if (word == "address") {
    log.addresses.push_back(rest_of<Address>(line).at(0));
  } else if (word == "total") {
    line >> log.total;
  } else if (word == "fraction") {
    line >> log.fraction;
  } else if (word == "keys") {
    log.keys = rest_of<std::string>(line);
  } else if (word == "conf") {
    log.settings = text.size() > 5 ? text.substr(5) : "";
  } else if (word == "message") {
    log.message = text.substr(8);
  } else {
    ADD_FAILURE() << "unknown line: " << text;
  }
}

}  // namespace

Log read_log(const std::string& kind, const std::string& path) {
  const std::string command =
      std::string(EBB_PYTHON) + " " + EBB_TRUTH_TOOL + " " + kind + " '" + path + "'";
  Log log;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run " << command;
    return log;
  }
  std::string text;
  for (char buffer[65536]; const std::size_t count = fread(buffer, 1, sizeof buffer, pipe);) {
    text.append(buffer, count);
  }
  if (pclose(pipe) != 0) {
    ADD_FAILURE() << "failed: " << command;
    return log;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    read_line(line, log);
  }
  return log;
}

}  // namespace ebb::cache::truth
