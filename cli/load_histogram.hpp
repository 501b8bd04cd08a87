#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gatehouse::cli {

/// Counts latencies in buckets that are never wider than 1/64 of their value, up to three days:
/// small memory, every percentile within 1.6 %.
class latency_histogram {
public:
  latency_histogram();
  ~latency_histogram();
  latency_histogram(const latency_histogram&) = delete;
  latency_histogram& operator=(const latency_histogram&) = delete;

  void add(std::chrono::microseconds latency);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::chrono::microseconds max() const noexcept { return max_; }
  [[nodiscard]] std::chrono::microseconds mean() const;
  /// The least value that `percent` of all latencies do not exceed; zero when there are none.
  [[nodiscard]] std::chrono::microseconds percentile(double percent) const;
  /// Upper end and number of each bucket that is not empty, ascending.
  [[nodiscard]] std::vector<std::pair<std::chrono::microseconds, std::uint64_t>> buckets() const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
  std::uint64_t count_ = 0;
  std::chrono::microseconds max_{0};
  std::chrono::microseconds sum_{0};
};

} // namespace gatehouse::cli
