#include "cli/load_histogram.hpp"

#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/histogram/unlimited_storage.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace gatehouse::cli {
namespace {

using std::chrono::microseconds;

/// Each octave has 64 buckets of equal width; the first 64 microseconds have one each.
class log_linear_axis {
public:
  static constexpr int octave = 64;
  static constexpr int octaves = 32;

  [[nodiscard]] int index(std::int64_t value) const {
    if (value < 0) return 0;
    const auto v = static_cast<std::uint64_t>(value);
    const int shift = std::max(0, static_cast<int>(std::bit_width(v)) - 7);
    return std::min(size() - 1, shift * octave + static_cast<int>(v >> shift));
  }
  [[nodiscard]] int size() const { return octaves * octave + octave; }
  /// The greatest value of a bucket.
  [[nodiscard]] static std::int64_t upper(int bucket) {
    const int shift = std::max(0, bucket / octave - 1);
    return ((static_cast<std::int64_t>(bucket - shift * octave) + 1) << shift) - 1;
  }
};

using histogram_type = decltype(boost::histogram::make_histogram_with(
    boost::histogram::unlimited_storage<>{}, log_linear_axis{}));

} // namespace

struct latency_histogram::impl {
  histogram_type counts = boost::histogram::make_histogram_with(
      boost::histogram::unlimited_storage<>{}, log_linear_axis{});
};

latency_histogram::latency_histogram() : impl_{std::make_unique<impl>()} {}
latency_histogram::~latency_histogram() = default;

void latency_histogram::add(microseconds latency) {
  impl_->counts(static_cast<std::int64_t>(latency.count()));
  ++count_;
  sum_ += latency;
  max_ = std::max(max_, latency);
}

microseconds latency_histogram::mean() const {
  return count_ == 0 ? microseconds{0} : sum_ / static_cast<std::int64_t>(count_);
}

microseconds latency_histogram::percentile(double percent) const {
  const auto wanted = std::max(1.0, std::ceil(percent / 100 * static_cast<double>(count_) - 1e-9));
  double seen = 0;
  for (int i = 0; i < log_linear_axis{}.size(); ++i) {
    seen += static_cast<double>(impl_->counts.at(i));
    if (count_ > 0 && seen >= wanted)
      return std::min(max_, microseconds{log_linear_axis::upper(i)});
  }
  return max_;
}

std::vector<std::pair<microseconds, std::uint64_t>> latency_histogram::buckets() const {
  std::vector<std::pair<microseconds, std::uint64_t>> out;
  for (int i = 0; i < log_linear_axis{}.size(); ++i)
    if (const auto n = static_cast<std::uint64_t>(impl_->counts.at(i)); n > 0)
      out.emplace_back(log_linear_axis::upper(i), n);
  return out;
}

} // namespace gatehouse::cli
