#include "covey/data/partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covey/base/check.h"
#include "covey/base/random.h"

namespace covey::data {
namespace {

constexpr double kLeastAlpha = 1e-4;
constexpr double kMostAlpha = 1e6;

// Start of run i when n things are cut into `count` runs whose sizes differ by at most 1.
std::size_t RunStart(std::size_t n, std::uint32_t i, std::uint32_t count) {
  const std::size_t small = n / count;
  const std::size_t longer = n % count;  // the first so many runs have one more
  return small * i + std::min<std::size_t>(i, longer);
}

std::span<const std::uint32_t> Run(std::span<const std::uint32_t> all, std::uint32_t i,
                                   std::uint32_t count) {
  const std::size_t begin = RunStart(all.size(), i, count);
  return all.subspan(begin, RunStart(all.size(), i + 1, count) - begin);
}

void Append(Indices& to, std::span<const std::uint32_t> from) {
  to.insert(to.end(), from.begin(), from.end());
}

void CheckPart(Part part) {
  COVEY_CHECK(part.count > 0 && part.index < part.count, part.index, part.count);
}

// For every class the indices of its samples, ascending.
std::vector<Indices> ByLabel(Labels labels, std::uint32_t classes) {
  std::vector<Indices> groups(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    COVEY_CHECK(labels[i] < classes, labels[i], classes);
    groups[labels[i]].push_back(static_cast<std::uint32_t>(i));
  }
  return groups;
}

void ShuffleGroup(Indices& group, std::uint64_t seed, std::size_t number) {
  Stream stream(seed, static_cast<std::uint32_t>(number), Purpose::kPartition);
  stream.Shuffle(std::span<std::uint32_t>(group));
}

// The groups of the mix rate, each in random order: classes, or runs of the sorted data.
std::vector<Indices> MixGroups(Labels labels, std::uint32_t classes, std::uint32_t count,
                               std::uint64_t seed) {
  std::vector<Indices> groups = ByLabel(labels, classes);
  for (std::size_t c = 0; c < groups.size(); ++c) ShuffleGroup(groups[c], seed, c);
  if (count == classes) return groups;
  Indices sorted;
  sorted.reserve(labels.size());
  for (const Indices& group : groups) Append(sorted, group);
  std::vector<Indices> runs(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Append(runs[i], Run(sorted, i, count));
    ShuffleGroup(runs[i], seed, std::size_t{classes} + i);
  }
  return runs;
}

}  // namespace

Indices Range(std::uint32_t begin, std::uint32_t end) {
  COVEY_CHECK(begin <= end, begin, end);
  Indices indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

Indices PartitionIid(std::size_t samples, Part part, std::uint64_t seed) {
  CheckPart(part);
  Indices all = Range(0, static_cast<std::uint32_t>(samples));
  ShuffleGroup(all, seed, 0);
  const std::span<const std::uint32_t> run = Run(all, part.index, part.count);
  Indices mine(run.begin(), run.end());
  std::sort(mine.begin(), mine.end());
  return mine;
}

Indices PartitionMixRate(Labels labels, std::uint32_t classes, Part part, double rate,
                         std::uint64_t seed) {
  CheckPart(part);
  COVEY_CHECK(rate >= 0 && rate <= 1, rate);
  const std::vector<Indices> groups = MixGroups(labels, classes, part.count, seed);
  if (part.count == 1) return Range(0, static_cast<std::uint32_t>(labels.size()));
  Indices mine;
  for (std::uint32_t g = 0; g < part.count; ++g) {
    const std::span<const std::uint32_t> group = groups[g];
    const auto given =
        static_cast<std::size_t>(std::llround(rate * static_cast<double>(group.size())));
    if (g == part.index) {
      Append(mine, group.subspan(given));
    } else {
      // The part after the owner takes run 0 and so on round, so that the odd samples don't all go
      // to part 0.
      const std::uint32_t turn = (part.index + part.count - g - 1) % part.count;
      Append(mine, Run(group.first(given), turn, part.count - 1));
    }
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

Indices PartitionDirichlet(Labels labels, std::uint32_t classes, Part part, double alpha,
                           std::uint64_t seed) {
  CheckPart(part);
  COVEY_CHECK(alpha > 0, alpha);
  std::vector<Indices> groups = ByLabel(labels, classes);
  Indices mine;
  std::vector<double> share(part.count);
  for (std::size_t c = 0; c < groups.size(); ++c) {
    Stream stream(seed, static_cast<std::uint32_t>(c), Purpose::kPartition);
    stream.Shuffle(std::span<std::uint32_t>(groups[c]));
    double sum = 0;
    for (double& s : share) sum += s = stream.Gamma(alpha);
    // Small shapes underflow to 0; when all do, the limit of alpha to 0 is one part that takes all.
    if (!(sum > 0)) sum = share[stream.Below(part.count)] = 1;
    const auto boundary = [&](std::uint32_t parts) {
      if (parts == part.count) return groups[c].size();
      const double before = std::accumulate(share.begin(), share.begin() + parts, 0.0);
      return std::min(groups[c].size(), static_cast<std::size_t>(std::llround(
                                            before / sum * static_cast<double>(groups[c].size()))));
    };
    const std::size_t begin = boundary(part.index);
    const std::size_t end = boundary(part.index + 1);
    Append(mine, std::span<const std::uint32_t>(groups[c]).subspan(begin, end - begin));
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

Indices PartitionBlocks(std::size_t samples, Part part) {
  CheckPart(part);
  const auto begin = static_cast<std::uint32_t>(RunStart(samples, part.index, part.count));
  return Range(begin, static_cast<std::uint32_t>(RunStart(samples, part.index + 1, part.count)));
}

Indices PartitionByKey(std::span<const std::uint32_t> keys, std::uint32_t key) {
  Indices mine;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) mine.push_back(static_cast<std::uint32_t>(i));
  }
  return mine;
}

std::string_view Name(PartitionSettings::Kind kind) {
  switch (kind) {
    case PartitionSettings::Kind::kAll:
      return "all";
    case PartitionSettings::Kind::kIid:
      return "iid";
    case PartitionSettings::Kind::kMixRate:
      return "mix_rate";
    case PartitionSettings::Kind::kDirichlet:
      return "dirichlet";
    case PartitionSettings::Kind::kBlocks:
      return "blocks";
    case PartitionSettings::Kind::kKey:
      return "key";
  }
  return "?";
}

Result<PartitionSettings::Kind> ParsePartitionKind(std::string_view word) {
  using Kind = PartitionSettings::Kind;
  for (const Kind kind :
       {Kind::kAll, Kind::kIid, Kind::kMixRate, Kind::kDirichlet, Kind::kBlocks, Kind::kKey}) {
    if (word == Name(kind)) return kind;
  }
  return Fail(ErrorCode::kConfig, "partition", "got '" + std::string(word) + "'",
              "wanted all, iid, mix_rate, dirichlet, blocks or key");
}

Status Validate(const PartitionSettings& settings) {
  using Kind = PartitionSettings::Kind;
  const Part part = settings.part;
  if (part.count == 0 || part.index >= part.count) {
    return Fail(ErrorCode::kConfig, "partition.index",
                "got part " + std::to_string(part.index) + " of " + std::to_string(part.count),
                "parts are numbered from 0 and there is at least one");
  }
  // Written so that NaN fails.
  if (settings.kind == Kind::kMixRate && !(settings.rate >= 0 && settings.rate <= 1)) {
    return Fail(ErrorCode::kConfig, "partition.rate", "got " + std::to_string(settings.rate),
                "wanted a fraction from 0 to 1: 0.1 gives away 10 % of every class");
  }
  if (settings.kind == Kind::kDirichlet &&
      !(settings.alpha >= kLeastAlpha && settings.alpha <= kMostAlpha)) {
    return Fail(ErrorCode::kConfig, "partition.alpha", "got " + std::to_string(settings.alpha),
                "wanted 0.0001 (each class at one node) to 1000000 (all alike)");
  }
  return {};
}

Result<Indices> Partition(Labels labels, std::uint32_t classes, const PartitionSettings& settings,
                          std::span<const std::uint32_t> keys) {
  using Kind = PartitionSettings::Kind;
  if (const Status valid = Validate(settings); !valid) return tl::unexpected<Error>(valid.error());
  Indices mine;
  switch (settings.kind) {
    case Kind::kAll:
      mine = Range(0, static_cast<std::uint32_t>(labels.size()));
      break;
    case Kind::kIid:
      mine = PartitionIid(labels.size(), settings.part, settings.seed);
      break;
    case Kind::kMixRate:
      mine = PartitionMixRate(labels, classes, settings.part, settings.rate, settings.seed);
      break;
    case Kind::kDirichlet:
      mine = PartitionDirichlet(labels, classes, settings.part, settings.alpha, settings.seed);
      break;
    case Kind::kBlocks:
      mine = PartitionBlocks(labels.size(), settings.part);
      break;
    case Kind::kKey:
      if (keys.size() < labels.size()) {
        return Fail(ErrorCode::kData,
                    settings.key_file.empty() ? "partition.key_file" : settings.key_file,
                    std::to_string(keys.size()) + " keys, wanted one for each of " +
                        std::to_string(labels.size()) + " samples");
      }
      mine = PartitionByKey(keys.first(labels.size()), settings.key);
      break;
  }
  if (mine.empty()) {
    return Fail(ErrorCode::kData, "partition",
                std::string(Name(settings.kind)) + " leaves no sample for part " +
                    std::to_string(settings.part.index) + " of " +
                    std::to_string(settings.part.count),
                "use fewer nodes, more data, a larger alpha or another key");
  }
  return mine;
}

Result<Split> SplitLast(std::size_t samples, std::size_t validation) {
  if (validation >= samples) {
    return Fail(ErrorCode::kConfig, "validation",
                "got the last " + std::to_string(validation) + " of " + std::to_string(samples) +
                    " training samples",
                "at least one must remain for training");
  }
  const auto cut = static_cast<std::uint32_t>(samples - validation);
  Split split;
  split.train = Range(0, cut);
  split.validation = Range(cut, static_cast<std::uint32_t>(samples));
  return split;
}

}  // namespace covey::data
