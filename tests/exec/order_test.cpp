// Happens-before against a slow, obvious reference: every thread keeps the set of all accesses it is ordered
// after.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "exec/order.hpp"

namespace lanescope::exec {
namespace {

constexpr uint32_t warps = 3, threads = warps * warp_lanes;

struct Access {
  uint32_t warp, lane, epoch, time;
};

/// The same operations on sets of accesses (by number).
class Reference {
 public:
  using Set = std::set<size_t>;
  std::vector<Set> known{threads}, fenced{threads}, pending{threads};
  std::vector<bool> has_fenced = std::vector<bool>(threads);

  static void add(Set& to, const Set& from) { to.insert(from.begin(), from.end()); }
  template <class F>
  void each(uint32_t warp, uint32_t lanes, F f) {
    for (uint32_t lane = 0; lane < warp_lanes; ++lane)
      if ((lanes >> lane & 1) != 0) f(warp * warp_lanes + lane);
  }
  void synchronise(const std::vector<uint32_t>& who) {
    Set all;
    for (const uint32_t t : who) add(all, known[t]);
    for (const uint32_t t : who) known[t] = all;
  }
  void new_epoch() {
    std::vector<uint32_t> all(threads);
    for (uint32_t t = 0; t < threads; ++t) all[t] = t;
    synchronise(all);
    pending.assign(threads, {});
    has_fenced.assign(threads, false);
  }
  void fence(uint32_t t) {
    add(known[t], pending[t]);
    pending[t].clear();
    fenced[t] = own(t);
    has_fenced[t] = true;
  }
  /// What thread t did itself.
  Set own(uint32_t t) const {
    Set mine;
    for (const size_t a : known[t])
      if (by[a] == t) mine.insert(a);
    return mine;
  }
  std::vector<uint32_t> by;  ///< thread of each access
};

class Orders : public testing::TestWithParam<int> {};

TEST_P(Orders, EqualTheReference) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Order order(warps);
  order.new_epoch();
  Reference reference;
  std::vector<Access> accesses;
  constexpr uint32_t places = 2;
  std::vector<Order::Clock> clocks(places);
  std::vector<Reference::Set> released(places);
  // Few lanes take part, so that they meet often.
  const auto some_lanes = [&] { return 0x111u << below(4) | 1u << below(4); };

