#pragma once

#include "cli/terminal_look.hpp"
#include "protocol/review.hpp"
#include "protocol/rpc/app_types.hpp"

#include <string>
#include <vector>

namespace gatehouse::cli {

/// One answer that a person may give, by one key.
struct answer_choice {
  char key = 'n';
  std::string label;    ///< what it does
  std::string decision; ///< as JSON for the endpoint; empty for a question of this process
};

/// A question as people read it, wherever it comes from: of a call in this process, or of a daemon.
struct question_view {
  std::string patch_files; ///< of a patch; empty: it is a command
  std::string patch_text;
  std::string command; ///< as one types it
  std::string folder;
  std::string machine;             ///< the environment (§7); empty: this machine
  std::vector<std::string> writes; ///< files that redirections of the command write
  std::string why;
  std::string says; ///< the agent's own words; empty: none, or the same as `why`
  std::string allows;
  std::vector<answer_choice> choices; ///< in the order in which they are read
};

question_view view_of(const review_request& question);
question_view view_of(const rpc::app::approval_request& question);

/// What a person is shown: the exact command, the folder, why it is asked, what a yes allows, and
/// the answers. Nothing in it can move the cursor or forge a line of ours, beside colours where
/// `look` has them.
std::string question_text(const question_view& question, std::string_view headline,
                          const terminal_look& look);
/// The same for a call in this process, plain.
std::string question_text(const review_request& question);

} // namespace gatehouse::cli
