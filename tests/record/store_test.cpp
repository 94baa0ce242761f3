// SPDX-License-Identifier: Apache-2.0
#include "record/store.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "record/liveness.h"
#include "record/runs.h"
#include "record/schema.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace ebb::record {
namespace {

std::int64_t record_run(const std::string& path, const std::string& name, int samples = 3) {
  const auto writer = begin(path, run_named(name));
  for (int i = 0; i < samples; ++i)
    writer->add(sample_of(kMain, i, kMiB));
  writer->end(ended(run_named(name)));
  support::wait_until_alone();  // on a busy machine the writer's thread has the rest to write
  return writer->run_id();
}

TEST(Store, FindsRunsByNumberByNameAndTheLast) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const std::int64_t first = record_run(path, "train");
  const std::int64_t second = record_run(path, "train");
  const std::int64_t third = record_run(path, "eval");
  const std::int64_t fourth = record_run(path, "77");
  Store store = opened(path);
  EXPECT_EQ(store.runs()->size(), 4U);
  EXPECT_EQ(store.runs()->front().run.id, fourth) << "the newest first";
  EXPECT_EQ(store.find(std::to_string(first))->run.id, first);
  EXPECT_EQ(store.find("train")->run.id, second) << "the newest of that name";
  EXPECT_EQ(store.find("eval")->run.id, third);
  EXPECT_EQ(store.find("last")->run.id, fourth);
  EXPECT_EQ(store.find("77")->run.id, fourth) << "a name of digits where no number is so";
  for (const char* wrong : {"nope", "", "-1", "99999999999999999999", "eva"})
    EXPECT_EQ(store.find(wrong).error().code, base::Code::not_found) << wrong;
  EXPECT_EQ(store.read(12345).error().code, base::Code::not_found);
}

TEST(Store, KeepsSitesAndWhatTheyAreCalled) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const fact::SiteStack frames = {{"read_input", "/src/a.c", 23, "/bin/job"},
                                  {"main", "", 0, "/bin/job"},
                                  {"load", "a.py", 4, ""}};
  {
    const auto writer = begin(path, run_named("sites"));
    writer->add(sample_of(kMain, 1, kMiB));
    writer->add(Sampling{kMain, 2, 5 * kMiB, 10, 1, 2, 0.25});
    writer->add(SiteName{kMain, 2, 4104, frames});
    writer->add(SiteName{kMain, 3, 4104, {}});
    writer->add(Site{kMain, 2, 4104, 4 * kMiB, kMiB, 8});
    writer->end(ended(run_named("sites")));
  }
  Store store = opened(path);
  const auto read = store.read(store.find("sites")->run.id);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->samplings.size(), 1U);
  EXPECT_EQ(read->samplings[0].process, kMain);
  EXPECT_EQ(read->samplings[0].bytes, 5 * kMiB);
  EXPECT_EQ(read->samplings[0].spent_seconds, 0.25);
  ASSERT_EQ(read->sites.size(), 1U);
  EXPECT_EQ(read->sites[0].bytes, 4 * kMiB);
  EXPECT_EQ(read->sites[0].error, kMiB);
  ASSERT_EQ(read->site_names.size(), 1U);
  EXPECT_EQ(read->site_names[0].frames, frames) << "the first name stays";
  ASSERT_TRUE(store.remove({read->summary.run.id}));
  auto database = Database::open(path, Database::Mode::write, 1000);
  ASSERT_TRUE(database);
  for (const char* table : {"samplings", "sites", "site_names"})
    EXPECT_EQ(database->number((std::string("SELECT count(*) FROM ") + table).c_str()), 0) << table;
}

