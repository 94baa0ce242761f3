// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ebb::trace {

/// Writes one value in Python's pickle format, protocol 4: dicts, lists, pairs, strings, numbers
/// and booleans, nothing that names or calls an object. Equal strings are written once. Values are
/// written in order: a dict's keys and values in turn between begin_dict and end_dict.
class PickleWriter {
 public:
  PickleWriter();

  void begin_dict();
  void end_dict();
  void begin_list();
  void end_list();
  /// After the two values of a tuple.
  void end_pair();

  void integer(std::int64_t value);
  void natural(std::uint64_t value);
  void real(double value);
  void boolean(bool value);
  void text(std::string_view value);

  /// The finished pickle; the writer is empty afterwards.
  std::string finish() &&;

 private:
  void raw(char opcode) { out_ += opcode; }
  void little_endian(std::uint64_t value, int bytes);

  std::string out_;
  std::unordered_map<std::string, std::uint32_t> memo_;
};

}  // namespace ebb::trace
