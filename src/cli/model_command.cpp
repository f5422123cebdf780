// `lanescope model`: answers rows of warp-wide accesses, given as CSV, with their cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/words.hpp"
#include "cli/arch_options.hpp"
#include "cli/commands.hpp"
#include "report/pattern_csv.hpp"

namespace lanescope::cli {
namespace {

struct ModelOptions {
  ArchOptions arch;
  std::string file;
};

void answer_rows(std::istream& in, const std::string& name, const model::Arch& arch) {
  report::PatternReader reader(in, name, arch);
  report::PatternRow row;
  size_t unknown_rows = 0;
  uint32_t first_unknown = 0;
  std::cout << report::answer_header << '\n';
  while (reader.next(row)) {
    bool unknown = false;
    std::cout << report::answer(arch, row, &unknown) << '\n';
    if (unknown && unknown_rows++ == 0) first_unknown = row.line;
  }
  if (unknown_rows == 0) return;
  std::cout.flush();
  std::cerr << fmt::format(
      "lanescope: note: {}:{}: cp.async with 16 bytes has no known rule on this architecture ({}): "
      "'wavefronts' is an "
      "estimate, near "
      "the profiler's; what would follow from it is left empty\n",
      name, first_unknown, counted(unknown_rows, "row"));
}

void run_model(const ModelOptions& options) {
  const model::Arch arch = options.arch.resolve();
  std::ios::sync_with_stdio(false);
  if (options.file.empty() || options.file == "-") {
    answer_rows(std::cin, "<stdin>", arch);
    return;
  }
  errno = 0;
  std::ifstream in(options.file);
  if (!in) throw Error(SourcePlace{options.file}, std::string("cannot open: ") + std::strerror(errno));
  answer_rows(in, options.file, arch);
}

}  // namespace

void add_model_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("model", "answer warp-wide accesses given as rows of CSV");
  const auto options = std::make_shared<ModelOptions>();
  options->arch.add_to(*command);
  command->add_option("FILE", options->file,
                      "rows of op,width,mask,o0,…,o31 (to o63 for 64 lanes); standard input if absent");
  command->footer(
      "A row is one warp instruction: op (ld st atom red cp.async; ldm1 ldm2 ldm4 stm1 stm2 stm4, with t "
      "for\n"
      "transposed; gld gst gred gatom for global memory), bytes a lane, active lanes in hexadecimal, each\n"
      "lane's byte offset.\n"
      "A header row is optional; with one, other columns are ignored. The answer is one row for each:\n"
      "wavefronts,ideal,conflicts,max_way for shared memory, sectors,tags for global memory.\n"
      "The rule of cp.async with 16 bytes is known for sm_90 only: elsewhere its row holds an estimate "
      "alone, "
      "and a note goes to stderr.\n"
      "Example:\n"
      "  lanescope model --arch sm_35 --bank-mode 8 patterns.csv\n"
      "  lanescope model --banks 32 --bank-bits 32 --unit 64 < patterns.csv");
  command->callback([options, &status] {
    run_model(*options);
    status = done;
  });
}

}  // namespace lanescope::cli
