#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "covey/data/live.h"
#include "data/dataset_builder.h"

namespace covey::data {
namespace {

// A snapshot's memory.
struct LiveRowsOwner {
  std::vector<float> rows;
  std::vector<std::uint8_t> labels;
  std::vector<float> targets;
};

float ElementOf(const std::uint8_t* row, tensor::Element element, std::size_t i) {
  if (element == tensor::Element::kUint8) return row[i];
  if (element == tensor::Element::kInt16) {
    std::int16_t value = 0;
    std::memcpy(&value, row + i * sizeof value, sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, row + i * sizeof value, sizeof value);
  return value;
}

template <class T>
void Append(const std::vector<T>& from, std::size_t first, std::size_t count, std::vector<T>& to) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void ReadRaw(const Dataset& set, std::size_t row, std::span<float> values) {
  for (std::size_t f = 0; f < values.size(); ++f) {
    values[f] = ElementOf(set.row(row), set.element(), f);
  }
}

LiveShard::LiveShard(const LiveForm& form, const LiveSettings& settings, const Indices& base_shard,
                     const Indices& base_validation)
    : form_(form),
      settings_(settings),
      features_(form.like.features()),
      outputs_(form.like.outputs()),
      histogram_(form.classes),
      stream_(form.seed, form.node, Purpose::kReservoir) {
  train_.most = settings.max_samples;
  const double aside = std::ceil(static_cast<double>(settings.max_samples) * form.share);
  aside_.most = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(aside));
  AddBase(base_shard, base_);
  AddBase(base_validation, base_);
  base_train_ = base_shard.size();
  base_aside_ = base_validation.size();
}

void LiveShard::AddBase(const Indices& rows, Side& base) {
  const Dataset& set = form_.like;
  for (const std::uint32_t row : rows) {
    base.rows.resize(base.rows.size() + features_);
    ReadRaw(set, row, std::span(base.rows).last(features_));
    if (outputs_ > 0) {
      base.targets.insert(base.targets.end(), set.target(row), set.target(row) + outputs_);
      continue;
    }
    base.labels.push_back(static_cast<std::uint8_t>(set.label(row)));
    ++histogram_[set.label(row)];
  }
}

Status LiveShard::Check(const LiveSample& sample) const {
  if (sample.values.size() != features_) {
    return Fail(
        ErrorCode::kData, "sample",
        std::to_string(sample.values.size()) + " values, wanted " + std::to_string(features_));
  }
  if (sample.targets.size() != outputs_) {
    return Fail(
        ErrorCode::kData, "sample",
        std::to_string(sample.targets.size()) + " targets, wanted " + std::to_string(outputs_));
  }
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(sample.values.begin(), sample.values.end(), finite) ||
      !std::all_of(sample.targets.begin(), sample.targets.end(), finite)) {
    return Fail(ErrorCode::kData, "sample", "has a value that is not finite");
  }
  const auto symbol = [this](float value) {
    return value >= 0 && value < static_cast<float>(form_.symbols) && value == std::floor(value);
  };
  if (form_.symbols > 0 && !std::all_of(sample.values.begin(), sample.values.end(), symbol)) {
    return Fail(
        ErrorCode::kData, "sample",
        "has a value that is no symbol: a whole number below " + std::to_string(form_.symbols));
  }
  if (outputs_ == 0 && sample.label >= kMaxCategories) {
    return Fail(ErrorCode::kData, "sample",
                "class " + std::to_string(sample.label) + " is beyond the " +
                    std::to_string(kMaxCategories) + " that samples can have",
                "number classes from 0 to " + std::to_string(kMaxCategories - 1));
  }
  if (outputs_ == 0 && sample.label >= form_.classes) {
    return Fail(ErrorCode::kData, "sample",
                "class " + std::to_string(sample.label) + " is new: the model has " +
                    std::to_string(form_.classes),
                "add a unit to its last layer, on every node");
  }
  return {};
}

void LiveShard::Put(const LiveSample& sample, Side& side) {
  const std::uint64_t arrived = side.seen++;
  std::size_t slot = side.Size(outputs_);
  if (slot < side.most) {
    side.rows.insert(side.rows.end(), sample.values.begin(), sample.values.end());
    side.targets.insert(side.targets.end(), sample.targets.begin(), sample.targets.end());
    if (outputs_ == 0) side.labels.push_back(static_cast<std::uint8_t>(sample.label));
  } else {
    if (settings_.keep == LiveSettings::Keep::kNewest) {
      slot = side.next;
      side.next = (side.next + 1) % static_cast<std::size_t>(side.most);
    } else {
      const std::uint64_t drawn = stream_.Below(arrived + 1);
      if (drawn >= side.most) return;
      slot = static_cast<std::size_t>(drawn);
    }
    const auto at = [slot](auto& list, std::size_t width) {
      return list.begin() + static_cast<std::ptrdiff_t>(slot * width);
    };
    std::copy(sample.values.begin(), sample.values.end(), at(side.rows, features_));
    std::copy(sample.targets.begin(), sample.targets.end(), at(side.targets, outputs_));
    if (outputs_ == 0) {
      --histogram_[side.labels[slot]];
      side.labels[slot] = static_cast<std::uint8_t>(sample.label);
    }
  }
  if (outputs_ == 0) ++histogram_[sample.label];
}

void LiveShard::Add(const LiveSample& sample) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(sample.values.data());
  const bool aside =
      form_.share > 0 && IsSetAside({bytes, sample.values.size_bytes()}, form_.share);
  Put(sample, aside ? aside_ : train_);
}