TEST(Store, RemovesARunWithAllThatBelongsToIt) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const std::int64_t kept = record_run(path, "kept");
  const std::int64_t gone = record_run(path, "gone", 15'000);
  const auto size = std::filesystem::file_size(path);
  Store store = opened(path);
  EXPECT_EQ(store.remove({gone, 999}).error().code, base::Code::not_found);
  ASSERT_TRUE(store.read(gone)) << "all or none";
  ASSERT_TRUE(store.remove({gone}));
  EXPECT_EQ(store.remove({gone}).error().code, base::Code::not_found);
  EXPECT_EQ(store.read(gone).error().code, base::Code::not_found);
  EXPECT_EQ(store.read(kept)->processes.at(0).readings.size(), 3U);
  EXPECT_GT(record_run(path, "next"), gone) << "a number is never given twice";
  EXPECT_LT(std::filesystem::file_size(path), size / 2) << "the disk gets its room back";
  EXPECT_EQ(integrity(path), "ok");
}

TEST(Store, ReadingWhereNothingIsSaysSo) {
  const support::TemporaryDirectory folder;
  EXPECT_EQ(Store::open(folder / "none.db").error().code, base::Code::not_found);
  // The first write of whoever made it failed.
  const base::Error empty = Store::open(folder.write("empty.db", "")).error();
  EXPECT_EQ(empty.code, base::Code::bad_input);
  EXPECT_NE(empty.message.find("the file is empty"), std::string::npos) << empty.message;
  EXPECT_FALSE(Store::open(folder.path()));
}

TEST(Store, ReadsARecordThatLiesWhereNobodyCanWrite) {
  const support::TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "disk");
  const std::string path = folder / "disk/a%20b?.db";
  support::wait_until_alone();
  const std::string said = support::said_by_child([&]() -> std::string {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return "not permitted";
    const std::string disk = folder / "disk";
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=8m") != 0) return "not permitted";
    record_run(path, "kept");
    if (mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)
      return "not permitted";
    auto store = Store::open(path);
    if (!store) return store.error().message;
    const auto run = store->find("kept");
    return run ? run->run.name : run.error().message;
  });
  if (said == "not permitted") GTEST_SKIP() << "no disk can be mounted here";
  EXPECT_EQ(said, "kept");
}

TEST(Store, KnowsItsPlace) {
  const auto place = [](const char* state, const char* home) {
    return support::said_by_child([&]() -> std::string {
      state == nullptr ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", state, 1);
      home == nullptr ? unsetenv("HOME") : setenv("HOME", home, 1);
      const auto path = default_path();
      return path ? *path : name_of(path.error().code);
    });
  };
  EXPECT_EQ(place("/state", "/home/a"), "/state/ebb/runs.db");
  EXPECT_EQ(place(nullptr, "/home/a"), "/home/a/.local/state/ebb/runs.db");
  EXPECT_EQ(place("relative", "/home/a"), "/home/a/.local/state/ebb/runs.db");
  EXPECT_EQ(place(nullptr, nullptr), "unavailable");
}

TEST(Store, KeepsTheLastThatIsKnownOfAPrivateAllocator) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  fact::PrivateAllocator one{"jemalloc", "lib.so", "_rjem_", true};
  {
    auto writer = Writer::begin(path, run_named("x"));
    ASSERT_TRUE(writer);
    Process process;
    process.pid = 7;
    process.start = 70;
    (*writer)->add(process);
    (*writer)->add(Beside{process.key(), 1, one});
    one.retained = 12;
    one.asked = 2;
    one.returned = 5;
    (*writer)->add(Beside{process.key(), 2.5, one});
    (*writer)->end(ended(run_named("x")));
  }
  auto store = Store::open(path);
  ASSERT_TRUE(store);
  const auto read = store->read(1);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->beside.size(), 1U);
  EXPECT_EQ(read->beside[0].allocator, one) << "also that live is not known";
  EXPECT_EQ(read->beside[0].process, (ProcessKey{7, 70}));
  EXPECT_EQ(read->beside[0].seconds, 2.5);
  ASSERT_TRUE(store->remove({1}));
  auto database = open_for_reading(path);
  EXPECT_EQ(database->number("SELECT count(*) FROM private_allocators"), 0);
}

