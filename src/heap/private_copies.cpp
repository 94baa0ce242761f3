// SPDX-License-Identifier: Apache-2.0
#include "heap/private_copies.h"

#include "base/fork.h"
#include "heap/mapped_objects.h"

namespace ebb::heap {
namespace {

void add_copies(const std::string& reachable, const std::string& object, std::uint64_t load_address,
                std::vector<PrivateCopy>& copies) {
  base::Result<ElfFile> file = ElfFile::open(reachable);
  if (!file) return;  // the vdso has no file
  for (Identity& identity : identify_private_copies(*file))
    copies.push_back({std::move(identity), object, load_address});
}

}  // namespace

std::string library_of(const PrivateCopy& copy) {
  return copy.object.substr(copy.object.rfind('/') + 1);
}

std::vector<PrivateCopy> private_copies_of(const LoadedObject& object) {
  std::vector<PrivateCopy> copies;
  if (object.file != detect_here().object)
    add_copies(object.file, object.file, object.start, copies);
  return copies;
}

std::vector<PrivateCopy> private_copies_here() {
  std::vector<LoadedObject> objects;
  {
    const base::Lock lock(base::loader_calls());
    objects = loaded_objects();
  }
  std::vector<PrivateCopy> copies;
  for (const LoadedObject& object : objects)
    for (PrivateCopy& copy : private_copies_of(object))
      copies.push_back(std::move(copy));
  return copies;
}

base::Result<std::vector<PrivateCopy>> private_copies_in(int pid, const std::string& proc) {
  const base::Result<Detection> main = detect_in(pid, proc);
  if (!main) return main.error();
  const base::Result<std::vector<MappedObject>> objects = mapped_objects(pid, proc);
  if (!objects) return objects.error();
  std::vector<PrivateCopy> copies;
  for (const MappedObject& object : *objects)
    if (object.path != main->object) add_copies(object.reachable, object.path, 0, copies);
  return copies;
}

}  // namespace ebb::heap
