/// What a long history costs the audit: bench_audit FOLDER ENTRIES. One line of JSON.
#include "actors/audit/audit_store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using stopwatch = std::chrono::steady_clock;

template <class F>
double ms(F&& work) {
  const auto start = stopwatch::now();
  work();
  return std::chrono::duration<double, std::milli>{stopwatch::now() - start}.count();
}

template <class F>
double fastest(F&& work) {
  double least = ms(work);
  for (int i = 0; i < 4; ++i)
    least = std::min(least, ms(work));
  return least;
}

template <class T>
void must(const result<T>& done) {
  if (done) return;
  std::fprintf(stderr, "%s\n", to_string(done.error()).c_str());
  std::exit(1);
}

/// Like those of a call: six of some hundred bytes.
audit_store::draft entry(std::int64_t n) {
  return {audit_time{std::chrono::seconds{1'700'000'000 + n}},
          {audit_kind::request, "thread-1", "turn-1", "call-" + std::to_string(n / 6), 0,
           R"({"tool":"shell_command","argv":["bash","-c","make -j2 target)" + std::to_string(n) +
               R"("],"padding":")" + std::string(400, 'x') + "\"}"}};
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  return all[all.size() / 2];
}

} // namespace

int main(int count, char** words) {
  const std::string folder = count > 2 ? words[1] : "/var/tmp";
  const auto entries = count > 2 ? std::atoll(words[2]) : 10'000;
  const auto path = folder + "/audit.db";
  auto opened = audit_store::open(path, audit_store::mode::write);
  must(opened);
  std::int64_t n = 0;
  std::vector<audit_store::draft> batch;
  while (n < entries) {
    batch.clear();
    for (int i = 0; i < 500 && n < entries; ++i)
      batch.push_back(entry(n++));
    must((*opened)->append(batch));
  }
  std::vector<double> appends;
  for (int i = 0; i < 2000; ++i) {
    const auto one = entry(n++);
    appends.push_back(ms([&] { must((*opened)->append({&one, 1})); }));
  }
  const double open = fastest([&] { must(audit_store::open(path, audit_store::mode::write)); });
  const audit_time now{std::chrono::seconds{1'700'000'000 + n}};
  const double nothing = fastest([&] {
    must((*opened)->prune({std::chrono::days{0}, std::int64_t{1} << 40U}, now));
  });
  std::size_t seen = 0;
  const auto count_all = [&](const audit_entry&) { return ++seen, true; };
  const double newest = fastest([&] { must((*opened)->read({.limit = 50}, count_all)); });
  const double one_call = fastest(
      [&] { must((*opened)->read({.call = "call-" + std::to_string(n / 12)}, count_all)); });
  const double verify = ms([&] { must((*opened)->verify()); });
  // About a third is too old: another entry waits for one step at most.
  const auto kept = std::max(
      std::chrono::days{1}, std::chrono::floor<std::chrono::days>(std::chrono::seconds{n * 3 / 4}));
  std::vector<double> steps;
  const double all = ms([&] {
    for (bool more = true; more;)
      steps.push_back(ms([&] {
        const auto done = (*opened)->prune({kept, 0}, now);
        must(done);
        more = *done;
      }));
  });
  std::size_t left = 0;
  must((*opened)->read({}, [&](const audit_entry&) { return ++left, true; }));
  std::printf("{\"entries\":%lld,\"append_ms\":%.4f,\"append_max_ms\":%.3f,\"open_ms\":%.3f,"
              "\"prune_nothing_ms\":%.3f,\"newest_ms\":%.3f,\"one_call_ms\":%.3f,"
              "\"verify_ms\":%.1f,\"prune_ms\":%.1f,\"prune_longest_step_ms\":%.1f,\"left\":%zu}\n",
              static_cast<long long>(entries), median(appends),
              *std::max_element(appends.begin(), appends.end()), open, nothing, newest, one_call,
              verify, all, *std::max_element(steps.begin(), steps.end()), left);
}
