#include "policy/starlark/each_item.hpp"
#include "policy/starlark/evaluator.hpp"
#include "policy/starlark/integers.hpp"
#include "policy/starlark/operators.hpp"

#include <algorithm>

namespace gatehouse::policy::starlark {
namespace {

std::string named(std::string_view name) {
  return "`" + std::string{name} + "`";
}

} // namespace

/// Makes `frame_` the frame of a call and counts it as one; undoes both.
class evaluator::frame_guard {
public:
  frame_guard(evaluator& on, frame* entered) : on_{on}, left_{on.frame_} {
    if (on_.calls_ >= on_.limits_.call_depth)
      raise("calls are nested too deeply (at most " + std::to_string(on_.limits_.call_depth) +
            " levels)");
    ++on_.calls_;
    if (entered) on_.frame_ = entered;
  }
  ~frame_guard() {
    --on_.calls_;
    on_.frame_ = left_;
  }
  frame_guard(const frame_guard&) = delete;
  frame_guard& operator=(const frame_guard&) = delete;

private:
  evaluator& on_;
  frame* left_;
};

value evaluator::evaluate_unary(const unary_expression& e) {
  const auto v = evaluate(*e.operand);
  here_ = e.where;
  if (e.op == unary_operator::negate) return of(!truth(v));
  if (e.op == unary_operator::invert && v.is_integer()) return invert(heap_, v);
  if (e.op != unary_operator::invert && v.is_number()) {
    if (e.op == unary_operator::plus) return v;
    return v.is(value_kind::real) ? of(-v.real) : negate(heap_, v);
  }
  raise("this operator does not take a value of type " + std::string{type_name(v)});
}

value evaluator::make_function(const function_syntax& f) {
  auto* made = heap_.make<function_object>();
  made->syntax = &f;
  made->outer = frame_;
  std::vector<value> defaults;
  for (const auto& p : f.parameters) {
    if (p.initial) {
      defaults.push_back(evaluate(*p.initial));
      require_type(p.type, defaults.back(), "the default of " + named(p.name));
    } else if (p.type) {
      conforms(*p.type, none());
    }
  }
  if (f.result_type) conforms(*f.result_type, none());
  made->defaults = heap_.copy(std::span<const value>{defaults});
  return of(made);
}

value evaluator::evaluate_call(const call_expression& e) {
  const auto callee = evaluate(*e.callee);
  std::vector<value> positional;
  std::vector<named_value> named_values;
  const auto add_named = [&](std::string_view name, const value& v) {
    spend(1 + named_values.size() / 8);
    if (std::ranges::any_of(named_values, [&](const auto& n) { return n.name == name; }))
      raise("the argument " + named(name) + " is given twice");
    named_values.push_back({name, v});
  };
  for (const auto& argument : e.arguments) {
    const auto v = evaluate(*argument.item);
    here_ = argument.item->where;
    switch (argument.kind) {
    case argument_kind::positional: positional.push_back(v); break;
    case argument_kind::named: add_named(argument.name, v); break;
    case argument_kind::sequence:
      for (const auto& item : tuple_from(*this, v).tuple->items)
        positional.push_back(item);
      break;
    case argument_kind::mapping:
      if (!v.is(value_kind::dict)) raise("the value after `**` must be a dict");
      for (const auto& entry : v.dict->entries) {
        if (!entry.key.is(value_kind::string))
          raise("the keys of the dict after `**` must be strings");
        add_named(entry.key.str(), entry.item);
      }
      break;
    }
  }
  here_ = e.where;
  return call(callee, {{}, positional, named_values, e.where});
}

value evaluator::call(const value& callee, std::span<const value> positional) {
  return call(callee, {{}, positional, {}, here_});
}

value evaluator::call(const value& callee, const call_arguments& arguments) {
  const depth_guard guard{depth_};
  spend(1);
  value result;
  if (callee.is(value_kind::function)) {
    result = call_function(*callee.function, arguments);
  } else if (callee.is(value_kind::native)) {
    const frame_guard entered{*this, nullptr};
    const auto& native = *callee.native;
    auto passed = arguments;
    passed.receiver = native.receiver;
    if (native.host) {
      if (auto wrong = native.host->call(passed)) raise(std::move(*wrong));
      result = none();
    } else {
      result = native.function(*this, passed);
    }
  } else {
    raise("a value of type " + std::string{type_name(callee)} + " cannot be called");
  }
  here_ = arguments.where;
  return result;
}

value evaluator::call_function(const function_object& f, const call_arguments& arguments) {
  auto* made = heap_.make<frame>();
  made->outer = f.outer;
  made->slots = heap_.make_array<value>(f.syntax->slots);
  bind(f, arguments, *made);
  const frame_guard entered{*this, made};
  // Annotations mean what they mean around the function, not inside it.
  frame_ = f.outer;
  for (const auto& p : f.syntax->parameters) {
    if (!p.type) continue;
    const auto what = "the argument " + named(p.name);
    const auto& given = made->slots[p.slot];
    if (p.kind == parameter_kind::sequence) {
      for (const auto& item : given.tuple->items)
        require_type(p.type, item, what);
    } else if (p.kind == parameter_kind::mapping) {
      for (const auto& entry : given.dict->entries)
        require_type(p.type, entry.item, what);
    } else {
      require_type(p.type, given, what);
    }
  }
  frame_ = made;
  returned_ = none();
  run_body(f.syntax->body);
  const auto result = std::exchange(returned_, none());
  if (f.syntax->result_type) {
    frame_ = f.outer;
    require_type(f.syntax->result_type, result, "the result of " + named(f.syntax->name));
  }
  return result;
}

void evaluator::bind(const function_object& f, const call_arguments& arguments, frame& into) {
  const auto& parameters = f.syntax->parameters;
  const auto name = named(f.syntax->name);
  spend(parameters.size() * arguments.named.size() / 8);
  std::size_t next_positional = 0;
  std::size_t next_default = 0;
  std::vector<bool> taken(arguments.named.size(), false);
  const parameter* mapping = nullptr;
  for (const auto& p : parameters) {
    auto& slot = into.slots[p.slot];
    if (p.kind == parameter_kind::sequence) {
      slot = new_tuple(*this, arguments.positional.subspan(next_positional));
      next_positional = arguments.positional.size();
      continue;
    }
    if (p.kind == parameter_kind::mapping) {
      mapping = &p;
      continue;
    }
    if (p.kind == parameter_kind::normal && next_positional < arguments.positional.size())
      slot = arguments.positional[next_positional++];
    for (std::size_t i = 0; i < arguments.named.size(); ++i) {
      if (arguments.named[i].name != p.name) continue;
      if (!slot.is(value_kind::unbound))
        raise("the argument " + named(p.name) + " of " + name + " is given twice");
      slot = arguments.named[i].item;
      taken[i] = true;
    }
    if (p.initial) {
      if (slot.is(value_kind::unbound)) slot = f.defaults[next_default];
      ++next_default;
    }
    if (slot.is(value_kind::unbound))
      raise("the argument " + named(p.name) + " of " + name + " is missing");
  }
  if (next_positional < arguments.positional.size())
    raise(name + " takes fewer positional arguments than the " +
          std::to_string(arguments.positional.size()) + " given");
  if (mapping) into.slots[mapping->slot] = new_dict(*this);
  for (std::size_t i = 0; i < arguments.named.size(); ++i) {
    if (taken[i]) continue;
    const auto& extra = arguments.named[i];
    if (!mapping) raise(name + " has no parameter " + named(extra.name));
    set_key(*this, *into.slots[mapping->slot].dict, make_string(heap_, extra.name), extra.item);
  }
}

void evaluator::require_type(const expression* type, const value& v, const std::string& what) {
  if (!type || conforms(*type, v)) return;
  raise(what + " has the type " + std::string{type_name(v)} + ", which its annotation excludes");
}

bool evaluator::conforms(const expression& type, const value& v) {
  const depth_guard guard{depth_};
  spend(1);
  if (type.kind == expression_kind::binary) {
    const auto& either = static_cast<const binary_expression&>(type);
    if (either.op == binary_operator::bit_or) {
      const bool left = conforms(*either.left, v);
      const bool right = conforms(*either.right, v);
      return left || right;
    }
  }
  if (type.kind == expression_kind::index)
    return conforms_elements(static_cast<const index_expression&>(type), v);
  if (type.kind == expression_kind::name) {
    const auto named_type = evaluate(type);
    if (named_type.is(value_kind::none)) return v.is(value_kind::none);
    if (named_type.is(value_kind::native) && named_type.native->is_type) {
      const auto name = named_type.native->name;
      return name == type_name(v) || (name == "str" && v.is(value_kind::string));
    }
  }
  raise("this annotation is not a type", type.where);
}

bool evaluator::conforms_elements(const index_expression& type, const value& v) {
  const auto container = evaluate(*type.object);
  if (!container.is(value_kind::native) || !container.native->is_type)
    raise("this annotation is not a type", type.where);
  const auto arguments = [&]() -> std::span<expression* const> {
    if (type.at->kind == expression_kind::tuple)
      return static_cast<const sequence_expression*>(type.at)->items;
    return {&type.at, 1};
  }();
  const auto name = container.native->name;
  const bool is_container = conforms(*type.object, v);
  const auto all = [&](std::span<const value> items, const expression& of_each) {
    conforms(of_each, none());
    return std::ranges::all_of(items, [&](const value& item) { return conforms(of_each, item); });
  };
  if (name == "list" && arguments.size() == 1)
    return all(is_container ? std::span<const value>{v.list->items} : std::span<const value>{},
               *arguments[0]) &&
           is_container;
  if (name == "dict" && arguments.size() == 2) {
    conforms(*arguments[0], none());
    conforms(*arguments[1], none());
    return is_container && std::ranges::all_of(v.dict->entries, [&](const auto& entry) {
             return conforms(*arguments[0], entry.key) && conforms(*arguments[1], entry.item);
           });
  }
  if (name == "tuple") {
    const auto items = is_container ? v.tuple->items : std::span<const value>{};
    const bool repeated =
        arguments.size() == 2 && arguments[1]->kind == expression_kind::literal &&
        static_cast<const literal_expression*>(arguments[1])->constant.is(value_kind::ellipsis);
    if (repeated) return all(items, *arguments[0]) && is_container;
    bool fits = is_container && items.size() == arguments.size();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      fits = conforms(*arguments[i], fits ? items[i] : none()) && fits;
    return fits;
  }
  raise("this annotation is not a type", type.where);
}

} // namespace gatehouse::policy::starlark
