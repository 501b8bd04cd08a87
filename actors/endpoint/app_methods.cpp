#include "actors/endpoint/app_methods.hpp"

#include "actors/endpoint/refusals.hpp"

#include <type_traits>

namespace gatehouse::actors {

namespace app = rpc::app;

namespace {

struct all_methods : thread_methods,
                     tool_methods,
                     terminal_methods,
                     command_methods,
                     file_methods,
                     approval_methods {
  all_methods(app_session& session, const rpc_reply& done)
      : thread_methods{{session, done}}, tool_methods{{session, done}},
        terminal_methods{{session, done}}, command_methods{{session, done}},
        file_methods{{session, done}}, approval_methods{{session, done}} {}
  using thread_methods::operator();
  using tool_methods::operator();
  using terminal_methods::operator();
  using command_methods::operator();
  using file_methods::operator();
  using approval_methods::operator();
};

} // namespace

std::shared_ptr<thread_entry> app_methods_base::need(const std::string& thread_id) const {
  auto entry = session.services().threads.find(thread_id);
  if (!entry) done(no_thread(thread_id));
  return entry;
}

bool takes_time(std::string_view method) noexcept {
  return method == app::methods::thread_start::name ||
         method == app::methods::settings_update::name ||
         method == app::methods::policy_explain::name ||
         method == app::methods::profile_list::name || method == app::methods::write_file::name ||
         method == app::methods::create_directory::name || method == app::methods::remove::name ||
         method == app::methods::copy::name;
}

bool perform(app_session& session, const rpc::message& request, const rpc_reply& done) {
  // Whatever its parameters are, and whether they can be read.
  if (request.method() == app::methods::initialize::name) {
    done(refused("already initialized", "alreadyInitialized"));
    return true;
  }
  const all_methods carry_out{session, done};
  const auto if_allowed = [&]<class Method>(Method method, auto&& params) {
    const bool allowed = Method::who == app::caller::anyone ||
                         (Method::who == app::caller::agent) == (session.who() == authority::agent);
    if constexpr (!std::is_same_v<Method, app::methods::initialize>)
      if (allowed) return carry_out(method, std::forward<decltype(params)>(params));
    done(refused(std::string{Method::name} + " needs the credential of " +
                     (session.who() == authority::agent ? "a reviewer" : "an agent") +
                     "; this connection has the other one",
                 "authority"));
  };
  return app::dispatch(request, if_allowed, done);
}

} // namespace gatehouse::actors
