// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "record/database.h"
#include "record/model.h"
#include "record/store.h"

namespace ebb::record {

void insert(Database& database, std::int64_t run, std::int64_t process, const Sampling& sampling);
void insert(Database& database, std::int64_t run, std::int64_t process, const Site& site);
/// The first name of a site stays.
void insert(Database& database, std::int64_t run, std::int64_t process, const SiteName& name);

/// Fills in samplings, sites and site_names. None where the file was written before there were such
/// tables, or where a process is no longer kept (`key_of` gives {0, 0}).
void read_sites(Database& database, std::int64_t run,
                const std::function<ProcessKey(std::int64_t)>& key_of, RecordedRun& into);

/// Removes what belongs to processes that are no longer kept.
void forget_sites(Database& database, std::int64_t run);

}  // namespace ebb::record
