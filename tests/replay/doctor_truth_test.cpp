// SPDX-License-Identifier: Apache-2.0
// Recorded runs of PyTorch that ended out of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "replay/certificate_history.h"
#include "replay/certificate_replay.h"
#include "replay/doctor_patient.h"
#include "trace/byte_source.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {
namespace {

base::Json read_json(const std::string& path) {
  auto source = trace::open_source(path);
  EXPECT_TRUE(source) << source.error().message;
  std::string text;
  std::vector<char> part(1 << 16);
  for (;;) {
    const auto count = (*source)->read(part.data(), part.size());
    EXPECT_TRUE(count) << count.error().message;
    if (*count == 0) break;
    text.append(part.data(), *count);
  }
  auto json = base::parse_json(text);
  EXPECT_TRUE(json) << json.error().message;
  return std::move(*json);
}

struct RecordedRun {
  std::string name;
  std::uint64_t limit = 0;
};

void PrintTo(const RecordedRun& run, std::ostream* out) {
  *out << run.name;
}

std::string file_of(const RecordedRun& run) {
  return std::string(EBB_TORCH_TRUTH) + "/runs/" + run.name + ".pickle.gz";
}

std::vector<RecordedRun> failed_runs() {
  std::vector<RecordedRun> runs;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(EBB_TORCH_TRUTH) + "/runs")) {
    const std::string path = entry.path();
    const std::string ending = ".json.gz";
    if (!path.ends_with(ending)) continue;
    const base::Json about = read_json(path);
    if (about.find("oom")->is_null()) continue;
    const std::string file = entry.path().filename();
    runs.push_back(
        {file.substr(0, file.size() - ending.size()), *about.find("cap_bytes")->as_unsigned()});
  }
  std::sort(runs.begin(), runs.end(),
            [](const RecordedRun& a, const RecordedRun& b) { return a.name < b.name; });
  return runs;
}

/// Most bytes that the job needed at once, from the recording alone.
std::uint64_t most_needed(const KnownBlocks& known) {
  std::map<std::int64_t, std::int64_t> changes;
  for (const auto& [name, block] : known) {
    changes[block.begin] += static_cast<std::int64_t>(block.needed());
    changes[block.freed] -= static_cast<std::int64_t>(block.needed());
  }
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const auto& [event, change] : changes) {
    live += change;
    most = std::max(most, live);
  }
  return static_cast<std::uint64_t>(most);
}

class DoctorOfFailedRuns : public testing::TestWithParam<RecordedRun> {};

TEST_P(DoctorOfFailedRuns, NamesTheCauseAndAFixThatFits) {
  const RecordedRun& run = GetParam();
  const auto snapshot = trace::read_snapshot(file_of(run));
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const Diagnosis found = examine(*snapshot, run.limit);
  const std::uint64_t needed = most_needed(blocks_in(*snapshot, 0));
  const bool too_much = needed > run.limit;
  EXPECT_EQ(found.verdict, too_much ? Verdict::capacity : Verdict::fragmentation);
  EXPECT_EQ(*found.evidence.find("kind")->as_string(), too_much ? "live_set" : "packing");
  EXPECT_EQ(found.confidence, "high");
  EXPECT_TRUE(has_also(found, Verdict::self_limit)) << "the device had more than 100 GiB free";
  EXPECT_FALSE(has_also(found, Verdict::leak));
  ASSERT_TRUE(found.fix.row);
  EXPECT_EQ(why_not_replayed(*snapshot, 0, run.limit,
                             base::Json::object({{"row", to_json(*found.fix.row)}})),
            "");
  std::printf("| %s | %s | %s | %s | %s | %s |\n", run.name.c_str(),
              base::bytes_text(run.limit).c_str(), base::bytes_text(needed).c_str(),
              name_of(found.verdict), found.evidence.find("kind")->as_string()->c_str(),
              found.fix.text.c_str());
}

std::string test_name(const testing::TestParamInfo<RecordedRun>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, DoctorOfFailedRuns, testing::ValuesIn(failed_runs()), test_name);

TEST(DoctorOfRecordedRuns, FindsALimitWhereNobodySaysIt) {
  for (const char* name : {"prefetch_streams.capexpandable", "fl_resnet18.captight"}) {
    const auto snapshot = trace::read_snapshot(file_of({name}));
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    const Diagnosis found = examine(*snapshot);
    EXPECT_EQ(found.verdict, Verdict::fragmentation) << name;
    EXPECT_EQ(found.confidence, "medium") << name;
    EXPECT_TRUE(has_also(found, Verdict::self_limit)) << name;
  }
}

}  // namespace
}  // namespace ebb::replay
