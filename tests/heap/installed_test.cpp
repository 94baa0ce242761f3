// SPDX-License-Identifier: Apache-2.0
#include "heap/installed.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/file.h"
#include "heap/library_cache.h"
#include "support/temporary_directory.h"

namespace ebb::heap {
namespace {

TEST(FindInstalled, FindsTheRealLibraries) {
  for (const AllocatorKind kind :
       {AllocatorKind::jemalloc, AllocatorKind::tcmalloc, AllocatorKind::mimalloc}) {
    const auto found = find_installed(kind);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(std::filesystem::exists(found->path));
    EXPECT_NE(found->path.find(name_of(kind)), std::string::npos);
  }
}

TEST(FindInstalled, NamesThePackageThatIsMissing) {
  const support::TemporaryDirectory empty;
  const auto found = find_installed(AllocatorKind::tcmalloc, empty.path());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::unavailable);
  EXPECT_EQ(found.error().message,
            "tcmalloc is not installed: apt install libtcmalloc-minimal4, dnf install "
            "gperftools-libs or apk add gperftools");
}

TEST(FindInstalled, DoesNotCallMissingWhatItCannotLookFor) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto found = find_installed(AllocatorKind::jemalloc);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::io);
  EXPECT_EQ(found.error().message,
            "cannot look for jemalloc: cannot open /proc/self/exe: Too many open files");
}

TEST(FindInstalled, FindsALibraryWithoutANumber) {
  const support::TemporaryDirectory root;
  const auto real = base::read_file(find_installed(AllocatorKind::jemalloc)->path);
  ASSERT_TRUE(real);
  root.write("usr/local/lib/libjemalloc.so-gdb.py", "no library");
  root.write("usr/local/lib/libjemalloc.so", *real);
  const auto found = find_installed(AllocatorKind::jemalloc, root.path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, "/usr/local/lib/libjemalloc.so");
}

TEST(FindInstalled, SearchesEveryArchitecturesFolderAndSkipsWhatCannotBeLoaded) {
  const support::TemporaryDirectory root;
  root.write("usr/lib/sparc64-linux-gnu/libjemalloc.so.2", "no ELF file at all");
  EXPECT_FALSE(find_installed(AllocatorKind::jemalloc, root.path()));
  const auto real = base::read_file(find_installed(AllocatorKind::jemalloc)->path);
  ASSERT_TRUE(real);
  root.write("usr/lib/some-linux-gnu/libjemalloc.so.2", *real);
  const auto found = find_installed(AllocatorKind::jemalloc, root.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "/usr/lib/some-linux-gnu/libjemalloc.so.2");
  std::string foreign = *real;
  foreign[18] = 2;  // e_machine: SPARC
  root.write("usr/lib/some-linux-gnu/libjemalloc.so.2", foreign);
  EXPECT_FALSE(find_installed(AllocatorKind::jemalloc, root.path()));
}

TEST(LibraryCache, ReadsTheRealOne) {
  const auto bytes = base::read_file("/etc/ld.so.cache");
  ASSERT_TRUE(bytes);
  const auto libraries = parse_library_cache(*bytes);
  ASSERT_TRUE(libraries);
  bool has_libc = false;
  for (const CachedLibrary& library : *libraries)
    has_libc |= library.soname == "libc.so.6";
  EXPECT_TRUE(has_libc);
}

TEST(LibraryCache, SurvivesTruncation) {
  const auto bytes = base::read_file("/etc/ld.so.cache");
  ASSERT_TRUE(bytes);
  for (std::size_t size = 0; size < std::min<std::size_t>(bytes->size(), 3000); ++size)
    static_cast<void>(parse_library_cache(std::string_view(*bytes).substr(0, size)));
  EXPECT_FALSE(parse_library_cache("glibc-ld.so.cache1.1"));
  EXPECT_FALSE(parse_library_cache(""));
}

}  // namespace
}  // namespace ebb::heap
