#pragma once

#include "actors/interfaces.hpp"
#include "protocol/audit.hpp"

#include <string>

namespace gatehouse::actors {

using record_atom = caf::atom_constant<caf::atom("record")>;
inline constexpr record_atom record_v{};

/// Writes the audit (§205).
using auditor_actor = caf::typed_actor<
    // One reply when the entry and all before it stand: empty, or why it does not stand and what it
    // describes must not happen. Who waits for nothing sends without a name.
    caf::replies_to<record_atom, audit_record_ptr>::with<std::string>>;

} // namespace gatehouse::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::audit_record_ptr)

CAF_BEGIN_TYPE_ID_BLOCK(gatehouse_audit, caf::id_block::gatehouse::end)

  CAF_ADD_TYPE_ID(gatehouse_audit, (gatehouse::audit_record_ptr))

CAF_END_TYPE_ID_BLOCK(gatehouse_audit)
