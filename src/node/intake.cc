#include "node/intake.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "covey/base/sha256.h"
#include "covey/log/log.h"
#include "covey/store/file_system.h"

namespace covey::node {
namespace {

// Kinds of records. Every record: kind, source and mark with a length of 16 bits each, then
//   samples, kept   u32 count, then for each label or targets, and values
//   seen            two numbers of 64 bits
constexpr std::uint8_t kSamples = 1;  // have arrived
constexpr std::uint8_t kKept = 2;     // are what is left of earlier ones
constexpr std::uint8_t kSeen = 3;     // how many earlier ones there were
constexpr std::uint64_t kShortestWorthwhile = std::uint64_t{1} << 20;

static_assert(data::kMaxLiveSample.value + Intake::kBatchBytes + 3 * 65536 <=
              store::Journal::kMaxRecord);

void PutText(std::vector<std::byte>& to, const std::string& text) {
  std::byte length[2];
  StoreLittle(length, static_cast<std::uint16_t>(text.size()));
  to.insert(to.end(), length, length + 2);
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  to.insert(to.end(), bytes, bytes + text.size());
}

bool TakeText(ByteView& from, std::string& text) {
  if (from.size() < 2) return false;
  const auto length = LoadLittle<std::uint16_t>(from.data());
  if (from.size() < 2u + length) return false;
  text.assign(reinterpret_cast<const char*>(from.data()) + 2, length);
  from = from.subspan(2u + length);
  return true;
}

template <class T>
void PutNumber(std::vector<std::byte>& to, T value) {
  std::byte bytes[sizeof value];
  StoreLittle(bytes, value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

void PutFloats(std::vector<std::byte>& to, std::span<const float> values) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
  to.insert(to.end(), bytes, bytes + values.size_bytes());
}

tl::unexpected<Error> Unreadable() {
  return Fail(ErrorCode::kData, "live.journal", "has a record that can't be read",
              "move the file aside to begin without it");
}

std::uint64_t FormOf(const data::LiveForm& form) {
  return Sha256::Of("live " + std::to_string(form.like.features()) + ' ' +
                    std::to_string(form.like.outputs()) + ' ' + std::to_string(form.classes) +
                    data::Canonical(form.like.feature_names()) +
                    data::Canonical(form.like.label_names()))
      .Prefix();
}

}  // namespace

void LiveBatch::Add(const data::LiveSample& sample) {
  values.insert(values.end(), sample.values.begin(), sample.values.end());
  labels.push_back(sample.label);
  targets.insert(targets.end(), sample.targets.begin(), sample.targets.end());
}

void LiveBatch::Clear() {
  values.clear();
  labels.clear();
  targets.clear();
}

Intake::Intake(const setup::Assembly& assembly, const data::LiveSettings& settings)
    : settings_(settings),
      shard_(*assembly.live, settings, assembly.data.shard, assembly.data.validation) {
  report_.start_at = settings.start_at;
}

Result<std::unique_ptr<Intake>> Intake::Open(const config::NodeConfig& config,
                                             const setup::Assembly& assembly) {
  std::unique_ptr<Intake> intake(new Intake(assembly, *config.data.live));
  if (Status made = store::MakeFolder(config.node.state_dir); !made) {
    return tl::unexpected(made.error());
  }
  const std::string path = config.node.state_dir + "/live.journal";
  auto journal = store::Journal::Open(path, FormOf(intake->form()),
                                      [&](ByteView record) { return intake->Replay(record); });
  if (!journal) return tl::unexpected(journal.error());
  if (journal->lost() > 0) {
    log::Warning(log::Category::kData, "left out the end of a journal, which was never confirmed",
                 {{"path", path}, {"bytes", journal->lost()}});
  }
  intake->journal_.emplace(std::move(*journal));
  return intake;
}

std::size_t Intake::SampleBytes() const {
  const data::Dataset& like = form().like;
  return sizeof(float) * (like.features() + std::max<std::size_t>(like.outputs(), 1));
}

std::vector<std::byte> Intake::Encode(const LiveBatch& batch, std::uint8_t kind,
                                      const std::string& source, const std::string& mark) const {
  const std::size_t features = form().like.features();
  const std::size_t outputs = form().like.outputs();
  std::vector<std::byte> record;
  record.reserve(16 + source.size() + mark.size() + batch.size() * SampleBytes());
  PutNumber(record, kind);
  PutText(record, source);
  PutText(record, mark);
  PutNumber(record, static_cast<std::uint32_t>(batch.size()));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (outputs == 0) PutNumber(record, batch.labels[i]);
    PutFloats(record, std::span(batch.targets).subspan(i * outputs, outputs));
    PutFloats(record, std::span(batch.values).subspan(i * features, features));
  }
  return record;
}

Status Intake::Replay(ByteView record) {
  if (record.empty()) return Unreadable();
  const auto kind = static_cast<std::uint8_t>(record[0]);
  record = record.subspan(1);
  std::string source, mark;
  if (!TakeText(record, source) || !TakeText(record, mark)) return Unreadable();
  if (!source.empty()) marks_[source] = mark;
  if (kind == kSeen) {
    if (record.size() != 16) return Unreadable();
    shard_.SetSeen(
        {LoadLittle<std::uint64_t>(record.data()), LoadLittle<std::uint64_t>(record.data() + 8)});
    return {};
  }
  if ((kind != kSamples && kind != kKept) || record.size() < 4) return Unreadable();
  const auto count = LoadLittle<std::uint32_t>(record.data());
  record = record.subspan(4);
  if (record.size() != count * SampleBytes()) return Unreadable();
  const std::size_t outputs = form().like.outputs();
  std::vector<float> targets(outputs), values(form().like.features());
  for (std::uint32_t i = 0; i < count; ++i) {
    data::LiveSample sample;
    if (outputs == 0) {
      sample.label = LoadLittle<std::uint32_t>(record.data());
    } else {
      std::memcpy(targets.data(), record.data(), outputs * sizeof(float));
    }
    record = record.subspan(std::max<std::size_t>(outputs, 1) * sizeof(float));
    std::memcpy(values.data(), record.data(), values.size() * sizeof(float));
    record = record.subspan(values.size() * sizeof(float));
    sample.values = values;
    sample.targets = targets;
    if (Status good = shard_.Check(sample); !good) return Unreadable();
    shard_.Add(sample);
  }
  return {};
}

Status Intake::Commit(const LiveBatch& batch, const std::string& source, const std::string& mark) {
  const std::lock_guard lock(mutex_);
  return CommitLocked(batch, source, mark);
}

Status Intake::CommitLocked(const LiveBatch& batch, const std::string& source,
                            const std::string& mark) {
  if (Status kept = journal_->Append(Encode(batch, kSamples, source, mark)); !kept) return kept;
  if (!source.empty()) marks_[source] = mark;
  const std::size_t features = form().like.features();
  const std::size_t outputs = form().like.outputs();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    shard_.Add({.values = std::span(batch.values).subspan(i * features, features),
                .label = batch.labels[i],
                .targets = std::span(batch.targets).subspan(i * outputs, outputs)});
  }
  if (batch.size() > 0) {
    report_.accepted += batch.size();
    last_at_ = clock_.Now();
    changed_ = true;
  }
  const std::uint64_t kept = (shard_.to_train() + shard_.set_aside()) * SampleBytes();
  if (journal_->bytes() < kShortestWorthwhile + 2 * kept) return {};
  if (Status shortened = Shorten(); !shortened) {
    // The samples are safe in the long journal.
    log::WriteLimited(log::Level::kWarning, log::Category::kData, "live.journal",
                      "can't shorten the journal: " + shortened.error().Format());
  }
  return {};
}

