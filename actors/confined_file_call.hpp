#pragma once

#include "protocol/exec_server.hpp"
#include "reactor/program_exchange.hpp"
#include "sandbox/launch.hpp"

#include <string>

namespace gatehouse::actors {

/// One call about files, made inside a boundary by our own program (`gatehouse file-call`), which
/// is `launch.command`; it gets no network, whatever the profile says.
/// @param call as exec_server::encode_file_call writes it
reactor::exchange_request confined_file_call(sandbox::launch_request launch, std::string call);

/// What it answered; a call that could not be made is a failure of the kind `sandboxUnavailable`,
/// one that took too long or said too much one of `io` or `tooLarge`.
exec_server::file_answer file_answer_of(const reactor::exchange_end& end);

} // namespace gatehouse::actors
