#pragma once

#include "actors/endpoint/thread_book.hpp"
#include "protocol/rpc/app_types.hpp"

namespace gatehouse::actors {

/// What clients are told of a thread.
rpc::app::thread_status status_of(const thread_watch& watch);
rpc::app::thread_info info_of(const thread_entry& entry);

} // namespace gatehouse::actors
