#pragma once

#include "actors/audit/audit_sink.hpp"
#include "actors/helper_process.hpp"
#include "cli/exec_process_audit.hpp"
#include "cli/retained_output.hpp"
#include "policy/access.hpp"
#include "protocol/exec_server.hpp"
#include "reactor/delta_coalescer.hpp"
#include "reactor/head_tail_buffer.hpp"
#include "reactor/timer.hpp"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// What all processes of a server have in common.
struct exec_host {
  reactor::event_loop* loop = nullptr;
  std::string helper;                   ///< gatehouse-sandbox
  std::string own;                      ///< gatehouse
  std::vector<std::string> environment; ///< the server's, for `envPolicy`
  std::vector<std::string> protected_paths;
  /// What no confined command may see: credentials of ours; asked before each start. On the loop.
  std::function<std::vector<std::string>()> hidden_paths;
  bool allow_unsandboxed = false;
  std::shared_ptr<actors::audit_sink> audit; ///< unset: nothing is recorded (§205)
  std::size_t retained_bytes =
      1024 * 1024; ///< of output, with what its pieces take, for each process
};

/// Where what a process says goes.
struct exec_sink {
  std::function<void(std::string)> send; ///< one notification; dropped while nobody is attached
  /// Output of a process, in the form that the client wants; dropped likewise.
  std::function<void(const std::string& process_id, const retained_output::chunk&)> output;
  std::function<std::size_t()> largest; ///< bytes of output in one message
  std::function<bool()> full; ///< the client takes no more now: the process is read no further
};

/// One process of a session: numbers what it says without a gap, retains the newest of it, and
/// answers reads. Output is gathered (8 KiB, 10 ms, line ends of a terminal).
class exec_process {
public:
  /// `on_started` runs once, later, with the result object of process/start or why it failed; after
  /// a failure the process is nothing any more. It starts when the audit has it.
  /// @param session for the audit
  exec_process(const exec_host& host, std::string session, exec_server::process_start what,
               exec_sink sink,
               std::function<void(const std::optional<exec_server::failure>&)> on_started);

  void read(const exec_server::process_read& order, std::function<void(std::string)> answer);
  /// "accepted", "stdinClosed" or "starting". Errors: `too_large` it takes no more now, nothing of
  /// it was written, and the same id may be tried again; `invalid_request` it is too long for one.
  result<std::string_view> write(const exec_server::process_write& order);
  /// Before it runs: as soon as it does.
  void interrupt();
  /// Kills the whole tree; one that has not begun never runs. Was it running, or about to?
  bool terminate();
  /// The client takes more again, or another one has come.
  void drained();
  [[nodiscard]] bool sandboxed() const noexcept;
  [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
  struct waiting_read {
    exec_server::process_read order;
    std::function<void(std::string)> answer;
    std::unique_ptr<reactor::timer> limit;
    bool over = false;
  };

  void start();
  void fail(exec_server::failure why);
  void refuse_network();
  void keep(reactor::output_stream stream, std::string_view bytes);
  void emit(std::vector<reactor::output_delta> deltas);
  void emit_chunk(std::string_view stream, std::string bytes);
  void arm();
  void exited(const actors::command_end& end);
  void tell_exit();
  void tell_closed();
  /// What the boundary refused, if that is why it failed.
  [[nodiscard]] std::optional<denial> refusal(const actors::command_end& end);
  [[nodiscard]] bool news_after(std::uint64_t seq) const;
  [[nodiscard]] std::string answer_now(const exec_server::process_read& order) const;
  void serve_reads();
  void remember_write(const std::string& id);

  const exec_host& host_;
  exec_server::process_start what_;
  exec_process_audit audit_;
  exec_sink sink_;
  std::function<void(const std::optional<exec_server::failure>&)> on_started_;
  std::unique_ptr<actors::helper_process> process_;
  reactor::delta_coalescer gathered_;
  std::array<reactor::head_tail_buffer, 2>
      tails_; ///< of the streams, for what the boundary refused
  reactor::timer flush_;
  reactor::timer settle_; ///< between the end of the process and telling it
  reactor::timer later_;
  retained_output kept_;
  std::uint64_t seq_ = 0;
  std::uint64_t exit_seq_ = 0;
  std::vector<reactor::output_stream> owed_; ///< read on when the client takes more
  std::set<std::string> write_ids_;          ///< the newest that were taken
  std::deque<std::string> write_ids_in_order_;
  std::vector<std::unique_ptr<waiting_read>> reads_;
  bool started_ = false;
  bool streams_ended_ = false;
  std::optional<actors::command_end> end_;
  std::optional<int> exit_code_;
  bool denied_ = false;
  bool killed_ = false;      ///< by its client
  bool interrupted_ = false; ///< by its client, before it ran
  bool closed_ = false;
};

} // namespace gatehouse::cli
