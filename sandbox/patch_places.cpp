#include "sandbox/patch_places.hpp"

#include "policy/path_text.hpp"
#include "sandbox/host_paths.hpp"

#include <set>
#include <utility>

namespace gatehouse::sandbox {
namespace {

class finder {
public:
  explicit finder(const std::string& cwd) : cwd_{cwd} {}

  patch_place find(const patch_operation& operation) {
    patch_place place;
    place.change.shown = operation.move_to.value_or(operation.path);
    const auto own_name = name_at(operation.path);
    switch (operation.what) {
    case patch_operation::kind::add:
      place.change.what = change_kind::add;
      place.change.path = file_at(own_name);
      break;
    case patch_operation::kind::remove:
      place.change.what = change_kind::remove;
      place.change.path = own_name;
      gone_.insert(own_name);
      break;
    case patch_operation::kind::update: {
      place.change.what = change_kind::update;
      place.reads = place.change.path = file_at(own_name);
      if (!operation.move_to) break;
      const auto target = name_at(*operation.move_to);
      if (target == own_name) break;
      const auto real_target = file_at(target);
      if (real_target == own_name) break; // the same file by another way
      place.change.what = change_kind::move;
      place.change.path = real_target;
      place.change.from = own_name;
      gone_.insert(own_name);
      break;
    }
    }
    place.existing_folder = existing(std::string{policy::parent_of(place.change.path)});
    return place;
  }

private:
  /// The path with the links of its folders followed, but not one at its end.
  [[nodiscard]] std::string name_at(const std::string& path) const {
    auto absolute = policy::absolute_below(cwd_, path);
    if (absolute == "/") return absolute;
    const auto folder = look_at(policy::parent_of(absolute)).canonical;
    return (folder == "/" ? "" : folder) + "/" + std::string{policy::name_of(absolute)};
  }

  /// What writing to `name` writes to. A link that this patch takes away leads nowhere any more.
  [[nodiscard]] std::string file_at(const std::string& name) const {
    return gone_.contains(name) ? name : look_at(name).canonical;
  }

  static std::string existing(const std::string& folder) {
    const auto fact = look_at(folder);
    return fact.kind == path_kind::missing ? fact.existing_folder : fact.canonical;
  }

  const std::string& cwd_;
  std::set<std::string> gone_;
};

} // namespace

std::vector<patch_place> find_patch_places(const patch& what, const std::string& cwd) {
  finder finds{cwd};
  std::vector<patch_place> places;
  places.reserve(what.operations.size());
  for (const auto& operation : what.operations)
    places.push_back(finds.find(operation));
  return places;
}

} // namespace gatehouse::sandbox
