#pragma once

#include "protocol/exec_server.hpp"
#include "reactor/program_exchange.hpp"
#include "sandbox/launch.hpp"

namespace gatehouse::actors {

/// One call about files, made inside a boundary by our own program (`gatehouse file-call`), which
/// is `launch.command`; it gets no network, whatever the profile says.
reactor::exchange_request confined_file_call(sandbox::launch_request launch,
                                             const exec_server::file_call& call);

/// What it answered; a call that could not be made is a failure of the kind `sandboxUnavailable`,
/// one that took too long or said too much one of `io` or `tooLarge`.
exec_server::file_answer file_answer_of(const reactor::exchange_end& end);

} // namespace gatehouse::actors