TEST(Store, KeepsTheLastOfEachCard) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const fact::CardSample card{3, {100, 50, 40, 20, 15, 5}};
  {
    const auto writer = begin(path, run_named("x"));
    writer->add(process_of(kMain));
    writer->add(DeviceSample{std::nullopt, 1, {0, {100, 60, 0, 0}}});
    writer->add(DeviceSample{kMain, 1, {3, {100, 70, 0, 0}}});
    writer->add(DeviceSample{kMain, 2.5, card});
    writer->end(ended(run_named("x")));
  }
  Store store = opened(path);
  const auto found = store.read(1);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->devices.size(), 2U);
  EXPECT_FALSE(found->devices[0].process) << "the machine's";
  EXPECT_FALSE(found->devices[0].card.memory.live) << "which it does not tell";
  EXPECT_EQ(found->devices[1].process, kMain);
  EXPECT_EQ(found->devices[1].seconds, 2.5);
  EXPECT_EQ(found->devices[1].card, card);
  ASSERT_TRUE(store.remove({1}));
  EXPECT_EQ(open_for_reading(path)->number("SELECT count(*) FROM devices"), 0);
}

TEST(Store, TellsWhatRunsNowAndWhatIsNew) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  begin(path, run_named("over"))->end(ended(run_named("over")));
  const auto writer = begin(path, run_named("now"));
  writer->add(process_of(kMain));
  for (int i = 0; i < 10; ++i)
    writer->add(sample_of(kMain, i, kMiB));
  Store store = opened(path);
  const auto running = store.running();
  ASSERT_TRUE(running) << running.error().message;
  ASSERT_EQ(running->size(), 1U);
  EXPECT_EQ(running->at(0).run.name, "now");
  writer->end(ended(run_named("now")));
  const auto recent = store.recent(2, 7);
  ASSERT_TRUE(recent) << recent.error().message;
  ASSERT_EQ(recent->processes.size(), 1U);
  EXPECT_EQ(recent->processes[0].number, 1);
  ASSERT_EQ(recent->processes[0].readings.size(), 3U);
  EXPECT_EQ(recent->processes[0].readings[0].seconds, 7);
  EXPECT_TRUE(store.running()->empty());
  EXPECT_FALSE(store.recent(3, 0));
}

TEST(Store, KeepsNamesAndCommandsThatAreNotUtf8) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("n\xFF");
  run.command = {"sh", "\xFE"};
  {
    auto writer = begin(path, run);
    writer->add(process_of(kMain, "sh \xFE"));
    writer->add(process_of(kWorker, "worker"));
    writer->add(Event{1, "warn", "about \xFD", kMain});
    writer->end(ended(run));
  }
  const RecordedRun found = read(path, "n\xFF");
  EXPECT_EQ(found.summary.run.name, "n\xFF");
  EXPECT_EQ(found.summary.run.command, run.command);
  EXPECT_EQ(found.processes[0].process.command, "sh \xFE");
  EXPECT_EQ(found.processes[1].process.command, "worker");
  EXPECT_EQ(found.events[0].text, "about \uFFFD");
  auto database = open_for_reading(path);
  std::string all;
  database->each("SELECT name || command FROM runs UNION SELECT command FROM processes",
                 [&](const Row& row) { all += row.text(0) + "\n"; });
  EXPECT_EQ(all, "n\uFFFD[\"sh\",\"\uFFFD\"]\nsh \uFFFD\nworker\n");
  EXPECT_EQ(database->number("SELECT count(*) FROM originals"), 2);
  Store store = opened(path);
  ASSERT_TRUE(store.remove({found.summary.run.id}));
  EXPECT_EQ(open_for_reading(path)->number("SELECT count(*) FROM originals"), 0);
}

TEST(Store, AnOriginalOfAnotherCommandIsNotItsOwn) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const record::Run run = run_named("x");
  auto file = RunFile::begin(path, run);
  ASSERT_TRUE(file);
  Batch batch;
  batch.processes = {process_of(kMain, "sh \xFE")};
  ASSERT_TRUE(file->write(batch));
  batch.processes = {process_of(kMain, "python3")};
  ASSERT_TRUE(file->write(batch));
  EXPECT_EQ(read(path).processes[0].process.command, "python3") << "since it became that";
}

TEST(Store, ARecordIsMadeWhereALinkLeads) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "link.db";
  std::filesystem::create_directories(folder / "there");
  std::filesystem::create_symlink("there/runs.db", path);
  record_run(path, "x");
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(read(folder / "there/runs.db").summary.run.name, "x");
}

