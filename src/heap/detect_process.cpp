// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <deque>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "heap/detect.h"
#include "heap/mapped_objects.h"

namespace ebb::heap {
namespace {

using base::Code;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// A file that the process has mapped, and what it asks the dynamic linker for.
struct LinkedObject : MappedObject {
  std::string soname;
  std::vector<std::string> needed;
};

class ProcessObjects {
 public:
  ProcessObjects(std::string directory, const std::vector<Mapping>& mappings)
      : directory_(std::move(directory)) {
    for (MappedObject& mapped : mapped_objects(directory_, mappings)) {
      LinkedObject object{std::move(mapped), "", {}};
      if (base::Result<ElfFile> file = ElfFile::open(object.reachable)) {
        object.soname = file->soname();
        object.needed = file->needed();
      }
      objects_.push_back(std::move(object));
    }
  }

  /// The object that the dynamic linker found for a name in DT_NEEDED or LD_PRELOAD.
  const LinkedObject* find(std::string_view name) const {
    for (const LinkedObject& object : objects_)
      if (object.path == name) return &object;
    const std::string_view wanted = base_name(name);
    for (const LinkedObject& object : objects_)
      if (object.soname == wanted || base_name(object.path) == wanted) return &object;
    // A link such as libjemalloc.so -> libjemalloc.so.2: the same file under another name.
    struct stat linked {};
    if (name.find('/') == std::string_view::npos) return nullptr;
    if (::stat((directory_ + "/root" + std::string(name)).c_str(), &linked) != 0) return nullptr;
    for (const LinkedObject& object : objects_) {
      struct stat candidate {};
      if (::stat(object.reachable.c_str(), &candidate) == 0 && candidate.st_ino == linked.st_ino &&
          candidate.st_dev == linked.st_dev)
        return &object;
    }
    return nullptr;
  }

 private:
  std::string directory_;
  std::vector<LinkedObject> objects_;
};

std::vector<std::string> preloaded(const std::string& directory) {
  std::vector<std::string> names;
  const auto add_list = [&](std::string_view list) {
    std::string separated(list);
    std::replace(separated.begin(), separated.end(), ':', ' ');
    for (const std::string_view name : base::words(separated))
      names.emplace_back(name);
  };
  if (const auto environment = base::read_file(directory + "/environ")) {
    for (const std::string_view entry : base::split(*environment, '\0'))
      if (entry.starts_with("LD_PRELOAD=")) add_list(entry.substr(11));
  }
  if (const auto system_wide = base::read_file(directory + "/root/etc/ld.so.preload"))
    add_list(*system_wide);
  return names;
}

std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink(link.c_str(), buffer.data(), buffer.size());
  return length <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

/// The first object in the linker's search order that defines malloc wins: the program itself,
/// what was preloaded, then what they need, breadth first.
base::Result<Detection> first_with_malloc(const std::string& directory, ElfFile& program,
                                          const ProcessObjects& objects) {
  std::deque<std::string> order;
  std::set<std::string> queued;
  const auto enqueue = [&](const std::string& name) {
    if (queued.insert(name).second) order.push_back(name);
  };
  for (const std::string& name : preloaded(directory))
    enqueue(name);
  for (const std::string& name : program.needed())
    enqueue(name);
  const bool on_musl = program.interpreter().find("ld-musl-") != std::string::npos;
  while (!order.empty()) {
    const LinkedObject* object = objects.find(order.front());
    order.pop_front();
    if (object == nullptr) continue;
    base::Result<ElfFile> file = ElfFile::open(object->reachable);
    if (!file) continue;
    if (file->defined_dynamically("malloc") && !only_samples(*file)) {
      Detection detection{identify_main(*file), object->path, 0, ""};
      // musl's libc and its dynamic linker are one file, whose own name says nothing.
      if (on_musl && detection.kind() == AllocatorKind::unknown)
        detection.identity = {AllocatorKind::musl, Evidence::dynamic_symbol, "malloc", "", ""};
      if (object->soname == "libc.so.6" && detection.kind() == AllocatorKind::unknown)
        detection.identity = {AllocatorKind::glibc, Evidence::dynamic_symbol, "malloc", "", ""};
      return detection;
    }
    for (const std::string& name : object->needed)
      enqueue(name);
  }
  return Detection{{}, "", 0, "no loaded object defines malloc"};
}

}  // namespace

base::Result<Detection> detect_in(int pid, const std::string& proc) {
  const std::string directory = base::format_text("%s/%d", proc.c_str(), pid);
  const base::Result<std::vector<Mapping>> mappings = mappings_of(pid, proc);
  if (!mappings) return mappings.error();

  base::Result<ElfFile> program = ElfFile::open(directory + "/exe");
  if (!program && program.error().code == Code::bad_input)
    return Detection{{}, target_of(directory + "/exe"), 0, program.error().message};
  if (!program) return program.error();
  const bool is_static = program->interpreter().empty() && program->needed().empty();
  if (is_static || program->defined_dynamically("malloc"))
    return Detection{identify_main(*program), target_of(directory + "/exe"), 0,
                     is_static ? "static program" : ""};
  return first_with_malloc(directory, *program, ProcessObjects(directory, *mappings));
}

}  // namespace ebb::heap
