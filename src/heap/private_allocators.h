// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fact/private_allocator.h"
#include "heap/host_allocator.h"
#include "heap/private_copies.h"

namespace ebb::heap {

/// The allocators that libraries of this process bring for their own use: which there are, what
/// they hold, and how to make them give back. Belongs to one thread at a time. A forked child makes
/// its own: what a parent's thread was in the middle of is not whole there.
///
/// A library that is asked stays loaded for ever: its allocator keeps something for each thread
/// that called it.
class PrivateAllocators {
 public:
  /// rss of this process; nothing where it cannot be read.
  using Rss = std::function<std::optional<std::uint64_t>()>;

  /// Looks at libraries that were loaded since the last time. The first look reads the symbols of
  /// all of them, some ten milliseconds in a large process; later ones are free where nothing was
  /// loaded.
  void look();

  /// One that was found already, for a caller that looked itself.
  void add(const PrivateCopy& copy);

  /// What is known of each now.
  std::vector<fact::PrivateAllocator> read() const;

  /// What one gave back.
  struct Returned {
    std::string name;
    std::int64_t bytes = 0;  ///< rss before minus rss after; 0 where not known
    double seconds = 0;
  };

  /// Asks each to give back, on the calling thread, and measures what rss fell by. mimalloc, which
  /// does not care for forks, is left alone in a forked child.
  std::vector<Returned> give_back(const Rss& rss);

  /// Those that offer nothing to call were asked in some other way, with what rss was around it.
  void count_uncontrollable(std::optional<std::uint64_t> before,
                            std::optional<std::uint64_t> after);
  /// Whether there is one to be asked so; not in a forked child, where whoever asks would meet
  /// mimalloc as well.
  bool any_uncontrollable() const;

  /// What they have given back so far, together.
  std::uint64_t returned() const;
  bool empty() const { return found_.empty(); }

 private:
  struct Found {
    fact::PrivateAllocator known;
    std::shared_ptr<HostAllocator> controls;  ///< null where nothing can be called
  };

  std::uint64_t loaded_ = 0;
  std::set<std::pair<std::uint64_t, std::string>> seen_;
  std::vector<Found> found_;
};

}  // namespace ebb::heap