TEST(Store, WhatIsNoFileIsRefusedAndLeftAlone) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", folder / "null");
  for (const std::string& place : {path, folder / "null", folder.path()}) {
    for (const base::Error& error :
         {Store::open(place).error(), Writer::begin(place, run_named("x")).error()}) {
      EXPECT_EQ(error.code, base::Code::bad_input);
      EXPECT_NE(error.message.find(place + ": no file"), std::string::npos) << error.message;
    }
  }
  const std::filesystem::directory_iterator entries(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2) << "nothing is left beside them";
}

TEST(Schema, ANewerOneIsRefusedInOneLine) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record_run(path, "x");
  {
    auto database = Database::open(path, Database::Mode::write, 1000);
    ASSERT_TRUE(database && database->script("PRAGMA user_version = 99"));
  }
  for (const base::Error& error :
       {Store::open(path).error(), Writer::begin(path, run_named("y")).error()}) {
    EXPECT_EQ(error.code, base::Code::bad_input);
    EXPECT_NE(error.message.find("newer ebb (schema 99, expected " +
                                 std::to_string(kSchemaVersion) + " or older)"),
              std::string::npos)
        << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
  }
}

TEST(Schema, AnotherProgramsDatabaseIsRefusedAndNotTouched) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.write("other.db", "");
  {
    auto database = Database::open(path, Database::Mode::write, 1000);
    ASSERT_TRUE(database && database->script("CREATE TABLE t(x); INSERT INTO t VALUES(7)"));
  }
  EXPECT_EQ(Store::open(path).error().code, base::Code::bad_input);
  EXPECT_EQ(Writer::begin(path, run_named("y")).error().code, base::Code::bad_input);
  auto database = Database::open(path, Database::Mode::write, 1000);
  EXPECT_EQ(database->number("SELECT count(*) FROM sqlite_master"), 1);
  EXPECT_EQ(database->number("SELECT x FROM t"), 7);
}

TEST(Store, TellsAKilledRecorderFromAMachineThatWasRestarted) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record_run(path, "x");
  const std::string here = this_writer();
  const std::string boot = here.substr(0, here.find('/'));
  ASSERT_FALSE(boot.empty());
  const std::string ended = here.substr(boot.size(), here.find(' ') - boot.size()) + " 4194304 1";
  const std::string other_boot = "00000000-0000-4000-8000-000000000000";
  const auto of = [&](const std::string& writer, const std::string& host) {
    {
      auto database = Database::open(path, Database::Mode::write, 1000);
      database->run("UPDATE runs SET ended = NULL, seen = 0, writer = ?, host = ?", writer, host);
      EXPECT_FALSE(database->failed());
    }
    auto store = Store::open(path);
    const RunSummary found = store->find("x").value();
    EXPECT_EQ(found.state, State::lost) << writer;
    return found.cut_by;
  };
  EXPECT_EQ(of(boot + ended, this_host()), CutBy::kill);
  EXPECT_EQ(of(boot + "/pid:[1] 7 1", "a container"), CutBy::kill) << "on the same kernel";
  EXPECT_EQ(of(other_boot + ended, this_host()), CutBy::restart);
  EXPECT_EQ(of(other_boot + ended, "another machine"), CutBy::unknown);
  EXPECT_EQ(of(" 7 1", this_host()), CutBy::unknown) << "it could not be seen";
}

TEST(Schema, IsWhatTheDocumentationNames) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record_run(path, "x");
  auto database = open_for_reading(path);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->number("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(database->number("PRAGMA auto_vacuum"), 2);
  std::string tables;
  database->each(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
      "ORDER BY name",
      [&](const Row& row) { tables += row.text(0) + " "; });
  EXPECT_EQ(tables,
            "actions buckets deaths devices events mapped originals peaks place private_allocators "
            "processes "
            "rounds runs samples samplings simulated_rounds simulations site_names sites ");
}