Status Intake::Shorten() {
  return journal_->Rewrite([this](const store::Journal::Put& put) -> Status {
    LiveBatch batch;
    Status written;
    const auto flush = [&] {
      if (written && batch.size() > 0) written = put(Encode(batch, kKept, {}, {}));
      batch.Clear();
    };
    shard_.ForEach([&](const data::LiveSample& sample) {
      batch.Add(sample);
      if (batch.size() * SampleBytes() >= kBatchBytes) flush();
    });
    flush();
    for (const auto& [source, mark] : marks_) {
      if (written) written = put(Encode({}, kSamples, source, mark));
    }
    if (!written) return written;
    std::vector<std::byte> seen;
    PutNumber(seen, kSeen);
    PutText(seen, {});
    PutText(seen, {});
    PutNumber(seen, shard_.seen().train);
    PutNumber(seen, shard_.seen().aside);
    return put(seen);
  });
}

Result<std::uint32_t> Intake::ClassOf(const std::string& name) const {
  const data::LabelNames& names = form().like.label_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size() && number < form().classes) {
    return number;
  }
  return Fail(ErrorCode::kData, "sample", "class '" + name.substr(0, 40) + "' is new",
              (names.empty() ? "known classes are numbers below " + std::to_string(form().classes)
                             : "known classes are " + data::Summary(names, 120)) +
                  "; declare it in data.labels and give the last layer a unit for it, on every "
                  "node");
}

