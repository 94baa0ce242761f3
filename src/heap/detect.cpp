// SPDX-License-Identifier: Apache-2.0
#include "heap/detect.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/fork.h"
#include "heap/loaded_objects.h"

namespace ebb::heap {
namespace {

/// The object that a call of malloc reaches. A program that takes the function's address may give
/// dlsym a stub of its own (non-PIE Pythons do), so an object counts only if it defines malloc; the
/// linker lists objects in its search order.
Detection look() {
  Detection detection;
  std::uint64_t entry = 0;
  std::vector<LoadedObject> objects;
  {
    const base::Lock lock(base::loader_calls());
    entry = reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, "malloc"));
    objects = loaded_objects();
  }
  std::stable_partition(objects.begin(), objects.end(), [&](const LoadedObject& object) {
    return entry >= object.start && entry < object.end;
  });
  for (const LoadedObject& object : objects) {
    base::Result<ElfFile> file = ElfFile::open(object.file);
    if (!file || !file->defined_dynamically("malloc") || only_samples(*file)) continue;
    detection.object = object.file;
    detection.load_address = object.start;
    detection.identity = identify_main(*file);
    return detection;
  }
  detection.note = "no loaded object defines malloc for others (a static program?)";
  return detection;
}

}  // namespace

const Detection& detect_here() {
  // Never destroyed: cleanups may run while the process takes itself apart.
  static std::atomic<const Detection*> detection;
  return base::made_once(detection, [] { return new Detection(look()); });
}

}  // namespace ebb::heap
