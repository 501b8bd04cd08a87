#pragma once

#include "policy/starlark/arguments.hpp"

/// Methods of strings about letter case and kinds of characters, Unicode's.
namespace gatehouse::policy::starlark {

value lower(evaluator& on, const call_arguments& a);
value upper(evaluator& on, const call_arguments& a);
value capitalize(evaluator& on, const call_arguments& a);
value title(evaluator& on, const call_arguments& a);
value isalnum(evaluator& on, const call_arguments& a);
value isalpha(evaluator& on, const call_arguments& a);
value isdigit(evaluator& on, const call_arguments& a);
value isspace(evaluator& on, const call_arguments& a);
value islower(evaluator& on, const call_arguments& a);
value isupper(evaluator& on, const call_arguments& a);
value istitle(evaluator& on, const call_arguments& a);

} // namespace gatehouse::policy::starlark
