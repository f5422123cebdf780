// Bulk copies of tensors in other modes than that of tiles: what is a mistake in them, and what observers and
// checks are told. What they copy is compared with plain loops in tests/cuda/programs/im2col.cu, which a GPU
// has run as well.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "exec/one_kernel.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::exec {
namespace {

using harness::Program;

/// s, of 256 bytes, lies at %r12, an mbarrier that expects `bytes` at %r13; the map's address is in %rd4.
std::string box_start(uint32_t bytes) {
  return ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\nmov.u32 %r12, s;\nmov.u32 %r13, bar;\n"
         "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
         std::to_string(bytes) + ";\nadd.u64 %rd4, %rd1, 1024;\n";
}
std::string wait(const std::string& label) {
  return label + ":\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra " + label + ";\n";
}
std::string load(const std::string& mode, const std::string& rest) {
  return "cp.async.bulk.tensor." + mode + ".mbarrier::complete_tx::bytes [%r12], [%rd4, " + rest + ";\n";
}

/// Four images of 3 pixels with 8 words each, 384 bytes; columns of 4 pixels with 4 channels, 64 bytes.
TensorMap images() {
  TensorMap map;
  map.address = 4096;
  map.dimensions = 3;
  map.type = TensorMap::Type::u32;
  map.mode = TensorMap::Mode::im2col;
  map.last = {7, 2, 3};
  map.strides = {32, 96};
  map.box = {4, 4};
  map.lower = {-1};
  map.upper = {-1};
  map.steps = {1, 1, 1};
  return map;
}

LaunchResult run(Program& p, TensorMap map) {
  return p.run_with({1}, {1}, 512, [&](uint64_t out) {
    auto* words = reinterpret_cast<uint32_t*>(out);
    for (uint32_t i = 0; i < 256; ++i) words[i] = 100 + i;
    map.address = out;
    std::memcpy(words + 256, &map, sizeof map);
  });
}

/// Of the first finding: a wait for a copy that was not made is another one.
Finding::Kind kind_of(const LaunchResult& result) { return result.findings.at(0).kind; }

TEST(Im2col, DefectsAreNamed) {
  EXPECT_EQ(defect_of(images()), "");
  const auto defect = [](auto change) {
    TensorMap map = images();
    change(map);
    return defect_of(map);
  };
  const auto names = [&](auto change, const char* what) {
    EXPECT_NE(defect(change).find(what), std::string::npos) << what << ": " << defect(change);
  };
  names([](TensorMap& m) { m.dimensions = 2; }, "3 to 5 dimensions, not 2");
  names([](TensorMap& m) { m.box[0] = 257; }, "257 channels");
  names([](TensorMap& m) { m.box[1] = 1025; }, "1025 pixels");
  names([](TensorMap& m) { m.box[1] = 0; }, "0 pixels");
  names([](TensorMap& m) { m.lower[0] = 2; }, "empty in dimension 1");
  names([](TensorMap& m) { m.steps[1] = 0; }, "element stride of dimension 1");
  names([](TensorMap& m) { m.steps[0] = 9; }, "element stride of dimension 0");
  names([](TensorMap& m) { m.last[2] = 1u << 31; }, "2^31 are possible");
  names([](TensorMap& m) { m.box[0] = 2; }, "8 bytes wide");
  EXPECT_EQ(defect([](TensorMap& m) { m.box[1] = 1024; }), "");
  EXPECT_EQ(defect([](TensorMap& m) { m.lower[0] = -32768; }), "");
  // More dimensions leave fewer bits to a corner.
  const auto in_four = [](TensorMap& m) {
    m.dimensions = 4;
    m.last = {7, 300, 300, 3};
    m.strides = {32, 9632, 2'899'232};
    m.steps = {1, 1, 1, 1};
  };
  EXPECT_EQ(defect([&](TensorMap& m) { in_four(m), m.lower[1] = 127; }), "");
  names([&](TensorMap& m) { in_four(m), m.lower[1] = 128; }, "at 128 in dimension 2: -128 to 127");
  names([&](TensorMap& m) { in_four(m), m.upper[0] = -129; }, "at -129 in dimension 1");
}

TEST(Im2col, MisuseIsReported) {
  const auto run_load = [](const std::string& mode, const std::string& rest, const TensorMap& map) {
    Program p(box_start(64) + load(mode, rest) + wait("look"));
    return run(p, map);
  };
  const std::string im2col = "3d.shared::cluster.global.im2col", tile = "3d.shared::cluster.global.tile";
  EXPECT_TRUE(run_load(im2col, "{4, 1, 3}], [%r13], {1}", images()).findings.empty());
  EXPECT_EQ(kind_of(run_load(im2col, "{2, 1, 0}], [%r13], {1}", images())), Finding::Kind::misaligned);
  TensorMap tiles = images();
  tiles.mode = TensorMap::Mode::tiled;
  tiles.box = {4, 4, 1};
  tiles.steps = {1, 1, 1};
  EXPECT_TRUE(run_load(tile, "{4, 1, 3}], [%r13]", tiles).findings.empty());
  const auto first = [](const LaunchResult& result) { return result.findings.at(0).message; };
  EXPECT_NE(first(run_load(tile, "{4, 1, 3}], [%r13]", images())).find("was encoded for im2col"),
            std::string::npos);
  EXPECT_NE(first(run_load(im2col, "{4, 1, 3}], [%r13], {0}", tiles)).find("was encoded for tiles"),
            std::string::npos);
  Program replaces(box_start(64) + "tensormap.replace.tile.rank.global.b1024.b32 [%rd4], 1;\n");
  EXPECT_NE(first(run(replaces, images())).find("changes those for tiles"), std::string::npos);
}

TEST(Im2col, FiltersStayInTheBox) {
  const auto first = [](const std::string& copy, const TensorMap& map) {
    Program p(box_start(64) + copy);
    const LaunchResult result = run(p, map);
    return result.findings.empty() ? "" : result.findings[0].message;
  };
  const auto load_at = [](const char* at) {
    return load("3d.shared::cluster.global.im2col", std::string("{0, ") + at + ", 0}], [%r13], {0}");
  };
  // Bases lie at -1 to 1.
  EXPECT_NE(first(load_at("-2"), images()).find("at -2 in dimension 1, outside of the bounding box, -1 to 1"),
            std::string::npos);
  EXPECT_NE(first(load_at("2"), images()).find("at 2 in dimension 1"), std::string::npos);
  EXPECT_EQ(first(load_at("-1"), images()), "");
  EXPECT_EQ(first(load_at("1"), images()), "");
  const std::string store =
      "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%rd4, {0, 0, 0}], [%r12];\n";
  EXPECT_NE(first(store, images()).find("must lie inside of the images"), std::string::npos);
  TensorMap inside = images();
  inside.lower = {0};
  EXPECT_EQ(first(store, inside), "");
  inside.upper = {1};
  EXPECT_NE(first(store, inside).find("it goes from 0 to 3 in dimension 1"), std::string::npos);
}

TEST(Im2col, ObserversAreToldOfEachPixel) {
  // Filter bases -1, 0, 1 of each image, the second pixel of the filter: pixels 1 and 2 of the third image,
  // and 0 and 1 of the last one; of channels 4 to 7.
  Program p(box_start(64) + load("3d.shared::cluster.global.im2col", "{4, 0, 2}], [%r13], {1}") +
            wait("look"));
  EXPECT_TRUE(run(p, images()).findings.empty());
  std::vector<std::tuple<uint64_t, uint32_t, uint32_t, bool>> told;
  const uint64_t tensor = p.out();
  uint32_t first = 0;
  for (const auto& piece : p.bulk_accesses().at(0).pieces) {
    if (told.empty()) first = piece.near;
    told.emplace_back(piece.is_filled ? 0 : piece.far - tensor, piece.near - first, piece.bytes,
                      piece.is_filled);
  }
  const decltype(told) expected{{2 * 96 + 32 + 16, 0, 16, false},
                                {2 * 96 + 64 + 16, 16, 16, false},
                                {3 * 96 + 16, 32, 16, false},
                                {3 * 96 + 32 + 16, 48, 16, false}};
  EXPECT_EQ(told, expected);
  // Behind the last image nothing is read.
  Program behind(box_start(64) + load("3d.shared::cluster.global.im2col", "{4, 1, 3}], [%r13], {1}") +
                 wait("look"));
  EXPECT_TRUE(run(behind, images()).findings.empty());
  uint32_t read = 0, filled = 0;
  for (const auto& piece : behind.bulk_accesses().at(0).pieces)
    (piece.is_filled ? filled : read) += piece.bytes;
  EXPECT_EQ(read, 16u);
  EXPECT_EQ(filled, 48u);
}

TEST(Im2col, ChecksKnowTheBytes) {
  // The four pixels fill s[0 … 63]: what lies behind is unwritten, and what is read too early is in a race.
  const auto find = [](const std::string& between, const char* place) {
    Program p(box_start(64) + load("3d.shared::cluster.global.im2col", "{4, 0, 2}], [%r13], {1}") + between +
              "ld.shared.u32 %r5, [s+" + place + "];\nst.global.u32 [%rd3], %r5;\n" + wait("look"));
    p.checks = {.race = true, .init = true};
    return run(p, images());
  };
  EXPECT_TRUE(find(wait("before"), "60").findings.empty());
  EXPECT_EQ(kind_of(find(wait("before"), "64")), Finding::Kind::uninitialised_read);
  EXPECT_EQ(kind_of(find("", "60")), Finding::Kind::race);
  EXPECT_EQ(kind_of(find("", "64")), Finding::Kind::uninitialised_read);
}

/// Eight rows of 32 bytes of which 24 are the tensor's, boxes of one row of 4 words.
TensorMap rows() {
  TensorMap map;
  map.dimensions = 2;
  map.type = TensorMap::Type::u32;
  map.last = {5, 7};
  map.strides = {32};
  map.box = {4, 1};
  map.steps = {1, 1};
  return map;
}

TEST(FourRows, AreGatheredFromWhereverTheyLie) {
  const std::string copy_out =
      "mov.u32 %r14, 0;\nmore:\nadd.u32 %r15, %r12, %r14;\nld.shared.b32 %r16, [%r15];\ncvt.u64.u32 %rd5, "
      "%r14;\n"
      "add.u64 %rd6, %rd1, %rd5;\nst.global.b32 [%rd6+1280], %r16;\nadd.u32 %r14, %r14, 4;\n"
      "setp.lt.u32 %p3, %r14, 64;\n@%p3 bra more;\n";
  for (const char* space : {"cluster", "cta"}) {
    Program p(
        box_start(64) +
            load(std::string("2d.shared::") + space + ".global.tile::gather4", "{4, 6, 0, 8, 6}], [%r13]") +
            wait("look") + copy_out,
        "", "sm_100a");
    EXPECT_TRUE(run(p, rows()).findings.empty());
    // Words 4 and 5 of the rows 6, 0 and 6; row 8 is none.
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t row = i / 4 == 1 ? 0 : 6;
      EXPECT_EQ(p.word(320 + i), i % 4 < 2 && i / 4 != 2 ? 100 + 8 * row + 4 + i % 4 : 0u) << i;
    }
    uint32_t read = 0, filled = 0;
    for (const auto& piece : p.bulk_accesses().at(0).pieces) (piece.is_filled ? filled : read) += piece.bytes;
    EXPECT_EQ(read, 24u);
    EXPECT_EQ(filled, 40u);
  }
}

