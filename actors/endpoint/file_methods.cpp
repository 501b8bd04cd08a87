#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/refusals.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;
using exec_server::file_call;
using exec_server::file_method;

void file_methods::perform(const std::optional<std::string>& thread_id, file_call call,
                           std::string base64) const {
  if (!thread_id)
    return done(wrong_params("field `threadId` is missing: files are touched under the policy and "
                             "the profile of a thread; thread/start opens one"));
  const auto entry = need(*thread_id);
  if (!entry) return;
  if (session.unsent() >= file_calls::most_of_one)
    return done(overloaded("answers wait for this client to read them; try again when it has",
                           session.unsent(), file_calls::most_of_one));
  auto& services = session.services();
  const auto most = services.limits.frame_bytes;
  services.files->perform(entry, session.id(), std::move(call), std::move(base64), most - most / 16,
                          done);
}

void file_methods::operator()(app::methods::read_file, const app::file_params& p) const {
  file_call call;
  call.method = file_method::read_file;
  call.path = p.path;
  perform(p.thread_id, std::move(call));
}

void file_methods::operator()(app::methods::get_metadata, const app::file_params& p) const {
  file_call call;
  call.method = file_method::get_metadata;
  call.path = p.path;
  perform(p.thread_id, std::move(call));
}

void file_methods::operator()(app::methods::read_directory, const app::file_params& p) const {
  file_call call;
  call.method = file_method::read_directory;
  call.path = p.path;
  perform(p.thread_id, std::move(call));
}

void file_methods::operator()(app::methods::write_file, const app::write_file_params& p) const {
  file_call call;
  call.method = file_method::write_file;
  call.path = p.path;
  perform(p.thread_id, std::move(call), p.data_base64);
}

void file_methods::operator()(app::methods::create_directory,
                              const app::create_directory_params& p) const {
  file_call call;
  call.method = file_method::create_directory;
  call.path = p.path;
  call.recursive = p.recursive.value_or(true);
  perform(p.thread_id, std::move(call));
}

void file_methods::operator()(app::methods::remove, const app::remove_params& p) const {
  file_call call;
  call.method = file_method::remove;
  call.path = p.path;
  call.recursive = p.recursive.value_or(false);
  call.force = p.force.value_or(false);
  perform(p.thread_id, std::move(call));
}

void file_methods::operator()(app::methods::copy, const app::copy_params& p) const {
  file_call call;
  call.method = file_method::copy;
  call.path = p.source_path;
  call.destination = p.destination_path;
  call.recursive = p.recursive.value_or(false);
  perform(p.thread_id, std::move(call));
}

} // namespace gatehouse::actors
