#pragma once

#include "actors/endpoint/endpoint.hpp"
#include "actors/waiting_helper.hpp"
#include "cli/explainer.hpp"
#include "cli/remote_session.hpp"
#include "cli/settings_options.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// Opens threads for `serve`: the configuration as it is when a thread starts, narrowed by what
/// the client wishes. An agent may work below the roots that the command line names, and may wish
/// for a stricter policy or a narrower profile, never for more; a reviewer may choose. Both may
/// name any configured environment (§7); there an agent's workspace is the configured folder, since
/// links on another machine cannot be followed from here.
class thread_desk {
public:
  /// Errors: the command line or the configuration is wrong.
  static result<thread_desk> make(const options& given, const start_point& start,
                                  reactor::event_loop& loop);

  result<actors::thread_opening> open(const actors::thread_wishes& wishes) const;
  /// Those that can be named, built in and configured, as the configuration is now. One that may
  /// not be used here is left out. Errors: the configuration cannot be read.
  [[nodiscard]] result<std::vector<rpc::app::profile_summary>> profiles() const;

private:
  thread_desk(reactor::event_loop& loop)
      : loop_{&loop}, connections_{std::make_shared<remote_connections>(loop)},
        ahead_{std::make_shared<actors::waiting_helper>(loop)} {}
  /// The settings under which a thread may be opened whose configuration is that of `folder`.
  [[nodiscard]] result<start_point> settle(const actors::thread_wishes& wishes,
                                           const std::string& folder) const;
  [[nodiscard]] result<actors::thread_opening> open_here(const actors::thread_wishes& wishes) const;
  [[nodiscard]] result<actors::thread_opening>
  open_there(const std::string& environment, const actors::thread_wishes& wishes) const;

  void follow(actors::thread_opening& opening, std::shared_ptr<config::live_rules> live,
              const actors::thread_wishes& wishes) const;

  reactor::event_loop* loop_;
  std::shared_ptr<remote_connections> connections_;
  std::shared_ptr<actors::waiting_helper> ahead_;
  std::string environment_; ///< of threads whose client names none
  std::string cwd_;
  std::vector<std::string> roots_; ///< real paths
  std::optional<std::string> ask_, profile_;
  std::vector<std::string> rule_files_;
  std::vector<std::string> token_files_; ///< that the command line names
};

/// May an agent that works under `configured` wish for `wished`? Only for the same, or for less
/// where that is plain: everything else is asked of no one.
bool asks_no_less(const approval_policy& configured, const approval_policy& wished) noexcept;
/// The same for the profiles of two starts in one folder, as far as they can be compared.
bool touches_no_more(const start_point& configured, const start_point& wished);

/// The answer of `policy explain` as JSON, for the arguments of a call outside of any thread. Those
/// of shell_command may also say what it is judged by (protocol/explain_json.hpp).
result<std::string> explain_for(explainer& source, std::string_view tool, const json_tree& call);

} // namespace gatehouse::cli
