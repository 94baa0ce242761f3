// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/model.h"
#include "sites/table_view.h"

namespace ebb::run {

// A process's table of sites as rows of the record.

/// A process that becomes another program has another table, whose stacks are others: of so many
/// programs the sites of one process are told apart. The last one is of a table that nobody knows
/// the place of.
inline constexpr std::uint32_t kGenerations = 1 << 11;

/// What stands in the record for a stack of the `generation`th program of a process.
std::uint32_t site_number(std::uint32_t generation, std::uint32_t stack);

record::Sampling sampling_row(const sites::TableView& view, const record::ProcessKey& process,
                              double seconds);

/// Adds to `tracked` the stacks that hold enough to be recorded, the largest first, as long as
/// there is room; gives those that came.
std::set<std::uint32_t> track_largest(const sites::TableView& view,
                                      std::set<std::uint32_t>& tracked);

/// A row for each of them, also where it holds nothing any more.
std::vector<record::Site> site_rows(const sites::TableView& view,
                                    const std::set<std::uint32_t>& tracked,
                                    std::uint32_t generation, const record::ProcessKey& process,
                                    double seconds);

/// Names of stacks of the table at `path`; `root` and `until` as sites::named(). None where it
/// cannot be read.
std::vector<record::SiteName> site_names(const std::string& path,
                                         const std::set<std::uint32_t>& stacks,
                                         std::uint32_t generation,
                                         const record::ProcessKey& process, double seconds,
                                         const std::string& root,
                                         std::optional<double> until = std::nullopt);

/// "sites-PID-TIME", as a process names its table; the time is when it began, in nanoseconds of the
/// monotonic clock.
struct TableName {
  std::int32_t pid = 0;
  std::uint64_t time = 0;
};
std::optional<TableName> table_name(const std::string& file_name);

}  // namespace ebb::run
