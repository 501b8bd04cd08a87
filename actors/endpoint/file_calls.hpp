#pragma once

#include "actors/endpoint/call_book.hpp"
#include "actors/endpoint/thread_book.hpp"
#include "protocol/exec_server.hpp"
#include "reactor/program_exchange.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What clients do with files (`fs/*`): each call is judged by its thread, recorded, and made by a
/// process of ours inside the boundary of that thread; where there is no boundary it is refused.
/// Loop's thread.
class file_calls : public std::enable_shared_from_this<file_calls> {
public:
  /// Under way for one session; also answers that may wait for its client to read them, each as
  /// large as a message can be.
  static constexpr std::size_t most_of_one = 16;

  /// @param program "gatehouse", "file-call": makes one call; empty: there are no calls
  file_calls(thread_host& host, std::vector<std::string> program)
      : host_{host}, program_{std::move(program)} {}

  /// @param session whose call it is
  /// @param most_bytes of an answer
  /// @param done hears the result object, or: `notFound` (-32004), `refused` by the thread's
  /// policy, `sandboxRequired`, `sandboxUnavailable`, `denied` by the boundary or the file's owner,
  /// `tooLarge`, `io`, `overloaded`
  void perform(const std::shared_ptr<thread_entry>& entry, const std::string& session,
               exec_server::file_call call, std::size_t most_bytes, rpc_reply done);

private:
  struct open_call;
  using call_ptr = std::shared_ptr<open_call>;

  void judge(const call_ptr& call, std::vector<tool_arguments> as);
  void record(const call_ptr& call);
  void start(const call_ptr& call);
  void ended(const call_ptr& call, const reactor::exchange_end& end);
  void answer(const call_ptr& call, const rpc_outcome& what);

  thread_host& host_;
  std::vector<std::string> program_;
  std::map<std::uint64_t, std::unique_ptr<reactor::program_exchange>> exchanges_;
  std::uint64_t last_ = 0;
  std::size_t open_ = 0;
  std::map<std::string, std::size_t> open_of_; ///< by session
};

} // namespace gatehouse::actors
