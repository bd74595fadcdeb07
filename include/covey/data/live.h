// A shard that grows while the node trains: samples that arrive one by one, in bounded memory.
//
// Equation: with k = max_samples, of n samples that have arrived
//   newest     the last min(n, k) are kept
//   reservoir  each is kept with probability min(1, k / n)
// Source: Vitter 1985, "Random Sampling with a Reservoir", algorithm R.
//
// A sample whose content says so (IsSetAside) is one to judge by; the two sides are kept apart,
// each by the same rule, and a sample never changes sides. The samples of data.train are always
// there and don't count.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/random.h"
#include "covey/base/result.h"
#include "covey/data/csv.h"
#include "covey/data/dataset.h"
#include "covey/data/partition.h"

namespace covey::data {

struct LiveSettings {
  enum class Keep : std::uint8_t { kReservoir, kNewest };
  std::uint64_t max_samples = 100'000;
  Keep keep = Keep::kReservoir;
  std::uint64_t start_at = 100;  // samples to train on before training begins
  std::string spool = {};        // folder that tables are renamed into; empty: none
  std::string csv = {};          // table that grows; empty: none
  bool remove = false;           // tables of the spool once they are taken; else they are moved

  bool operator==(const LiveSettings&) const = default;
};

// Largest sample, its values as float32: so that some fit into a record of the journal.
inline constexpr ByteCount kMaxLiveSample{std::uint64_t{14} << 20};

// One sample. Shapes: values [features], raw numbers; targets [outputs], empty with labels.
struct LiveSample {
  std::span<const float> values;
  std::uint32_t label = 0;
  std::span<const float> targets = {};
};

// What the samples of a node look like.
struct LiveForm {
  Dataset like;  // shape, names, normalisation, classes or outputs; its rows don't matter
  std::uint32_t classes = 0;  // of the model; 0 with targets
  std::size_t symbols = 0;    // values are whole numbers below it; 0: any
  double share = 0;           // of samples to judge by
  std::uint64_t seed = 0;
  std::uint32_t node = 0;
  CsvSettings csv = {};
  ImageFit image_fit = ImageFit::kRefuse;
};

// values <- the elements of a row as they are in the file. Requires: values.size() ==
// set.features().
void ReadRaw(const Dataset& set, std::size_t row, std::span<float> values);

class LiveShard {
 public:
  // base: rows of form.like that are always there.
  LiveShard(const LiveForm& form, const LiveSettings& settings, const Indices& base_shard,
            const Indices& base_validation);

  // Errors: kData, with what to do: another number of values, one that is not finite or no symbol,
  // a class that the model does not have, or beyond kMaxCategories.
  Status Check(const LiveSample& sample) const;
  // Requires: Check holds.
  void Add(const LiveSample& sample);

  // All that is kept, copied: rows of `set` to train on and to judge by.
  struct Snapshot {
    Dataset set;
    Indices shard;
    Indices validation;
  };
  // Cost: one copy of every sample.
  Snapshot Take() const;

  std::size_t to_train() const { return base_train_ + train_.Size(outputs_); }
  std::size_t set_aside() const { return base_aside_ + aside_.Size(outputs_); }
  // Of samples by class; empty with targets.
  const std::vector<std::uint64_t>& histogram() const { return histogram_; }
  const LiveForm& form() const { return form_; }

  // For a journal that is written anew: what has arrived, and what is kept of it in the order of
  // arrival (of a reservoir: of its places).
  struct Seen {
    std::uint64_t train = 0;
    std::uint64_t aside = 0;
  };
  Seen seen() const { return {train_.seen, aside_.seen}; }
  void SetSeen(Seen seen);
  void ForEach(const std::function<void(const LiveSample& sample)>& visit) const;

 private:
  struct Side {
    std::vector<float> rows;
    std::vector<std::uint8_t> labels;
    std::vector<float> targets;
    std::uint64_t most = 0;
    std::uint64_t seen = 0;
    std::size_t next = 0;  // kNewest: the oldest, once it is full

    std::size_t Size(std::size_t outputs) const {
      return outputs == 0 ? labels.size() : targets.size() / outputs;
    }
  };
  void Put(const LiveSample& sample, Side& side);
  void AddBase(const Indices& rows, Side& base);

  LiveForm form_;
  LiveSettings settings_;
  std::size_t features_;
  std::size_t outputs_;  // 0: labels
  Side base_;            // first those to train on
  std::size_t base_train_ = 0;
  std::size_t base_aside_ = 0;
  Side train_;
  Side aside_;
  std::vector<std::uint64_t> histogram_;
  Stream stream_;
};

}  // namespace covey::data
