// `lanescope explain`: what the shared-memory accesses of a few lines of code cost.
#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "cli/arch_options.hpp"
#include "cli/commands.hpp"
#include "cli/extent.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "code/code.hpp"
#include "report/code_report.hpp"

namespace lanescope::cli {
namespace {

struct ExplainOptions {
  std::string code;
  std::string block = "32";
  std::string grid = "1";
  std::string block_index = "0";
  ArchOptions arch;
  std::string format = "text";
  std::string output;
};

std::string explain(const ExplainOptions& options) {
  code::CodeLaunch launch;
  launch.block = parse_extent(options.block, "--block");
  launch.grid = parse_extent(options.grid, "--grid");
  launch.block_index = parse_index(options.block_index, launch.grid, "--block-index");
  const bool from_input = options.code == "-";
  const code::Code code =
      code::parse_code(from_input ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : options.code,
                       from_input ? "<stdin>" : "code");

  const bool as_json = options.format == "json";
  report::TextOptions text;
  if (!is_file(options.output)) text = {output_width(), output_has_color()};
  if (options.arch.asks_for_all()) {
    const auto answers = report::answer_all(code, launch);
    return as_json ? report::to_json(answers) : report::to_text(answers, text);
  }
  const report::CodeAnswer answer = report::make_answer(options.arch.resolve(), code, launch, true);
  return as_json ? report::to_json(answer) : report::to_text(answer, text);
}

}  // namespace

void add_explain_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("explain", "say what the accesses of a few lines of code cost");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("CODE", options->code, "declarations and accesses in CUDA C; - reads standard input")
      ->required();
  command->add_option("--block", options->block, "threads of the block: X[,Y[,Z]] or XxYxZ")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_option("--grid", options->grid, "blocks of the grid, for gridDim")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_option("--block-index", options->block_index, "the block that is looked at, for blockIdx")
      ->type_name("X[,Y[,Z]]")
      ->capture_default_str();
  options->arch.add_to(*command, "; all: every generation side by side");
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "write to a file")->type_name("FILE");
  command->footer(
      "Arrays that are declared are in shared memory; an assignment stores, any other mention loads. "
      "Structs,\n"
      "vector types, variables, if, for, while, atomicAdd and the like are understood; threadIdx (or tid),\n"
      "blockIdx, blockDim, gridDim, lane and warp have values. The code runs for all warps of one block.\n"
      "Examples:\n"
      "  lanescope explain 'float tile[32][32]; tile[tid.x][tid.y]' --block 32x8\n"
      "  lanescope explain 'struct P {float x, y, z;}; P s[256]; s[tid].x = 0' --block 256 --arch all\n"
      "  lanescope explain 'float a[2048]; for (int s = 1; s <= 32; ++s) a[s * tid]'");
  command->callback([options, &status] {
    write_output(options->output, explain(*options));
    status = done;
  });
}

}  // namespace lanescope::cli
