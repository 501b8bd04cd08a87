#pragma once

// The field lists of the app dialect: names on the wire, and what the schema says about them.
#include "protocol/rpc/approval_fields.hpp"
#include "protocol/rpc/call_fields.hpp"
#include "protocol/rpc/command_fields.hpp"
#include "protocol/rpc/event_fields.hpp"
#include "protocol/rpc/file_fields.hpp"
#include "protocol/rpc/thread_fields.hpp"
