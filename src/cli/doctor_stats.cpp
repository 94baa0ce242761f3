// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/doctor.h"
#include "cli/fail_on.h"
#include "replay/doctor/stats_diagnosis.h"
#include "show/doctor_view.h"

namespace ebb::cli {

int diagnose_stats(const DoctorOptions& options) {
  const auto stats = replay::read_stats_file(options.subject);
  if (!stats) return complain(stats.error());
  const replay::StatsDiagnosis diagnosis = replay::diagnose(*stats);
  if (options.shared.json) {
    answer_json(fact::to_json(diagnosis));
  } else {
    answer(show::stats_text(options.subject, diagnosis, term::Style::of_stream(STDOUT_FILENO)));
  }
  return status_on(options.fail_on, diagnosis.verdict, diagnosis.also);
}

}  // namespace ebb::cli
