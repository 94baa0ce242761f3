// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pack/byte_source.h"

namespace ebb::support {

/// A profile as pprof reads it: github.com/google/pprof, proto/profile.proto.
struct Pprof {
  struct Call {
    std::string function;
    std::string file;
    std::uint64_t line = 0;

    bool operator==(const Call&) const = default;
  };
  struct Sample {
    std::vector<Call> calls;  ///< the innermost first
    std::vector<std::uint64_t> values;
  };
  std::vector<std::string> types;  ///< "live in bytes"
  std::string shown_first;         ///< the type
  std::vector<Sample> samples;
};

/// One field of a message: a number, or bytes.
struct PprofField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};

/// Takes a number off the text. False where it ends before.
inline bool take_varint(std::string_view& text, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; !text.empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(text.front());
    text.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// All fields of a message; nothing where it is none.
inline std::optional<std::vector<PprofField>> pprof_fields(std::string_view text) {
  std::vector<PprofField> fields;
  while (!text.empty()) {
    PprofField field;
    std::uint64_t key = 0;
    if (!take_varint(text, key) || !take_varint(text, field.value)) return std::nullopt;
    field.number = key >> 3;
    if ((key & 7) == 2) {
      if (field.value > text.size()) return std::nullopt;
      field.bytes = text.substr(0, field.value);
      text.remove_prefix(field.value);
    } else if ((key & 7) != 0) {
      return std::nullopt;
    }
    fields.push_back(field);
  }
  return fields;
}

/// Reads the messages below a profile, all of whose references have to lead somewhere.
class PprofReader {
 public:
  std::optional<Pprof> read(std::string_view text) {
    const auto fields = pprof_fields(text);
    if (!fields) return std::nullopt;
    for (const PprofField& field : *fields) {
      if (field.number == 6) strings_.emplace_back(field.bytes);
    }
    // References lead forwards too.
    for (const PprofField& field : *fields)
      if (field.number == 5 && !add_function(field.bytes)) return std::nullopt;
    for (const PprofField& field : *fields)
      if (field.number == 4 && !add_location(field.bytes)) return std::nullopt;
    for (const PprofField& field : *fields) {
      if (field.number == 1 && !add_type(field.bytes)) return std::nullopt;
      if (field.number == 2 && !add_sample(field.bytes)) return std::nullopt;
      if (field.number == 14) found_.shown_first = string(field.value);
    }
    if (strings_.empty() || !strings_.front().empty() || is_lost_) return std::nullopt;
    return std::move(found_);
  }

 private:
  std::string string(std::uint64_t index) {
    is_lost_ = is_lost_ || index >= strings_.size();
    return is_lost_ ? "" : strings_[index];
  }

  bool add_type(std::string_view text) {
    const auto fields = pprof_fields(text);
    if (!fields || fields->size() != 2) return false;
    found_.types.push_back(string((*fields)[0].value) + " in " + string((*fields)[1].value));
    return true;
  }

  bool add_function(std::string_view text) {
    const auto fields = pprof_fields(text);
    if (!fields) return false;
    std::uint64_t id = 0;
    Pprof::Call call;
    for (const PprofField& field : *fields) {
      if (field.number == 1) id = field.value;
      if (field.number == 2) call.function = string(field.value);
      if (field.number == 4) call.file = string(field.value);
    }
    return id != 0 && functions_.emplace(id, call).second;
  }

  bool add_location(std::string_view text) {
    const auto fields = pprof_fields(text);
    if (!fields) return false;
    std::uint64_t id = 0;
    Pprof::Call call;
    for (const PprofField& field : *fields) {
      if (field.number == 1) id = field.value;
      if (field.number != 4) continue;
      const auto line = pprof_fields(field.bytes);
      if (!line || line->size() != 2 || !functions_.contains((*line)[0].value)) return false;
      call = functions_.at((*line)[0].value);
      call.line = (*line)[1].value;
    }
    return id != 0 && locations_.emplace(id, call).second;
  }

  bool add_sample(std::string_view text) {
    const auto fields = pprof_fields(text);
    if (!fields) return false;
    Pprof::Sample sample;
    for (const PprofField& field : *fields) {
      std::string_view packed = field.bytes;
      std::uint64_t value = 0;
      while (!packed.empty()) {
        if (!take_varint(packed, value)) return false;
        if (field.number == 2) sample.values.push_back(value);
        if (field.number != 1) continue;
        if (!locations_.contains(value)) return false;
        sample.calls.push_back(locations_.at(value));
      }
    }
    found_.samples.push_back(std::move(sample));
    return true;
  }

  std::vector<std::string> strings_;
  std::map<std::uint64_t, Pprof::Call> functions_;
  std::map<std::uint64_t, Pprof::Call> locations_;
  Pprof found_;
  bool is_lost_ = false;
};

/// The profile in a file, packed or not; nothing where it is none.
inline std::optional<Pprof> read_pprof(const std::string& path) {
  const auto source = pack::open_source(path);
  if (!source) return std::nullopt;
  std::string text;
  std::string piece(1 << 16, '\0');
  while (true) {
    const auto got = (*source)->read(piece.data(), piece.size());
    if (!got) return std::nullopt;
    if (*got == 0) break;
    text.append(piece, 0, *got);
  }
  return PprofReader().read(text);
}

}  // namespace ebb::support
