// The program `lanescope`: parses the command line, runs one command, and turns every failure into one
// message on stderr and an exit status that scripts can rely on.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/commands.hpp"
#include "lanescope/version.hpp"

namespace lanescope::cli {
namespace {

/// What a message quotes of files and of the command line may be orders to a terminal.
int fail(std::string message) {
  const auto is_order = [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 127; };
  std::replace_if(message.begin(), message.end(), is_order, ' ');
  std::cout.flush();
  std::cerr << "lanescope: error: " << message << '\n';
  return bad_input;
}

std::string unknown_command(const CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string_view> names;
  for (const CLI::App* command : commands) names.emplace_back(command->get_name());
  return "unknown command '" + name + "'; the nearest is '" + std::string(nearest(name, names)) + "'";
}

/// The message for a command line that CLI11 refused; `app` is left as the parser left it.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  const std::string command = commands.empty() ? "" : " " + commands.front()->get_name();
  const auto rest = app.remaining();
  std::string message = error.what();
  if (commands.empty()) {
    message = rest.empty()                    ? "no command given"
              : rest.front().starts_with('-') ? "unknown option '" + rest.front() + "'"
                                              : unknown_command(app, rest.front());
  }
  return message + "\nTry 'lanescope" + command + " --help'.";
}

/// Output that did not arrive (a full disk, a closed descriptor) must not look like success.
int close_output(int status) {
  errno = 0;
  std::cout.flush();
  const bool failed = std::cout.bad() || std::ferror(stdout) != 0;
  if (std::fclose(stdout) == 0 && !failed) return status;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  return fail("cannot write to standard output" + reason);
}

/// Everything behind "--" belongs to the program that is to run; CLI11 is not to look at it.
std::vector<std::string> split_program(int& argc, char** argv) {
  const auto* end = argv + argc;
  const auto* split =
      std::find_if(argv, argv + argc, [](const char* text) { return std::strcmp(text, "--") == 0; });
  if (split == end) return {};
  argc = static_cast<int>(split - argv);
  return {split + 1, end};
}

/// An empty value mostly comes of a variable of a script that is not set. Taken for "not given" it would
/// switch off what the option is for, such as a limit, without a word.
void refuse_empty_values(CLI::App& app) {
  const auto refuse_empty = [](const std::string& value) {
    return value.empty() ? std::string("the value is empty") : std::string();
  };
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options())
      if (option->get_items_expected_max() > 0) option->check(refuse_empty);
}

int run(int argc, char** argv) {
  CLI::App app{"Lanescope shows what every lane of a GPU warp does to memory, without a GPU.", "lanescope"};
  app.set_version_flag("--version", std::string("lanescope ") + version());
  app.require_subcommand(1);
  app.footer(
      "Example:\n"
      "  lanescope run -- ./app 1024\n"
      "  lanescope run kernels/ptx/reduce.ptx --kernel reduce_sequential --grid 64 --block 256 \\\n"
      "    --arg buf:65536=iota --arg buf:256 --arg u32:16384\n"
      "'lanescope COMMAND --help' tells the options of a command.");

  int status = done;
  const auto program_of = [&](const char* command) {
    const bool is_it = argc > 1 && std::strcmp(argv[1], command) == 0;
    return is_it ? split_program(argc, argv) : std::vector<std::string>();
  };
  add_run_command(app, program_of("run"), status);
  add_measure_command(app, program_of("measure"), status);
  add_replay_command(app, status);
  add_fix_command(app, program_of("fix"), status);
  add_view_command(app, status);
  add_diff_command(app, status);
  add_ncu_command(app, program_of("ncu"), status);
  add_nvprof_command(app, program_of("nvprof"), status);
  add_explain_command(app, status);
  add_model_command(app, status);
  add_probe_command(app, status);
  add_completion_command(app, status);
  add_man_command(app, status);
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return fail(usage_message(app, error));
  }
  return status;
}

}  // namespace
}  // namespace lanescope::cli

int main(int argc, char** argv) {
  using lanescope::cli::fail;
  int status = lanescope::cli::done;
  try {
    status = lanescope::cli::run(argc, argv);
  } catch (const lanescope::Error& error) {
    status = fail(error.what());
  } catch (const std::bad_alloc&) {
    status = fail("out of memory");
  } catch (const std::exception& error) {
    status = fail(std::string("internal: ") + error.what());
  }
  return lanescope::cli::close_output(status);
}