/// What an Ebb before version 2 would have written.
void make_version_1(const std::string& path) {
  auto database = Database::open(path, Database::Mode::write, 1000);
  ASSERT_TRUE(database);
  std::string script =
      "ALTER TABLE runs DROP COLUMN peak_group; ALTER TABLE actions DROP COLUMN devices;";
  for (const char* table :
       {"deaths", "samplings", "sites", "site_names", "originals", "peaks", "private_allocators",
        "devices", "simulations", "simulated_rounds", "mapped"})
    script += std::string("DROP TABLE ") + table + ";";
  for (const char* part : {"uss", "shared"}) {
    script += std::string("ALTER TABLE samples DROP COLUMN ") + part + ";";
    for (const char* suffix : {"_low", "_mean", "_high"})
      script += std::string("ALTER TABLE buckets DROP COLUMN ") + part + suffix + ";";
  }
  for (const fact::GroupPart& part : fact::kGroupParts)
    script += std::string("ALTER TABLE place DROP COLUMN ") + part.name + ";";
  ASSERT_TRUE(database->script((script + "PRAGMA user_version = 1").c_str()))
      << database->take_failure().message;
}

TEST(Store, KeepsWhyARunDiedAndWhatItsGroupHeld) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  auto file = RunFile::begin(path, run_named("x"));
  ASSERT_TRUE(file);
  Batch batch;
  PlaceSample place;
  place.seconds = 3;
  place.used = place.limit = 256U << 20;
  place.group.usage = 256U << 20;
  place.group.anon = 200U << 20;
  place.group.page_tables = 1U << 20;
  batch.places.push_back(place);
  ASSERT_TRUE(file->write(batch));
  record::Run end = run_named("x");
  end.ended = end.started + 4;
  end.signal = 9;
  end.ending = fact::RunEnd::out_of_memory;
  end.death.emplace();
  end.death->by = fact::Killer::cgroup;
  end.death->group = "/jobs/a";
  end.death->findings = {"its control group counts 1 process killed for memory in this run"};
  ASSERT_TRUE(file->finish(end));
  const RecordedRun found = read(path, "x");
  EXPECT_EQ(found.summary.run.death, end.death);
  EXPECT_EQ(found.place.at(0).now.group, place.group);
  auto store = Store::open(path);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->runs()->at(0).run.death, end.death);
  ASSERT_TRUE(store->remove({found.summary.run.id}));
  EXPECT_EQ(open_for_reading(path)->number("SELECT count(*) FROM deaths"), 0);
}

TEST(Schema, AnOlderOneIsReadAsItIsAndBroughtUpToDateByTheNextRun) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record_run(path, "before");
  make_version_1(path);
  const RecordedRun before = read(path, "before");
  ASSERT_FALSE(before.processes.empty());
  ASSERT_FALSE(before.processes[0].readings.empty());
  EXPECT_GT(before.processes[0].readings[0].rss.value_or(Extent{}).high, 0U);
  EXPECT_FALSE(before.processes[0].readings[0].uss);
  EXPECT_FALSE(before.processes[0].process.peak_rss) << "nobody asked the kernel then";
  EXPECT_FALSE(before.summary.run.peak_group);
  EXPECT_TRUE(before.beside.empty());
  EXPECT_TRUE(before.devices.empty());
  EXPECT_TRUE(before.mapped.empty());
  record_run(path, "after");
  EXPECT_EQ(open_for_reading(path)->number("PRAGMA user_version"), kSchemaVersion);
  const RecordedRun again = read(path, "before");
  EXPECT_EQ(again.processes[0].readings.size(), before.processes[0].readings.size());
  EXPECT_TRUE(read(path, "after").processes[0].process.peak_rss);
  EXPECT_EQ(integrity(path), "ok");
}

