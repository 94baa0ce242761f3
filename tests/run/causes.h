// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ebb::run {

/// A program whose memory grows for one known reason, or does not: causes.py and causes.cpp.
struct Cause {
  bool is_python;
  std::string name;
  std::string verdict;
  std::string place;             ///< that grows; empty: none is named
  std::string on_jemalloc = {};  ///< another verdict there; "-": does not apply
  /// What it held when the kernel killed it, as a part of the last memory; empty: it would go on
  /// for ever in a group of 256 MiB, and another process has to fill that.
  std::string held = "live";
  const char* fast_pause = "0.0005";  ///< seconds between two steps of one that is to be killed

  std::string language() const { return is_python ? "Python" : "C++"; }
};

inline const std::vector<Cause>& causes() {
  static const std::vector<Cause> all = {
      {true, "cache", "leak", "causes.py:30 render"},
      {true, "history", "leak", "causes.py:45 note_metrics"},
      {true, "closure", "leak", "causes.py:52 subscribe"},
      {true, "thread", "leak", "causes.py:60 handle_request", "", "live", "0.002"},
      {true, "queue", "leak", "causes.py:7"},  // one of two lines beside each other
      // Slow: after the import of PyTorch samples are far apart for some seconds.
      {true, "graph", "leak", "causes.py:89 Training.loss", "", "live", "0.02"},
      {true, "copies", "copy_on_write", "", "", "copies"},
      {true, "shared", "file_cache", "causes.py:115 Shared.add", "", "shared"},
      {true, "pages", "healthy", "", "", ""},
      {true, "burst", "healthy", "", "", ""},
      {true, "healthy", "healthy", "", "", ""},
      {false, "cache", "leak", "causes.cpp:39 intake::look_up"},
      {false, "closure", "leak", "causes.cpp:43 intake::subscribe"},
      {false, "thread", "leak", "causes.cpp:48 intake::handle", "", "live", "0.002"},
      {false, "queue", "leak", "causes.cpp:55 intake::produce"},
      {false, "fragmentation", "fragmentation", "", "-", "retained", "0.004"},
      {false, "private", "private_allocator", "", "", ""},
      {false, "tmpfs", "file_cache", "", "", "shared"},
  };
  return all;
}

}  // namespace ebb::run
