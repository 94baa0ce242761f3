// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fl/select/selector.h"

namespace ebb::fl {

/// Adds what was learned of a client, as bytes: 44, and its sketch.
///
///     number of the client, unanswered, participations, last round   4 bytes each
///     loss, loss_rms, gradient norm                                  8 bytes each
///     length of the sketch, the sketch                               4 bytes each
///
/// Without participations the numbers after them are 0.
void append_record(std::string& records, std::uint32_t id, const Client& client);

/// Takes the first record off `records` and into the client that it names. False where there is no
/// whole record, or none of these clients; nothing is taken then.
bool take_record(std::string_view& records, std::span<Client> clients);

}  // namespace ebb::fl
