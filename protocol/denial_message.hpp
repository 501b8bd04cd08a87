#pragma once

#include "protocol/call_report.hpp"
#include "protocol/denial.hpp"
#include "protocol/error.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/network.hpp"
#include "protocol/review.hpp"

#include <string>
#include <vector>

namespace gatehouse {

/// The only maker of refusal and denial texts for the model (§48b): each says what was refused, by
/// whom, which safer path exists, and that the same act in other words is not one. Plain text,
/// several lines, no final newline.

/// Policy or the tool handler refused; nothing ran.
std::string policy_refusal_message(const exec_requirement& requirement);

/// A reviewer said no (or gave no answer) to the first question; nothing ran.
std::string review_refusal_message(const review_request& question, const review_answer& answer);

/// The boundary refused something and no retry was due: the denial goes back (§100).
std::string denial_message(const denial& what);

/// The boundary refused something, and the question about a retry was answered with no.
std::string retry_refusal_message(const denial& what, const review_request& question,
                                  const review_answer& answer);

/// The answer was `abort`: the turn is over until the user speaks (§51, §48a).
std::string stopped_message(const review_answer& answer);

/// A call that came after the turn had been stopped; nothing ran. @param why "the user stopped it"
std::string turn_over_message(std::string_view why);

/// The time limit ended the command (§97): which, and whether it stood still then (BR-157); with a
/// `failure`, what is not known since it was out of reach.
std::string time_out_message(const attempt_record& attempt);

/// The caller took the call back.
std::string cancelled_message();
/// The same of a call that had begun: with its `failure`, if the command was out of reach.
std::string cancelled_message(const attempt_record& attempt);
/// The turn of the call was stopped. @param why "the user stopped it"
std::string interrupted_message(std::string_view why);

/// The boundary or the program could not be started.
std::string failure_message(const error& failure);

/// A call about a session came to nothing; the session, if there is one, is as it was.
/// @param input it was to write something
std::string session_failure_message(const error& failure, bool input);

/// An attempt that was ended from outside, with its `failure`: `lost` nobody knows what became of
/// the command, `signalled` it was killed with its boundary. Else empty.
std::string cut_message(const attempt_record& attempt);

/// A refused connection as a denial of the boundary: what decided, and what would allow it.
denial denial_of(const blocked_connection& what);

/// What the program that wanted the connection gets to read (BR-089).
std::string blocked_connection_message(const blocked_connection& what);

/// Beside the result of a command that got along without these connections (§143); each host once.
/// @pre `blocked` is not empty
std::string blocked_connections_note(const std::vector<blocked_connection>& blocked);

/// The patch could not be read, does not fit the files, or the system refused part of it.
std::string patch_failure_message(const error& failure);

/// Which part of a patch is on disk although the rest is not (§107). Empty when nothing is.
std::string partial_patch_note(const patch_result& patch);

/// "writing /etc/passwd", "connecting to example.org": what was refused, without a full stop.
std::string describe(const denial& what);

} // namespace gatehouse