void LiveShard::SetSeen(Seen seen) {
  train_.seen = std::max<std::uint64_t>(seen.train, train_.Size(outputs_));
  aside_.seen = std::max<std::uint64_t>(seen.aside, aside_.Size(outputs_));
}

void LiveShard::ForEach(const std::function<void(const LiveSample& sample)>& visit) const {
  for (const Side* side : {&train_, &aside_}) {
    const std::size_t size = side->Size(outputs_);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t slot = size < side->most ? i : (side->next + i) % size;
      LiveSample sample;
      sample.values = std::span<const float>(side->rows).subspan(slot * features_, features_);
      if (outputs_ == 0) sample.label = side->labels[slot];
      sample.targets = std::span<const float>(side->targets).subspan(slot * outputs_, outputs_);
      visit(sample);
    }
  }
}

LiveShard::Snapshot LiveShard::Take() const {
  const auto owner = std::make_shared<LiveRowsOwner>();
  const std::size_t all = to_train() + set_aside();
  owner->rows.reserve(std::max<std::size_t>(1, all * features_));
  owner->labels.reserve(all);
  owner->targets.reserve(std::max<std::size_t>(1, all * outputs_));
  const auto copy = [&](const Side& side, std::size_t first, std::size_t count) {
    Append(side.rows, first * features_, count * features_, owner->rows);
    if (outputs_ == 0) Append(side.labels, first, count, owner->labels);
    Append(side.targets, first * outputs_, count * outputs_, owner->targets);
  };
  copy(base_, 0, base_train_);
  copy(train_, 0, train_.Size(outputs_));
  copy(base_, base_train_, base_aside_);
  copy(aside_, 0, aside_.Size(outputs_));
  DatasetBuilder::Parts parts;
  parts.samples = all;
  parts.element = tensor::Element::kFloat32;
  parts.rows = reinterpret_cast<const std::uint8_t*>(owner->rows.data());
  parts.labels = owner->labels;
  parts.classes = form_.classes;
  parts.targets = outputs_ > 0 ? owner->targets.data() : nullptr;
  parts.outputs = outputs_;
  parts.shape = form_.like.shape();
  parts.feature_names = form_.like.feature_names();
  parts.label_names = form_.like.label_names();
  parts.owner = owner;
  Snapshot snapshot;
  snapshot.set = DatasetBuilder::Build(std::move(parts))
                     .Normalized(form_.like.normalize(), form_.like.normalization());
  const auto cut = static_cast<std::uint32_t>(to_train());
  snapshot.shard = Range(0, cut);
  snapshot.validation = Range(cut, static_cast<std::uint32_t>(all));
  return snapshot;
}

}  // namespace covey::data
