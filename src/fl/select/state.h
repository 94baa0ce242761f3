// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace ebb::fl::select {

base::Json to_json(std::span<const double> numbers);
base::Json to_json(std::span<const std::uint32_t> numbers);

/// Code::bad_input unless a selector that remembers `remembered` clients meets as many again; 0
/// remembers none yet.
base::Status same_clients(std::size_t remembered, std::size_t now);

/// Reads what a selector's state() gave. Whatever is wrong first becomes the error of finish(); the
/// values read after that mean nothing. A key that nobody reads is wrong, too.
class StateReader {
 public:
  /// Both outlive it; `method` is the key that messages name.
  StateReader(const base::Json& state, std::string_view method) : state_(state), method_(method) {}

  double number(std::string_view key, double least, double most);
  std::uint32_t whole(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  std::vector<std::uint32_t> wholes(std::string_view key);
  std::string text(std::string_view key);
  /// Null where it is missing, which is wrong as well.
  base::Json value(std::string_view key);

  void require(bool holds, std::string_view expectation);
  base::Status finish();

 private:
  const base::Json& read(std::string_view key);

  const base::Json& state_;
  std::string_view method_;
  std::size_t keys_read_ = 0;
  std::string wrong_;
};

}  // namespace ebb::fl::select
