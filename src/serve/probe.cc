// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/probe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "takt/base/rng.h"

namespace takt::serve {
namespace {

// Sizes tried for dimensions that the model leaves open, besides the rows.
constexpr std::array<std::int64_t, 6> kFreeSizes{1, 8, 32, 64, 224, 512};
constexpr double kTolerance = 1e-3;  // kernels for one row and for many add in another order
constexpr double kWorthPerRow = 1.05;
constexpr int kRepeats = 5;
constexpr std::int64_t kProbeBytesMax = std::int64_t{256} << 20;

enum class Fill { kRandom, kZeros };

template <class T>
void append_value(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Integers are 0 or 1: often they are indices, and those exist in any table.
void append_made_up(std::string& out, DataType type, Fill fill, Rng& rng) {
  const double uniform = fill == Fill::kRandom ? rng.uniform() : 0.0;
  const std::uint64_t bit = uniform < 0.5 ? 0 : 1;
  switch (type) {
    case DataType::kBytes:
      return append_element(out, bit == 0 ? "a" : "b");
    case DataType::kFp64:
      return append_value(out, uniform);
    case DataType::kFp32:
      return append_value(out, static_cast<float>(uniform));
    case DataType::kFp16:
      return append_value(out, float_to_half(static_cast<float>(uniform)));
    case DataType::kBf16:
      return append_value(out, float_to_bfloat(static_cast<float>(uniform)));
    default:
      out.append(reinterpret_cast<const char*>(&bit), data_type_info(type).size);
  }
}

Result<std::vector<Tensor>> make_inputs(const ModelInfo& info, std::int64_t rows,
                                        std::int64_t free_size, Fill fill, Rng& rng) {
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : info.inputs) {
    Shape shape = spec.shape;
    if (!shape.empty() && shape[0] < 0) shape[0] = rows;
    for (std::int64_t& size : shape)
      if (size < 0) size = free_size;
    TAKT_ASSIGN(const std::int64_t count, count_elements(shape));
    const auto size =
        static_cast<std::int64_t>(std::max<std::size_t>(data_type_info(spec.type).size, 5));
    if (count > kProbeBytesMax / size)
      return fail(Code::kTooLarge, "input '" + spec.name + "' is too large to try");
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(count * size));
    for (std::int64_t i = 0; i < count; ++i) append_made_up(bytes, spec.type, fill, rng);
    inputs.push_back(Tensor::own(spec.type, std::move(shape), std::move(bytes)));
  }
  return inputs;
}

std::vector<Tensor> take_row(const std::vector<Tensor>& inputs, std::int64_t row) {
  std::vector<Tensor> part;
  for (const Tensor& input : inputs) part.push_back(slice_rows(input, row, 1));
  return part;
}

double value_at(const Tensor& tensor, std::size_t index) {
  const std::size_t size = data_type_info(tensor.type).size;
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + index * size, size);
  switch (tensor.type) {
    case DataType::kFp64:
      return std::bit_cast<double>(bits);
    case DataType::kFp32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DataType::kFp16:
      return half_to_float(static_cast<std::uint16_t>(bits));
    default:
      return bfloat_to_float(static_cast<std::uint16_t>(bits));
  }
}

bool is_float(DataType type) {
  return type == DataType::kFp64 || type == DataType::kFp32 || type == DataType::kFp16 ||
         type == DataType::kBf16;
}

bool same_values(const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  if (!is_float(a.type)) return a.bytes == b.bytes;
  const std::size_t count = a.bytes.size() / data_type_info(a.type).size;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = value_at(a, i);
    const double y = value_at(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::abs(x - y) <= kTolerance * std::max({1.0, std::abs(x), std::abs(y)}))) return false;
  }
  return true;
}

/// Why the two rows run together do not give what each gives alone; empty when they do.
std::string compare_rows(Engine& engine, const std::vector<Tensor>& both) {
  const auto together = engine.run(both);
  if (!together) return "a run of two rows fails: " + together.error().message;
  const auto& names = engine.info().outputs;
  for (std::size_t i = 0; i < together->size(); ++i)
    if ((*together)[i].rows() != 2 || (*together)[i].shape.empty())
      return "output '" + names[i].name + "' has shape " + shape_text((*together)[i].shape) +
             " for two rows";
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto alone = engine.run(take_row(both, row));
    if (!alone) return "a run of one row fails: " + alone.error().message;
    for (std::size_t i = 0; i < alone->size(); ++i)
      if (!same_values((*alone)[i], slice_rows((*together)[i], row, 1)))
        return "output '" + names[i].name + "' of a row depends on the other rows";
  }
  return {};
}

