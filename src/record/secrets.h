// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ebb::record {

// What of a command may stand in a record: names, not secrets.

/// The words of a command with "***" for what looks like a secret:
///
/// - the value of an option that is called password, token, secret or api-key, or ends so
///   (`--db-password x`, `--hf-token=x`);
/// - what is assigned to one of these names, or to one that ends in _KEY (`-e API_KEY=x`,
///   `?token=x`, `{"api_key": "x"}`);
/// - user and password in an address (`ssh://user:password@host`); in front of a web server also a
///   user alone, which is a token there.
///
/// What a word begins with, or an address, reaches to the end of the word, blanks and quotes
/// included:
/// `--password=two words`. All of it also inside of words, as those behind `sh -c` are; there a
/// value ends with its quotes or at a blank, as a shell, JSON (also in a string) and Python have
/// it. The words are those of the process: call this before they are joined.
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

/// What --private keeps of a command, in words or as a line: the name of its program.
std::vector<std::string> program_only(const std::vector<std::string>& words);
std::string program_only(const std::string& line);

}  // namespace ebb::record