TEST(FourRows, AreScatteredToWhereverTheyLie) {
  const std::string fill_and_store =
      "mov.u32 %r14, 0;\nmore:\nadd.u32 %r15, %r12, %r14;\nst.shared.b32 [%r15], %r14;\nadd.u32 %r14, %r14, "
      "4;\n"
      "setp.lt.u32 %p3, %r14, 64;\n@%p3 bra more;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd4, {4, ROWS}], [%r12];\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  const auto store = [&](const std::string& which) {
    std::string body = box_start(64) + fill_and_store;
    body.replace(body.find("ROWS"), 4, which);
    return Program(body, "", "sm_100a");
  };
  Program p = store("7, 2, 9, 0");
  EXPECT_TRUE(run(p, rows()).findings.empty());
  const auto expected = [](uint32_t word) {
    const uint32_t row = word / 8, column = word % 8, order[] = {3, 9, 1, 9, 9, 9, 9, 0};
    return column < 4 || column > 5 || order[row] == 9 ? 100 + word : 16 * order[row] + 4 * (column - 4);
  };
  for (uint32_t word = 0; word < 64; ++word) EXPECT_EQ(p.word(word), expected(word)) << word;
  Program before = store("7, -1, 3, 0");
  EXPECT_EQ(kind_of(run(before, rows())), Finding::Kind::out_of_bounds);
}

TEST(FourRows, NeedABoxOfOneRow) {
  TensorMap map = rows();
  map.box[1] = 2;
  Program p(box_start(64) + load("2d.shared::cta.global.tile::gather4", "{0, 0, 1, 2, 3}], [%r13]"), "",
            "sm_100a");
  EXPECT_NE(run(p, map).findings.at(0).message.find("has 2 rows"), std::string::npos);
  EXPECT_NE(run(p, images()).findings.at(0).message.find("3 dimensions, the instruction is for 2"),
            std::string::npos);
}

}  // namespace
}  // namespace lanescope::exec