/// Empty when every input may have any number of rows.
std::string check_specs(const ModelInfo& info) {
  if (info.inputs.empty()) return "the model has no inputs";
  for (const TensorSpec& spec : info.inputs)
    if (spec.shape.empty() || spec.shape[0] >= 0)
      return "input '" + spec.name + "' has shape " + shape_text(spec.shape) +
             ", whose first dimension is fixed";
  return {};
}

/// The first size for open dimensions that the model runs with.
std::optional<std::int64_t> find_free_size(Engine& engine, Rng& rng) {
  for (const std::int64_t size : kFreeSizes) {
    const auto inputs = make_inputs(engine.info(), 1, size, Fill::kZeros, rng);
    if (inputs && engine.run(*inputs)) return size;
  }
  return std::nullopt;
}

class Timer {
 public:
  Timer(Engine& engine, const ProbeOptions& options, std::int64_t free_size, Clock& clock)
      : engine_(engine),
        options_(options),
        free_size_(free_size),
        clock_(clock),
        end_(clock.mono() + options.budget_us) {}

  bool has_time() const { return clock_.mono() < end_ && !options_.is_stopped(); }

  std::optional<RunTime> time(std::int64_t rows, Rng& rng) {
    const auto inputs = make_inputs(engine_.info(), rows, free_size_, Fill::kZeros, rng);
    if (!inputs) return std::nullopt;
    RunTime result{rows, std::numeric_limits<std::int64_t>::max()};
    for (int i = 0; i < kRepeats && (i == 0 || has_time()); ++i) {
      const Mono start = clock_.mono();
      if (!engine_.run(*inputs)) return std::nullopt;
      result.best_us = std::min(result.best_us, clock_.mono() - start);
    }
    return result;
  }

 private:
  Engine& engine_;
  const ProbeOptions& options_;
  std::int64_t free_size_;
  Clock& clock_;
  Mono end_;
};

/// The time of a run depends on nothing but the rows (of a batchable model).
bool has_known_shapes(const ModelInfo& info, bool is_batchable) {
  for (const TensorSpec& spec : info.inputs) {
    if (spec.type == DataType::kBytes) return false;
    for (std::size_t i = is_batchable ? 1 : 0; i < spec.shape.size(); ++i) {
      if (spec.shape[i] < 0) return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t count_quick_rows(const std::vector<RunTime>& times) {
  std::int64_t rows = 0;
  for (const RunTime& time : times) {
    if (time.best_us > kQuickRunUs) break;
    rows = time.rows;
  }
  return rows;
}

std::int64_t choose_rows(const std::vector<RunTime>& times) {
  const auto per_row = [](const RunTime& time) {
    return static_cast<double>(std::max<std::int64_t>(time.best_us, 1)) /
           static_cast<double>(time.rows);
  };
  double best = std::numeric_limits<double>::infinity();
  for (const RunTime& time : times) best = std::min(best, per_row(time));
  for (const RunTime& time : times)
    if (per_row(time) <= best * kWorthPerRow) return time.rows;
  return 1;
}

BatchProfile probe_model(Engine& engine, const ProbeOptions& options, Clock& clock) {
  BatchProfile profile;
  Rng rng(options.seed);
  const auto free_size = find_free_size(engine, rng);
  if (!free_size) {
    profile.reason = "the model does not run on made-up values";
    return profile;
  }
  profile.is_warm = true;
  profile.reason = options.rows_max <= 0 ? "batching is off" : check_specs(engine.info());
  for (const Fill fill : {Fill::kRandom, Fill::kZeros}) {
    if (!profile.reason.empty()) break;
    const auto both = make_inputs(engine.info(), 2, *free_size, fill, rng);
    profile.reason = both ? compare_rows(engine, *both) : both.error().message;
    // Random values may be refused (an index out of a table); zeros seldom are.
    if (fill == Fill::kRandom && profile.reason.contains("fails:")) profile.reason.clear();
  }
  Timer timer(engine, options, *free_size, clock);
  profile.is_batchable = profile.reason.empty();
  const std::int64_t rows_max = profile.is_batchable ? options.rows_max : 1;
  for (std::int64_t rows = 1; rows < rows_max && timer.has_time(); rows *= 2)
    if (const auto time = timer.time(rows, rng)) profile.times.push_back(*time);
  if (options.is_stopped()) return profile;
  if (const auto time = timer.time(rows_max, rng)) profile.times.push_back(*time);
  if (profile.is_batchable) profile.rows_best = choose_rows(profile.times);
  if (has_known_shapes(engine.info(), profile.is_batchable)) {
    profile.rows_quick = count_quick_rows(profile.times);
  }
  return profile;
}

}  // namespace takt::serve
