// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "page/document.h"
#include "replay/doctor/doctor.h"
#include "replay/job.h"

namespace ebb::show {

/// The lines of a program by which the memory of a device grew and which hold it, and what has no
/// line; empty where no stack was recorded. Values begin at `column`.
std::string device_sites_text(const replay::DeviceSites& sites, std::size_t column);

/// The same as a flame graph of one device: what is live at the moment that it is about, what grew
/// from step to step and between any two moments. No stacks where none was recorded.
page::FlameGraph device_sites_flame(const replay::DeviceSites& sites, int device);

/// The stacks of all devices in these files (show/site_files.h); "" is none. Code::bad_input where
/// files are asked for and no stack was recorded; `subject` is the snapshot.
base::Status write_site_files(const std::vector<replay::SnapshotDiagnosis>& diagnoses,
                              const std::string& subject, const std::string& pprof,
                              const std::string& collapsed);

}  // namespace ebb::show
