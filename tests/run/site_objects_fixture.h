// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/sites_fixture.h"

namespace ebb::run {

inline constexpr const char* kRemember = "small_objects.py:31 remember";

class SiteObjects : public Sites {
 protected:
  static Words job(const std::string& program, const char* what) {
    return {program, EBB_SMALL_OBJECTS_PY, what};
  }

  /// What the report says of all that remember() took: texts and tuples are sites of their own.
  static double remembered(const Json& report, const char* key) {
    const Json* sites = report.find("sites");
    if (sites == nullptr || sites->as_array() == nullptr) return 0;
    double sum = 0;
    for (const Json& site : *sites->as_array())
      if (text(site, "place") == kRemember) sum += site.find(key)->as_double().value_or(0);
    return sum;
  }

  /// The report of a job, at the moment at which `is_so` of it.
  template <class Condition>
  Json report_once(const Words& options, const Words& words, const Condition& is_so) const {
    Json said;
    std::size_t next = 2;
    run_job_until(options, words, [&](const record::RecordedRun& run) {
      if (looks_in(run) < next) return false;
      next = looks_in(run) + 2;
      said = report();
      return is_so(said);
    });
    return said;
  }
};

}  // namespace ebb::run
