// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "record/writer.h"

namespace ebb::run {

/// What is said and written down about a run: lines for people on stderr, everything in the record.
/// A record that cannot be written is said once and costs nothing else. A line that nobody reads is
/// left out after a moment, and counted: whoever supervises a job waits for no reader.
class Journal {
 public:
  /// `path` empty: nothing is recorded.
  Journal(const std::string& path, const record::Run& run, bool quiet);

  template <class Row>
  void add(Row row) {
    if (writer_) writer_->add(std::move(row));
  }
  void process_ended(record::ProcessKey process, double seconds);

  /// An event, with a line on stderr.
  void say(record::Event event);
  /// A line on stderr alone.
  void note(const std::string& line);

  /// Says what the recording lost since the last time, if it did.
  void check();

  void end(const record::Run& run);

  /// 0 where nothing is recorded.
  std::int64_t run_id() const { return writer_ ? writer_->run_id() : 0; }

 private:
  void print(const std::string& line);

  std::unique_ptr<record::Writer> writer_;
  bool quiet_;
  bool has_ended_ = false;
  std::size_t left_out_ = 0;  // lines, since the last one that was read
  bool is_torn_ = false;      // a part of the last one was written
};

}  // namespace ebb::run
