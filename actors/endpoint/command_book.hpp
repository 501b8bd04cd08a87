#pragma once

#include "actors/endpoint/call_book.hpp"
#include "actors/endpoint/thread_book.hpp"
#include "protocol/rpc/app_methods.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gatehouse::actors {

/// The commands that one session runs for its client (`command/exec`), each a call of a thread: a
/// shell_command, or with a terminal an exec_command whose session it follows to its end. Nobody
/// but this session can write to them or end them through it. Loop's thread.
class command_book : public std::enable_shared_from_this<command_book> {
public:
  /// `out` outlives it.
  command_book(client_writer& out, std::shared_ptr<call_share> calls)
      : out_{out}, calls_{std::move(calls)} {}
  ~command_book();
  command_book(const command_book&) = delete;
  command_book& operator=(const command_book&) = delete;

  /// @param entry the thread that `params` names
  void exec(const std::shared_ptr<thread_entry>& entry, const rpc::app::command_exec_params& params,
            rpc_reply done);
  void write(const rpc::app::command_write_params& params, rpc_reply done);
  void resize(const rpc::app::command_resize_params& params, const rpc_reply& done);
  void terminate(const std::string& process_id, const rpc_reply& done);

  /// Ends what does not outlive its connection.
  void connection_lost();
  /// Nothing more comes of the thread.
  void closed(const thread_entry& thread);

private:
  struct command;
  struct ear;
  using command_ptr = std::shared_ptr<command>;

  [[nodiscard]] command_ptr find(const std::string& process_id) const;
  void listen(const std::shared_ptr<thread_entry>& entry);
  void hear(const thread_event& event, const thread_entry& of);
  void tell(command& of, output_stream stream, std::string_view bytes);
  void answered(const command_ptr& of, const rpc_outcome& what);
  void terminal_began(const command_ptr& of);
  void type(const command_ptr& into, std::string text, rpc_reply done);
  void poll_end(const command_ptr& of);
  void piece(const command_ptr& of, const call_report& said);
  void stop(command& what);
  void end_if_over(const command_ptr& of);
  void finish(const command_ptr& of, rpc::app::command_exec_result told);
  /// Answers what was typed for a terminal that will not be there.
  static void refuse_queued(command& of, const std::string& why);
  void forget(const command_ptr& of);

  client_writer& out_;
  std::shared_ptr<call_share> calls_;
  std::map<std::string, command_ptr> by_process_;                      ///< those that have an id
  std::map<std::pair<std::string, std::string>, command_ptr> by_call_; ///< thread, call
  std::map<std::string, std::shared_ptr<ear>> ears_;                   ///< by thread
};

} // namespace gatehouse::actors
