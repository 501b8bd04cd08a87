#pragma once

#include "actors/endpoint/call_book.hpp"
#include "actors/endpoint/thread_book.hpp"
#include "protocol/exec_server.hpp"
#include "reactor/program_exchange.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What clients do with files (`fs/*`): each call is judged by its thread, recorded, and made by a
/// process of ours inside the boundary of that thread; where there is no boundary it is refused. It
/// ends with its turn, its thread and its client's connection: what it had done by then stands.
/// Megabytes are turned into text, and back, on the workers. Loop's thread.
class file_calls : public std::enable_shared_from_this<file_calls> {
public:
  /// Under way for one session; also answers that may wait for its client to read them, each as
  /// large as a message can be.
  static constexpr std::size_t most_of_one = 16;

  /// @param program "gatehouse", "file-call": makes one call; empty: there are no calls
  file_calls(thread_host& host, std::vector<std::string> program)
      : host_{host}, program_{std::move(program)} {}

  /// @param session whose call it is
  /// @param base64 what is written
  /// @param most_bytes of an answer
  /// @param done hears the result object, or: `notFound` (-32004), `refused` by the thread's
  /// policy, `sandboxRequired`, `sandboxUnavailable`, `denied` by the boundary or the file's owner,
  /// `tooLarge`, `io`, `overloaded`, `cancelled` when it was ended
  void perform(const std::shared_ptr<thread_entry>& entry, const std::string& session,
               exec_server::file_call call, std::string base64, std::size_t most_bytes,
               rpc_reply done);

  /// A turn of the thread is over: its calls end; when it was stopped, every call of the thread.
  void end_turn(const std::string& thread, const std::string& turn, thread_events::turn_ending how);
  void end_thread(const std::string& thread);
  /// The connection to which the answers would go is gone.
  void end_session(const std::string& session);

private:
  struct open_call;
  using call_ptr = std::shared_ptr<open_call>;

  void decode(const call_ptr& call, std::string base64);
  void judge(const call_ptr& call, std::vector<tool_arguments> as);
  void record(const call_ptr& call);
  void start(const call_ptr& call);
  void run(const call_ptr& call, std::string input);
  void ended(const call_ptr& call, reactor::exchange_end end);
  void answer(const call_ptr& call, const rpc_outcome& what);
  void end_if(const std::function<bool(const open_call&)>& what, const std::string& why);

  thread_host& host_;
  std::vector<std::string> program_;
  std::set<call_ptr> open_;
  std::map<std::string, std::size_t> open_of_; ///< by session
};

} // namespace gatehouse::actors
