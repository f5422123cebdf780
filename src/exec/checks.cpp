// The helper instructions of a checked launch. See checks.hpp.
#include "exec/checks.hpp"

#include <bit>
#include <span>

#include "exec/block_checks.hpp"
#include "exec/each_lane.hpp"
#include "exec/handlers.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

const Inst* check_access(Warp& w, const Inst* in) {
  w.block->checks->access(w, in, w.worker->kernel->checks[in->aux]);
  return in + 1;
}

const Inst* check_values(Warp& w, const Inst* in) {
  w.block->checks->follow(w, in, w.worker->kernel->flows[in->aux]);
  return in + 1;
}

const Inst* check_local_copy(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    w.block->checks->copied_local(w, lane, lane_value<uint64_t>(w, in->a, lane) + in->c,
                                  lane_value<uint64_t>(w, in->b, lane) + in->aux, in->imm);
  });
  return in + 1;
}

const Inst* check_fence(Warp& w, const Inst* in) {
  w.block->checks->fence(w, in->imm != 0);
  return in + 1;
}

const Inst* check_proxy_fence(Warp& w, const Inst* in) {
  w.block->checks->proxy_fence(w);
  return in + 1;
}

const Inst* check_commit_bulk(Warp& w, const Inst* in) {
  if (AsyncWork* work = w.block->checks->async_work()) work->commit_bulk(w);
  return in + 1;
}

const Inst* check_wait_bulk(Warp& w, const Inst* in) {
  if (AsyncWork* work = w.block->checks->async_work()) work->wait_for_bulk(w, in->imm);
  return in + 1;
}

const Inst* check_commit_products(Warp& w, const Inst* in) {
  if (AsyncWork* work = w.block->checks->async_work()) work->commit_products(w);
  return in + 1;
}

const Inst* check_wait_products(Warp& w, const Inst* in) {
  if (AsyncWork* work = w.block->checks->async_work()) work->wait_for_products(w, in->imm);
  return in + 1;
}

void check_product(Warp& w, uint32_t access, const MatrixRead& read) {
  w.block->checks->read_for_product(w, access, read);
}

const Inst* check_sync(Warp& w, const Inst* in) {
  w.block->checks->check_members(w, in);
  const Inst* next = host_handlers().control.sync_groups(w, in);
  const bool orders = (in->imm & sync_anywhere) != 0;
  if (w.event == Event::none)
    w.block->checks->meet(
        w, lane_value<uint32_t>(w, in->a, static_cast<uint32_t>(std::countr_zero(w.active))) & w.active,
        orders);
  return next;
}

void check_shuffle(Warp& w, const Inst* in, const uint32_t* source) {
  w.block->checks->check_sources(w, in, source);
}

const Inst* check_enter(Warp& w, const Inst* in) {
  w.block->checks->enter(w, in->aux, in->b);
  return in + 1;
}

}  // namespace lanescope::exec
