// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cctype>
#include <fstream>

#include "base/file.h"
#include "cli/answer.h"
#include "cli/doctor.h"
#include "cli/fail_on.h"
#include "replay/doctor/stats_diagnosis.h"
#include "show/doctor_view.h"

namespace ebb::cli {
namespace {

constexpr std::size_t kLargestStats = 16 << 20;

}  // namespace

bool names_stats(const std::string& subject) {
  std::ifstream file(subject, std::ios::binary);
  char first = 0;
  while (file.get(first) && std::isspace(static_cast<unsigned char>(first)) != 0) {
  }
  // No pickle begins like this, and nothing packed does.
  return file.good() && first == '{';
}

int diagnose_stats(const StatsQuestion& question) {
  const auto text = base::read_file(question.file, kLargestStats);
  if (!text) return complain(text.error());
  const auto json = base::parse_json(*text);
  if (!json) {
    return complain(base::error(base::Code::bad_input, "%s: %s", question.file.c_str(),
                                json.error().message.c_str()));
  }
  const auto stats = replay::read_stats(*json, question.file);
  if (!stats) return complain(stats.error());
  const replay::StatsDiagnosis diagnosis = replay::diagnose(*stats);
  if (question.json) {
    answer_json(fact::to_json(diagnosis));
  } else {
    answer(show::stats_text(question.file, diagnosis, term::Style::of_stream(STDOUT_FILENO)));
  }
  return status_on(question.fail_on, diagnosis.verdict, diagnosis.also);
}

}  // namespace ebb::cli
