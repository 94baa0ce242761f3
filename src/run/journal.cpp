// SPDX-License-Identifier: Apache-2.0
#include "run/journal.h"

#include <unistd.h>

#include "base/plain_text.h"

namespace ebb::run {
namespace {

/// One write, so that a line of the job does not end up inside it.
void print(const std::string& line) {
  const std::string whole = "ebb: " + base::plain_line(line) + "\n";
  if (::write(STDERR_FILENO, whole.data(), whole.size()) < 0) {
    // Nobody reads: the record has it.
  }
}

}  // namespace

Journal::Journal(const std::string& path, const record::Run& run, bool quiet) : quiet_(quiet) {
  if (path.empty()) return;
  auto writer = record::Writer::begin(path, run);
  if (writer) {
    writer_ = *std::move(writer);
  } else {
    print("nothing is recorded: " + writer.error().message);
  }
}

void Journal::process_ended(record::ProcessKey process, double seconds) {
  if (writer_) writer_->process_ended(process, seconds);
}

void Journal::say(record::Event event) {
  note(event.text);
  add(std::move(event));
}

void Journal::note(const std::string& line) const {
  if (!quiet_) print(line);
}

void Journal::check() {
  if (!writer_) return;
  const std::string trouble = writer_->take_trouble();
  if (!trouble.empty()) note(trouble);
}

void Journal::end(const record::Run& run) {
  if (writer_) writer_->end(run);
  check();
}

}  // namespace ebb::run