TEST(Store, KeepsTheLastThatWasReadOfMappings) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  fact::MappedParts parts;
  parts.stacks = 3 * kMiB;
  parts.pinned = 20 * kMiB;
  parts.pinned_shared = 5 * kMiB;
  {
    const auto writer = begin(path, run_named("x"));
    writer->add(process_of(kMain));
    writer->add(process_of(kWorker));
    writer->add(Mapped{kMain, 1, {}});
    writer->add(Mapped{kMain, 2.5, parts});
    writer->add(Mapped{kWorker, 2, {}});
    writer->end(ended(run_named("x")));
  }
  Store store = opened(path);
  const auto found = store.read(1);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->mapped.size(), 2U);
  EXPECT_EQ(found->mapped[0].process, kMain);
  EXPECT_EQ(found->mapped[0].seconds, 2.5);
  EXPECT_EQ(found->mapped[0].parts, parts);
  EXPECT_EQ(found->mapped[1].parts, fact::MappedParts{}) << "what is not known is no number";
  ASSERT_TRUE(store.remove({1}));
  EXPECT_EQ(open_for_reading(path)->number("SELECT count(*) FROM mapped"), 0);
}

TEST(Store, KeepsTheKernelsPeaks) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  record::Run run = run_named("x");
  auto file = RunFile::begin(path, run);
  ASSERT_TRUE(file);
  Batch batch;
  batch.processes = {process_of(kMain), process_of(kWorker)};
  Sample first = sample_of(kMain, 1, 100 * kMiB);
  first.peak_rss = 300 * kMiB;  // between two samples
  Sample last = sample_of(kMain, 2, 90 * kMiB);
  last.peak_rss = 20 * kMiB;  // somebody had it forgotten
  batch.samples = {first, sample_of(kWorker, 1, 50 * kMiB), last};
  ASSERT_TRUE(file->write(batch));
  Batch later;  // what the kernel said when the worker ended
  later.processes = {process_of(kWorker)};
  later.processes[0].peak_rss = 70 * kMiB;
  ASSERT_TRUE(file->write(later));
  run = ended(run);
  run.peak_group = 500 * kMiB;
  ASSERT_TRUE(file->finish(run));
  const RecordedRun found = read(path, "x");
  EXPECT_EQ(found.processes.at(0).process.peak_rss, 300 * kMiB);
  EXPECT_EQ(found.processes.at(1).process.peak_rss, 70 * kMiB);
  EXPECT_EQ(found.summary.peak_process_rss, 300 * kMiB);
  EXPECT_EQ(found.summary.peak_rss, 300 * kMiB) << "of all together at least that of one";
  EXPECT_EQ(found.summary.run.peak_group, 500 * kMiB);
  auto store = Store::open(path);
  ASSERT_TRUE(store && store->remove({found.summary.run.id}));
  EXPECT_EQ(open_for_reading(path)->number("SELECT count(*) FROM peaks"), 0);
}

TEST(Database, TheFirstFailureSticksUntilItIsTaken) {
  const support::TemporaryDirectory folder;
  auto database = Database::open(folder.write("x.db", ""), Database::Mode::write, 100);
  ASSERT_TRUE(database);
  EXPECT_FALSE(database->run("SELECT x FROM nowhere"));
  EXPECT_FALSE(database->script("CREATE TABLE t(x)")) << "refused until somebody looks";
  const std::string message = database->take_failure().message;
  EXPECT_NE(message.find("nowhere"), std::string::npos) << message;
  EXPECT_TRUE(database->script("CREATE TABLE t(x)"));
  const auto undone = in_transaction(*database, [&] {
    database->run("INSERT INTO t VALUES(?)", 1);
    return database->run("INSERT INTO nowhere VALUES(1)");
  });
  EXPECT_FALSE(undone);
  EXPECT_EQ(database->number("SELECT count(*) FROM t"), 0);
}

TEST(Liveness, TellsThisProcessFromOneThatIsGone) {
  EXPECT_EQ(is_there(this_writer()), true);
  EXPECT_EQ(is_there(support::said_by_child([] { return this_writer(); })), false);
  support::WaitingChild zombie;
  const std::string here = this_writer();
  const std::string of_zombie = here.substr(0, here.find(' ') + 1) + std::to_string(zombie.pid());
  zombie.end();
  EXPECT_EQ(is_there(of_zombie + " 1"), false);
  EXPECT_EQ(is_there("another-boot/pid:[1] 1 1"), std::nullopt);
  EXPECT_EQ(is_there(""), std::nullopt);
}

}  // namespace
}  // namespace ebb::record