  for (int step = 0; step < 300; ++step) {
    const uint32_t warp = below(warps), lane = below(4), t = warp * warp_lanes + lane, place = below(places);
    switch (below(9)) {
      case 0:
      case 1:
      case 2:
        accesses.push_back({warp, lane, order.epoch(), order.now(warp)});
        reference.known[t].insert(accesses.size() - 1);
        reference.by.push_back(t);
        break;
      case 3: {
        const uint32_t lanes = some_lanes();
        order.warp_barrier(warp, lanes);
        std::vector<uint32_t> who;
        reference.each(warp, lanes, [&](uint32_t thread) { who.push_back(thread); });
        reference.synchronise(who);
        break;
      }
      case 4:
        order.release(clocks[place], warp, 1u << lane);
        Reference::add(released[place], reference.known[t]);
        break;
      case 5:
        order.acquire(clocks[place], warp, 1u << lane);
        Reference::add(reference.known[t], released[place]);
        break;
      case 6:
        order.acquire_at_fence(clocks[place], warp, lane);
        Reference::add(reference.pending[t], released[place]);
        break;
      case 7:
        if (order.has_fenced(warp, lane)) {
          order.release_fenced(clocks[place], warp, lane);
          // What it knows of others, and what it did itself before the fence.
          for (const size_t a : reference.known[t])
            if (reference.by[a] != t || reference.fenced[t].count(a) != 0) released[place].insert(a);
        } else {
          order.fence(warp, 1u << lane);
          reference.fence(t);
        }
        break;
      default:
        if (below(10) != 0) break;
        order.new_epoch();
        reference.new_epoch();
        clocks.assign(places, nullptr);
        released.assign(places, {});
    }
    if (step % 10 != 0) continue;
    for (size_t a = 0; a < accesses.size(); ++a) {
      const Access& was = accesses[a];
      if (was.epoch != order.epoch()) continue;
      for (uint32_t by = 0; by < threads;
           by = by % warp_lanes < 7 ? by + 1 : (by / warp_lanes + 1) * warp_lanes) {
        ASSERT_EQ(order.is_before(was.warp, was.lane, was.time, by / warp_lanes, by % warp_lanes),
                  reference.known[by].count(a) != 0)
            << "step " << step << ", access " << a << " of " << was.warp << ":" << was.lane << ", thread "
            << by;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Orders, testing::Range(0, 40));

/// Meetings order in the one of the two, by way of other threads as well; both have the same clocks.
TEST(TwoOrders, DifferInMeetings) {
  TwoOrders orders(warps);
  orders.new_epoch();
  const uint32_t time = orders.defined().now(0);
  orders.meet(0, 0b110);
  orders.meet(0, 0b1000);  // one lane meets nobody
  EXPECT_EQ(orders.defined().now(0), orders.met().now(0));
  TwoOrders::Clock clock;
  EXPECT_FALSE(clock);
  orders.release(clock, 0, 0b100);
  EXPECT_TRUE(clock);
  orders.acquire(clock, 1, 1);
  EXPECT_FALSE(orders.defined().is_before(0, 1, time, 1, 0));
  EXPECT_TRUE(orders.met().is_before(0, 1, time, 1, 0));
  EXPECT_TRUE(orders.defined().is_before(0, 2, time, 1, 0));
  EXPECT_FALSE(orders.met().is_before(0, 3, time, 1, 0));
  EXPECT_EQ(orders.defined().now(0), orders.met().now(0));
}

bool knows(const Order& order, uint32_t agent, uint32_t time, uint32_t warp, uint32_t lane) {
  return order.is_before(agent / warp_lanes, agent % warp_lanes, time, warp, lane);
}

TEST(Agents, AreKnownToThoseWhoAcquireAndThoseTheyTell) {
  Order order(warps);
  order.start();
  Order::Clock early, told, handed_on;
  order.release(early, 2, 1);  // before there is any agent
  const uint32_t first = order.add_agent(), second = order.add_agent();
  order.tell(told, first, 1);
  order.acquire(told, 0, 0b11);
  EXPECT_TRUE(knows(order, first, 1, 0, 0));
  EXPECT_FALSE(knows(order, first, 2, 0, 0));
  EXPECT_FALSE(knows(order, second, 1, 0, 0));
  EXPECT_FALSE(knows(order, first, 1, 0, 2));
  EXPECT_FALSE(knows(order, first, 1, 1, 0));
  // The thread that began the copy is no better off than others.
  order.release(handed_on, 0, 0b01);
  order.acquire(early, 1, 0b01);
  EXPECT_FALSE(knows(order, first, 1, 1, 0));
  order.acquire(handed_on, 1, 0b01);
  EXPECT_TRUE(knows(order, first, 1, 1, 0));
  EXPECT_TRUE(order.knows_any(2, 1, 1, 0));
  EXPECT_FALSE(order.knows_any(2, 1, 0, 0));
  order.start();
  EXPECT_FALSE(knows(order, first, 1, 1, 0));
}

TEST(TwoOrders, HaveTheSameAgentsAndClocks) {
  TwoOrders orders(warps);
  orders.start();
  TwoOrders::Clock told, handed_on;
  const uint32_t agent = orders.add_agent();
  orders.tell(told, agent, 1);
  orders.add(handed_on, told);
  orders.acquire(handed_on, 0, 1);
  EXPECT_TRUE(knows(orders.defined(), agent, 1, 0, 0));
  EXPECT_TRUE(knows(orders.met(), agent, 1, 0, 0));
  orders.proxy_fence(0, 1);
  EXPECT_EQ(orders.defined().now(0), orders.met().now(0));
}

TEST(ProxyFences, CoverWhatTheirThreadKnew) {
  Order order(warps);
  order.start();
  const uint32_t epoch = order.epoch(), time = order.now(0);
  const auto covered = [&](uint32_t lane, uint32_t at) {
    return order.has_proxy_fence_after(0, lane, epoch, at);
  };
  EXPECT_FALSE(covered(0, time));
  order.proxy_fence(0, 0b01);  // its own accesses, not those of lane 1, nor later ones
  EXPECT_TRUE(covered(0, time));
  EXPECT_FALSE(covered(1, time));
  EXPECT_FALSE(covered(0, order.now(0)));
  // Another warp's, before and after it has heard of them.
  order.proxy_fence(1, 1);
  EXPECT_FALSE(covered(1, time));
  Order::Clock told;
  order.release(told, 0, 0b10);
  order.acquire(told, 1, 1);
  EXPECT_FALSE(covered(1, time));
  order.proxy_fence(1, 1);
  EXPECT_TRUE(covered(1, time));
  // After a barrier of all threads, whoever makes it.
  EXPECT_FALSE(covered(2, time));
  order.new_epoch();
  EXPECT_FALSE(covered(2, time));
  order.proxy_fence(2, 1);
  EXPECT_TRUE(covered(2, time));
}

}  // namespace
}  // namespace lanescope::exec
