// The way through a kernel: which functions it may call, where parameters, variables and registers lie, and
// what emits each instruction. See decode.hpp and decoder.hpp.
#include "exec/decode.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "exec/builtins.hpp"
#include "exec/decoder.hpp"

namespace lanescope::exec {

Kernel Decoder::run(uint32_t entry) {
  const ptx::Function& f = m_.functions[entry];
  k_.name = f.name;
  k_.display_name = f.display_name;
  k_.max_threads = f.max_threads;
  k_.required_threads = f.required_threads;
  k_.is_of_tiles = f.language == 7;  // cuda.tile; PTX ISA 9.1 does not describe it
  k_.required_cluster = f.required_cluster;
  k_.explicit_cluster = f.explicit_cluster;
  k_.blocks_are_clusters = f.blocks_are_clusters;
  k_.max_cluster_rank = f.max_cluster_rank;
  for (const ptx::SourceFile& file : m_.files) {
    if (file.id >= k_.files.size() && file.id < 65536) k_.files.resize(file.id + 1);
    if (file.id < k_.files.size()) k_.files[file.id] = file.path;
  }
  place_params(f);
  collect(entry);
  place_shared();
  place_call_area();
  zero_ = constant(8, 0);
  zero32_ = constant(4, 0);
  for (size_t i = 0; i < functions_.size(); ++i) prepare(functions_[i]);
  for (size_t i = 0; i < functions_.size(); ++i) emit_function(functions_[i]);
  k_.entry = functions_[0].entry;
  finish();
  return std::move(k_);
}

void Decoder::fail(const std::string& what) const {
  if (in_ == nullptr) throw Error(what);
  throw Error({m_.name, in_->loc.line, in_->loc.column}, what, std::string(m_.text_line(in_->loc.line)));
}

void Decoder::unsupported(const std::string& what) const {
  m_.refuse({"the instruction '" + text_of(*in_) + "' is not supported" + (what.empty() ? "" : ": " + what),
             in_->loc, in_->source},
            *s_->f, *functions_[0].f);
}

std::string Decoder::text_of(const ptx::Instruction& in) {
  std::string text(ptx::name_of(in.op));
  for (const Space space : {in.space, in.second_space})
    if (space != Space::generic) text += "." + std::string(ptx::name_of(space));
  if (in.shape.m != 0) text += "." + ptx::name_of(in.shape);
  for (size_t i = 0; i < ptx::modifier_count; ++i)
    if (in.modifiers[i]) text += "." + std::string(ptx::name_of(static_cast<Mod>(i)));
  if (in.vector > 1) text += ".v" + std::to_string(in.vector);
  for (Type t : in.types) text += "." + std::string(ptx::name_of(t));
  return text;
}

void Decoder::collect(uint32_t entry) {
  std::vector<uint32_t> work{entry};
  place_of_[entry] = 0;
  bool indirect = false;
  std::vector<uint32_t> taken;
  for (const ptx::Variable& v : m_.variables)
    for (const ptx::Relocation& r : v.relocations)
      if (r.symbol.kind == SymbolRef::Kind::function) taken.push_back(r.symbol.index);
  auto add = [&](uint32_t index) {
    if (place_of_.try_emplace(index, static_cast<uint32_t>(work.size())).second) work.push_back(index);
  };
  for (size_t i = 0; i < work.size(); ++i) {
    const ptx::Function& f = m_.functions[work[i]];
    m_.check_runs(f, m_.functions[entry]);
    for (const ptx::Instruction& in : f.body) {
      for (const Operand& o : in.operands)
        if (o.symbol.kind == SymbolRef::Kind::function) {
          const ptx::Function& callee = m_.functions[o.symbol.index];
          if (in.op == Op::call) {
            in_ = &in;
            if (find_builtin(callee)) {
              if (!is_declared_well(callee))
                fail("'" + callee.display_name +
                     "' is declared with other parameters than the CUDA function has");
              builtins_.push_back(o.symbol.index);
              continue;
            }
            if (!callee.has_body)
              m_.refuse(
                  {"call of '" + callee.display_name +
                       "', which this module declares but does not define: such calls are not supported",
                   in.loc, in.source},
                  f, m_.functions[entry]);
            add(o.symbol.index);
          } else {
            taken.push_back(o.symbol.index);
          }
        }
      if (in.op == Op::call && !std::any_of(in.operands.begin(), in.operands.end(), [](const Operand& o) {
            return o.symbol.kind == SymbolRef::Kind::function;
          }))
        indirect = true;
    }
    if (i + 1 == work.size() && indirect)
      for (uint32_t t : taken)
        if (m_.functions[t].has_body && !m_.functions[t].is_entry) add(t);
  }
  functions_.resize(work.size());
  for (size_t i = 0; i < work.size(); ++i) {
    functions_[i].index = work[i];
    functions_[i].f = &m_.functions[work[i]];
    functions_[i].address_taken = std::find(taken.begin(), taken.end(), work[i]) != taken.end();
  }
  std::vector<bool> gives_way;  // itself
  for (FunctionState& s : functions_) {
    for (uint32_t i = 0; i < s.f->body.size(); ++i)
      if (s.f->body[i].op == Op::call) s.calls.push_back({i, callees_of(s.f->body[i])});
    gives_way.push_back(may_give_way(*s.f));
  }
  for (size_t place = 0; place < functions_.size(); ++place) {
    FunctionState& s = functions_[place];
    s.reaches = reached_from(s);
    s.recursive = s.reaches[place];
    s.may_give_way = gives_way[place];
    for (size_t i = 0; i < functions_.size(); ++i)
      s.may_give_way = s.may_give_way || (s.reaches[i] && gives_way[i]);
  }
}

std::vector<uint32_t> Decoder::callees_of(const ptx::Instruction& in) const {
  std::vector<uint32_t> callees;
  bool direct = false;
  for (const Operand& o : in.operands)
    if (o.symbol.kind == SymbolRef::Kind::function) {
      direct = true;
      if (auto place = place_of_.find(o.symbol.index); place != place_of_.end())
        callees.push_back(place->second);
    }
  for (size_t i = 0; !direct && i < functions_.size(); ++i)
    if (functions_[i].address_taken) callees.push_back(static_cast<uint32_t>(i));
  return callees;
}

std::vector<bool> Decoder::reached_from(const FunctionState& s) const {
  std::vector<bool> reached(functions_.size(), false);
  std::vector<const FunctionState*> work{&s};
  while (!work.empty()) {
    const FunctionState& caller = *work.back();
    work.pop_back();
    for (const FunctionState::Call& call : caller.calls)
      for (const uint32_t callee : call.callees) {
        if (reached[callee]) continue;
        reached[callee] = true;
        work.push_back(&functions_[callee]);
      }
  }
  return reached;
}

void Decoder::place_params(const ptx::Function& f) {
  uint32_t at = 0;
  for (const ptx::Variable& p : f.params) {
    const uint32_t offset = next_argument(at, p);
    k_.params.push_back({p.name, offset, static_cast<uint32_t>(p.size), p.align, p.type, !p.dims.empty()});
  }
  k_.param_bytes = at;
}

void Decoder::place_shared() {
  uint32_t at = 0;
  auto place = [&](const ptx::Variable& v) -> std::optional<uint32_t> {
    if (v.size == 0) return std::nullopt;
    at = round_up(at, v.align);
    const uint32_t offset = at;
    if (v.size > (1u << 30)) throw Error("shared variable '" + v.display_name + "' is too large");
    k_.shared.push_back({v.display_name, offset, static_cast<uint32_t>(v.size), false});
    at += static_cast<uint32_t>(v.size);
    return offset;
  };
  std::vector<std::pair<uint32_t, std::string>> dynamic;  // module variables
  for (const FunctionState& s : functions_) {
    for (uint32_t i = 0; i < s.f->variables.size(); ++i) {
      const ptx::Variable& v = s.f->variables[i];
      if (!is_shared(v.space)) continue;
      if (auto offset = place(v)) function_shared_[{s.index, i}] = *offset;
    }
    auto see = [&](const Operand& o) {
      if (o.symbol.kind != SymbolRef::Kind::module_variable) return;
      const ptx::Variable& v = m_.variables[o.symbol.index];
      if (!is_shared(v.space) || module_shared_.count(o.symbol.index) != 0) return;
      if (auto offset = place(v)) {
        module_shared_[o.symbol.index] = *offset;
        k_.shared.back().symbol = v.name;
      } else if (std::none_of(dynamic.begin(), dynamic.end(),
                              [&](auto& d) { return d.first == o.symbol.index; })) {
        dynamic.emplace_back(o.symbol.index, v.display_name);
      }
    };
    for (const ptx::Instruction& in : s.f->body) {
      for (const Operand& o : in.operands) see(o);
      for (const Operand& o : in.elements) see(o);
    }
  }
  // What ptxas makes of any array of the module that the launch decides the size of, used or not: the others
  // take room up to where such arrays begin (ptxas 13.0, sm_90).
  uint32_t dynamic_align = 0;
  const auto see_dynamic = [&](const ptx::Variable& v) {
    if (is_shared(v.space) && v.size == 0) dynamic_align = std::max({dynamic_align, v.align, 16U});
  };
  for (const ptx::Variable& v : m_.variables) see_dynamic(v);
  for (const FunctionState& s : functions_)
    for (const ptx::Variable& v : s.f->variables) see_dynamic(v);
  k_.static_shared = dynamic_align == 0 ? at : round_up(at, dynamic_align);
  k_.dynamic_shared_offset = round_up(k_.static_shared, 16);
  for (auto& [index, name] : dynamic) {
    module_shared_[index] = k_.dynamic_shared_offset;
    k_.shared.push_back({name, k_.dynamic_shared_offset, 0, true});
  }
  // Halide's kernels know dynamic shared memory by its addresses alone.
  if (k_.shared.empty()) k_.shared.push_back({"dynamic shared memory", 0, 0, true});
}

void Decoder::place_call_area() {
  auto see = [&](const auto& f) {
    for (const auto* list : {&f.params, &f.returns}) {
      uint32_t at = 0;
      for (const ptx::Variable& v : *list) next_argument(at, v);
      call_area_ = std::max(call_area_, round_up(at, 16));
    }
  };
  for (const FunctionState& s : functions_) {
    if (!s.f->is_entry) see(*s.f);
    // An indirect call is of its prototype, whether or not there is such a function here.
    for (const ptx::Table& table : s.f->tables) {
      see(table);
      for (const uint32_t f : table.functions) see(m_.functions[f]);
    }
  }
  for (uint32_t b : builtins_) see(m_.functions[b]);
  local_top_ = 2 * call_area_;
}

uint32_t Decoder::next_argument(uint32_t& at, const ptx::Variable& v) {
  at = round_up(at, std::max(v.align, 1u));
  const uint32_t offset = at;
  at += static_cast<uint32_t>(v.size);
  return offset;
}

void Decoder::prepare(FunctionState& s) {
  s.flow = analyse(*s.f, !s.f->is_entry);
  const Loops loops(s.flow);
  s.wait_loops = wait_loops(*s.f, s.flow, loops);
  std::vector<uint32_t> parting;
  for (const auto& [instruction, callees] : s.calls)
    if (std::any_of(callees.begin(), callees.end(), [&](uint32_t c) { return functions_[c].may_give_way; }))
      parting.push_back(instruction);
  s.yields = find_yields(*s.f, s.flow, loops, parting);
  // In a function, lanes that pass a meeting unseen would return to the wrong place; in a kernel they end.
  if (s.f->is_entry) find_meetings(*s.f, s.flow, loops, s.wait_loops);
  // What is not counted is computed as well by the loops as they are written.
  if (!m_.is_debug && observed_) s.unrolled = unrolled_loops(*s.f, s.flow, loops);
  // Copies of such places would be ones more.
  std::erase_if(s.unrolled, [&](const UnrolledLoop& loop) {
    const auto is_at = [&](const std::vector<uint32_t>& places) {
      return std::binary_search(places.begin(), places.end(), loop.first);
    };
    return is_at(s.yields.gives_way) || is_at(s.yields.gathers);
  });
  for (const UnrolledLoop& loop : s.unrolled) k_.unrolled[s.index].push_back(loop);
  place_frame(s);
  place_registers(s);
  s_ = &s;
  if (checked_) place_local_variables(s);
  for (uint32_t r : s.flow.undefined)
    k_.zeroed.push_back({register_at(r), register_bytes(lane_bytes(s.f->registers[r].type))});
  if (s.carry != no_operand) k_.zeroed.push_back({s.carry, 4});
}

void Decoder::place_frame(FunctionState& s) {
  uint32_t at = 0;
  const auto place = [&](const ptx::Variable& v) {
    if (v.size > (1u << 24))
      throw Error("'" + v.name + "': local memory of " + std::to_string(v.size) + " bytes");
    return next_argument(at, v);
  };
  if (!s.f->is_entry) {
    for (const ptx::Variable& v : s.f->params) s.param_at.push_back(place(v));
    for (const ptx::Variable& v : s.f->returns) s.return_at.push_back(place(v));
  }
  for (const ptx::Variable& v : s.f->variables)
    s.variable_at.push_back(
        v.space == Space::local || v.space == Space::param || v.space == Space::param_func ? place(v) : 0);
  s.frame_bytes = round_up(std::max(at, s.recursive ? 1u : 0u), 16);  // a call uses some of the stack
  s.moves_stack = std::any_of(s.f->body.begin(), s.f->body.end(), [](const ptx::Instruction& in) {
    return in.op == Op::alloca_ || in.op == Op::stackrestore || in.op == Op::stacksave;
  });
  if (s.recursive) {
    constexpr uint32_t return_address = 8;
    s.machine_frame = return_address;
    for (const ptx::Variable& v : s.f->variables)
      if (v.space == Space::local) s.machine_frame += static_cast<uint32_t>(v.size);
    if (machine_stack_ == no_operand) {
      machine_stack_ = allocate(register_bytes(4));
      k_.zeroed.push_back({machine_stack_, register_bytes(4)});
    }
  }
  if ((s.recursive || s.moves_stack) && k_.stack_pointer == no_operand)
    k_.stack_pointer = allocate(register_bytes(8));
  if (!s.recursive) {
    s.frame_begin = local_top_;
    local_top_ += s.frame_bytes;
    s.frame = constant(8, s.frame_begin);
  }
}

void Decoder::place_registers(FunctionState& s) {
  const bool carries = std::any_of(s.f->body.begin(), s.f->body.end(), [](const ptx::Instruction& in) {
    return in.has(Mod::cc) || takes_carry(in.op);
  });
  s.registers_begin = round_up(top_, 64);
  top_ = s.registers_begin;
  if (carries) s.carry = allocate(4);
  const uint32_t widths[] = {0, 2, 4, 8, 16};
  for (uint32_t c = 0; c < 5; ++c) {
    const uint32_t bytes = register_bytes(widths[c]);
    s.slots_at[c] = s.flow.slots[c] == 0 ? top_ : allocate(bytes);
    if (s.flow.slots[c] > 1) top_ += bytes * (s.flow.slots[c] - 1);
    for (uint32_t i = 0; s.recursive && i < s.flow.slots[c]; ++i)
      k_.register_layout.push_back({s.slots_at[c] + i * bytes, widths[c]});
  }
  if (s.moves_stack && !s.recursive) s.stack_before = allocate(register_bytes(8));
  if (s.recursive) {
    s.frame = s.stack_before = allocate(register_bytes(8));
    k_.register_layout.push_back({s.frame, 8});
    if (carries) k_.register_layout.push_back({s.carry, 0});
  }
  s.registers_end = round_up(top_, 8);
  top_ = s.registers_end;
}

void Decoder::emit_function(FunctionState& s) {
  s_ = &s;
  in_ = nullptr;
  s.entry = static_cast<uint32_t>(k_.code.size());
  s.first_wait_loop = static_cast<uint32_t>(k_.wait_loops.size());
  fixups_.clear();
  sites_in_code_.clear();
  if (!s.f->is_entry) {
    ptx::Instruction entry{};
    entry.op = Op::call;
    entry.loc = s.f->loc;
    entry.source = s.f->body.empty() ? no_index : s.f->body.front().source;
    in_ = &entry;
    new_origin();
    prologue();
    if (checked_) put_check_enter(s);
  }
  s.code_of.assign(s.f->body.size() + 1, 0);
  for (uint32_t i = 0; i < s.f->body.size(); ++i) {
    in_ = &s.f->body[i];
    std::fill(std::begin(scratch_used_), std::end(scratch_used_), 0);
    new_origin();
    put_way_back(i);
    s.code_of[i] = static_cast<uint32_t>(k_.code.size());
    put_yield(i);
    put_entry_of_unrolled(i);
    emit(i);
  }
  s.code_of[s.f->body.size()] = static_cast<uint32_t>(k_.code.size());
  ptx::Instruction end{};
  end.op = s.f->is_entry ? Op::exit : Op::ret;
  end.loc = s.f->body.empty() ? s.f->loc : s.f->body.back().loc;
  end.source = s.f->body.empty() ? no_index : s.f->body.back().source;
  in_ = &end;
  new_origin();
  if (s.f->is_entry) {
    put(set_.control.exit, false);
  } else {
    epilogue();
    put(set_.control.ret, false);
  }
  for (const Fixup& fix : fixups_) {
    Inst& inst = k_.code[fix.code];
    (fix.kind == Fixup::Kind::target ? inst.b : inst.c) = s.code_of[fix.instruction];
  }
  put_unrolled();
  place_wait_loops();
  in_ = nullptr;
}

void Decoder::new_origin() {
  Origin o;
  o.op = in_->op;
  o.ptx_line = in_->loc.line;
  if (in_->source != no_index) {
    const ptx::SourceLoc& loc = m_.source_locs[in_->source];
    o.file = loc.file;
    o.line = loc.line;
    o.column = loc.column;
    o.source = in_->source;
  }
  k_.origins.push_back(o);
}

void Decoder::emit(uint32_t index) {
  if (!follows_values()) return emit_alone(index);
  put_guard_values();
  // What lanes do together follows a wait for them, and what follows its values comes after that.
  if (is_of_all_lanes(*in_)) return emit_alone(index);
  emit_followed(flow_of_values(), [&] { emit_alone(index); });
}

void Decoder::emit_alone(uint32_t index) {
  switch (in_->op) {
    case Op::bra: put_branch(index, s_->f->labels[in_->operands[0].index].instruction); return;
    case Op::brx: emit_table_branch(index); return;
    case Op::ret:
      if (!s_->f->is_entry) {
        put_branch(index, static_cast<uint32_t>(s_->f->body.size()));
        return;
      }
      [[fallthrough]];
    case Op::exit: {
      Inst& i = put(set_.control.exit, false);
      if (guarded()) i.a = register_at(in_->guard);
      i.imm = in_->guard_negated ? 1 : 0;
      return;
    }
    case Op::call: emit_skipped(index, [&] { emit_call(); }); return;
    case Op::trap:
    case Op::brkpt:
      emit_skipped(index, [&] { put(set_.control.trap, false).imm = in_->op == Op::brkpt ? trap_break : 0; });
      return;
    case Op::nanosleep: emit_skipped(index, [&] { put(set_.control.sleep, false); }); return;
    case Op::bar:
    case Op::barrier: emit_skipped(index, [&] { emit_barrier(); }); return;
    case Op::membar:
    case Op::fence: emit_for_checks(check_fence, is_for_device() ? 1 : 0); return;
    case Op::prefetch:
    case Op::prefetchu:
    case Op::discard:
    case Op::applypriority:
    case Op::pmevent: put(set_.control.nothing, false); return;
    case Op::ld:
    case Op::ldu:
    case Op::st:
    case Op::atom:
    case Op::red: emit_memory(); return;
    case Op::tex:
    case Op::tld4:
    case Op::suld:
    case Op::sured:
    case Op::sust: emit_texture(); return;
    case Op::txq:
    case Op::suq: emit_texture_query(); return;
    case Op::alloca_:
    case Op::stacksave:
    case Op::stackrestore: emit_stack(); return;
    case Op::mov: emit_move(); return;
    case Op::cvta: emit_cvta(); return;
    case Op::isspacep: emit_isspacep(); return;
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect: emit_skipped(index, [&] { emit_crosslane(); }); return;
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
    case Op::mma:
    case Op::wmma:
    case Op::wgmma: emit_skipped(index, [&] { emit_matrix(index); }); return;
    default:
      if (!emit_async(index) && !emit_tensor(index) && !emit_even_block()) emit_register_instruction();
      return;
  }
}

void Decoder::finish() {
  for (const TableFixup& fix : table_fixups_) k_.side[fix.side] = fix.function->code_of[fix.instruction];
  for (const CallFixup& fix : calls_) k_.code[fix.code].b = functions_[fix.place].entry;
  for (const FunctionState& s : functions_)
    if (!s.f->is_entry) k_.functions.push_back({symbols_.functions[s.index], s.entry});
  k_.register_bytes = round_up(top_, 64);
  k_.followed_registers = static_cast<uint32_t>(followed_.size());
  k_.stack_begin = k_.local_bytes = round_up(local_top_, 16);
  std::sort(k_.shared.begin(), k_.shared.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
}

Kernel decode(const ptx::Module& module, uint32_t function, const SymbolTable& symbols, bool observed,
              Checking checking) {
  return Decoder(module, symbols, observed, checking).run(function);
}

}  // namespace lanescope::exec
