// SPDX-License-Identifier: Apache-2.0
#include "run/journal.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/plain_text.h"
#include "base/write_now.h"

namespace ebb::run {
namespace {

// A reader that is busy with other things is no reason to leave out a line.
constexpr int kPatienceMs = 100;
// With the job's end there is nothing any more that would have to wait meanwhile.
constexpr int kPatienceAtTheEndMs = 2000;

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

/// In one piece, so that a line of the job does not end up inside it.
void Journal::print(const std::string& line) {
  std::string whole = is_torn_ ? "\n" : "";
  if (left_out_ > 0) {
    whole += "ebb: " + std::to_string(left_out_) + (left_out_ == 1 ? " line is" : " lines are") +
             " missing here: nobody read stderr\n";
  }
  whole += "ebb: " + base::plain_line(line) + "\n";
  std::string_view rest = whole;
  const int usual = left_out_ > 0 ? 0 : kPatienceMs;
  const int failure =
      base::write_within(STDERR_FILENO, rest, has_ended_ ? kPatienceAtTheEndMs : usual);
  if (failure == EAGAIN) {
    ++left_out_;
    is_torn_ = is_torn_ || rest.size() < whole.size();
  } else {  // also where there is no reader at all: the record has it
    left_out_ = 0;
    is_torn_ = false;
  }
}

void Journal::note(const std::string& line) {
  if (!quiet_) print(line);
}

void Journal::check() {
  if (!writer_) return;
  const std::string trouble = writer_->take_trouble();
  if (!trouble.empty()) note(trouble);
}

void Journal::end(const record::Run& run) {
  has_ended_ = true;
  if (writer_) writer_->end(run);
  check();
}

}  // namespace ebb::run
