// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/network.h"

namespace ebb::plan {

/// What flows through the layers of a network that somebody describes: whether each fits what comes
/// into it. What a network may have is bounded, so that no count of its bytes overflows. Without a
/// picture sizes are not known, and nothing is said of them. Code::bad_input begins with `where`.
class LayerFlow {
 public:
  LayerFlow(const std::optional<Picture>& picture, std::uint64_t classes)
      : picture_(picture), classes_(classes) {}

  std::uint64_t classes() const { return classes_; }

  /// That pictures and classes are sensible.
  base::Status begin() const;
  /// Through a layer; of a residual layer only that it has its place there.
  base::Status pass(const NetworkLayer& layer, const std::string& where);
  /// The same once more, to go around a residual layer's body.
  LayerFlow around() const;
  /// The end of a residual layer, whose body this went through, and `around` around it.
  base::Status join(const LayerFlow& around, const std::string& where);
  /// That classes come out.
  base::Status end() const;

 private:
  std::uint64_t values() const;
  base::Status measure(const NetworkLayer& layer, const std::string& where);
  base::Status convolve(const NetworkLayer& layer, const std::string& where);
  base::Status count(std::uint64_t parameters, const std::string& where);

  std::optional<Picture> picture_;
  std::uint64_t classes_;
  bool flat_ = false;             ///< a linear layer has been there
  std::uint64_t parameters_ = 0;  ///< until here
};

}  // namespace ebb::plan