Status Intake::Take(const data::LiveSample& sample, LiveBatch& batch, Pushed& pushed) {
  batch.Add(sample);
  if (batch.values.size() * sizeof(float) < kBatchBytes) return {};
  if (Status kept = Commit(batch, {}, {}); !kept) return kept;
  pushed.accepted += batch.size();
  batch.Clear();
  return {};
}

Result<Pushed> Intake::Finish(const LiveBatch& batch, Pushed pushed) {
  if (pushed.rejected > 0) CountRejected(pushed.rejected, pushed.reason);
  if (batch.size() == 0) return pushed;
  if (Status kept = Commit(batch, {}, {}); !kept) return tl::unexpected(kept.error());
  pushed.accepted += batch.size();
  return pushed;
}

Result<Pushed> Intake::Push(std::span<const float> values, const std::vector<std::string>& classes,
                            std::span<const float> targets) {
  const std::size_t features = form().like.features();
  const std::size_t outputs = form().like.outputs();
  const std::size_t samples = values.size() / features;
  const bool fits = values.size() == samples * features && samples > 0 &&
                    classes.size() == (outputs == 0 ? samples : 0) &&
                    targets.size() == samples * outputs;
  if (!fits) {
    return Fail(ErrorCode::kData, "samples",
                std::to_string(values.size()) + " values, " + std::to_string(classes.size()) +
                    " classes, " + std::to_string(targets.size()) + " targets",
                "wanted " + std::to_string(features) + " values a sample and " +
                    (outputs == 0 ? "a class" : std::to_string(outputs) + " targets"));
  }
  LiveBatch batch;
  Pushed pushed;
  for (std::size_t i = 0; i < samples; ++i) {
    data::LiveSample sample{.values = values.subspan(i * features, features),
                            .targets = targets.subspan(i * outputs, outputs)};
    Status good;
    if (outputs == 0) {
      const auto label = ClassOf(classes[i]);
      good = label ? Status() : tl::unexpected(label.error());
      sample.label = label.value_or(0);
    }
    if (good) good = Check(sample);
    if (good) {
      if (Status kept = Take(sample, batch, pushed); !kept) return tl::unexpected(kept.error());
    } else if (pushed.rejected++ == 0) {
      pushed.reason = good.error().Format();
    }
  }
  return Finish(batch, std::move(pushed));
}

Result<Pushed> Intake::PushTable(std::string_view text) {
  std::optional<data::LiveRows> rows;
  LiveBatch batch;
  Pushed pushed;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (data::IsBlank(line)) continue;
    if (!rows) {
      auto started = data::LiveRows::Start(line, form());
      if (!started) return tl::unexpected(started.error());
      rows.emplace(std::move(*started));
      if (rows->header()) continue;
    }
    const auto sample = rows->Parse(line);
    const Status good = sample ? Check(*sample) : tl::unexpected(sample.error());
    if (good) {
      if (Status kept = Take(*sample, batch, pushed); !kept) return tl::unexpected(kept.error());
    } else if (pushed.rejected++ == 0) {
      pushed.reason = "line " + std::to_string(number) + ": " + good.error().Format();
    }
  }
  return Finish(batch, std::move(pushed));
}

std::string Intake::Mark(const std::string& source) const {
  const std::lock_guard lock(mutex_);
  const auto found = marks_.find(source);
  return found == marks_.end() ? std::string() : found->second;
}

void Intake::CountRejected(std::uint64_t samples, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  report_.rejected += samples;
  report_.last_rejected = reason;
}

void Intake::CountQuarantined() {
  const std::lock_guard lock(mutex_);
  ++report_.quarantined;
}

std::optional<data::LiveShard::Snapshot> Intake::TakeIfChanged() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(changed_, false)) return std::nullopt;
  return shard_.Take();
}

LiveReport Intake::report() const {
  const std::lock_guard lock(mutex_);
  LiveReport report = report_;
  report.to_train = shard_.to_train();
  report.set_aside = shard_.set_aside();
  report.classes = shard_.histogram();
  if (last_at_) report.age = clock_.Now() - *last_at_;
  return report;
}

}  // namespace covey::node
