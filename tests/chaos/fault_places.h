// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Where a call comes from, under a name that is the same in each run of a program: the object's
// name and the offset in it. Of `malloc`, which few places call themselves, the name goes on with
// the next two callers that are neither SQLite's nor the C++ library's (`<` between them). Nothing
// here may be called from within a call of malloc that is counted.

/// Whether this place is seen for the first time. Thread-safe.
bool is_new_place(const void* caller);

/// Writes the name of the place, and of its callers.
void name_place(char* to, std::size_t room, const void* caller, bool with_callers);

/// The hash (FNV-1a) of the name with its callers. Thread-safe.
std::uint64_t hash_of_place(const void* caller);
