// `lanescope completion`: what a shell needs to complete the program's commands and options, from the parser
// itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/commands.hpp"

namespace lanescope::cli {
namespace {

struct Option {
  std::vector<std::string> names;  ///< with their dashes
  std::string description;
  bool takes_value = false;
};

struct Command {
  std::string name, description;
  std::vector<Option> options;
  std::string operands;  ///< what stands without a dash, with blanks between; empty: files
};

constexpr const char* shells = "bash zsh fish";

std::string joined(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    Command command{sub->get_name(), sub->get_description(), {}, ""};
    for (const CLI::Option* option : sub->get_options()) {
      Option entry;
      for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
      if (entry.names.empty()) continue;
      entry.description = option->get_description();
      entry.takes_value = option->get_items_expected_max() != 0;
      command.options.push_back(std::move(entry));
    }
    commands.push_back(std::move(command));
  }
  for (Command& command : commands) {
    if (command.name == "completion") command.operands = shells;
    if (command.name == "man") command.operands = joined(commands);
  }
  return commands;
}

std::string bash(const std::vector<Command>& commands) {
  std::string cases;
  for (const Command& command : commands) {
    std::string options;
    for (const Option& option : command.options)
      for (const std::string& name : option.names) options += (options.empty() ? "" : " ") + name;
    cases += fmt::format("    {}) options='{}' operands='{}' ;;\n", command.name, options, command.operands);
  }
  return fmt::format(
      "# Completion of lanescope for bash; from: lanescope completion bash\n"
      "_lanescope() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} options='-h --help --version' operands='{}'\n"
      "  if [ \"$COMP_CWORD\" -gt 1 ]; then\n"
      "    options= operands=\n"
      "    case ${{COMP_WORDS[1]}} in\n{}    esac\n"
      "  fi\n"
      "  [[ \" ${{COMP_WORDS[*]:1:COMP_CWORD-1}} \" == *' -- '* ]] && options=  # these are the program's "
      "own\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
      "  elif [[ -n $operands ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _lanescope lanescope\n",
      joined(commands), cases);
}

/// For single quotes of a shell, on one line.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string zsh(const std::vector<Command>& commands) {
  const auto plain = [](std::string text) {
    for (char& c : text)
      if (c == '[' || c == ']' || c == ':' || c == '\n') c = ' ';
    return text;
  };
  std::string names, cases;
  for (const Command& command : commands) {
    names += fmt::format("    {}\n", quoted(command.name + ":" + plain(command.description)));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const Option& option : command.options)
      for (const std::string& name : option.names)
        cases += " \\\n        " + quoted(fmt::format("*{}[{}]{}", name, plain(option.description),
                                                      option.takes_value ? ":value:_files" : ""));
    cases += fmt::format(" \\\n        '*:operand:{}' ;;\n",
                         command.operands.empty() ? "_files" : "(" + command.operands + ")");
  }
  return fmt::format(
      "#compdef lanescope\n"
      "# Completion of lanescope for zsh; from: lanescope completion zsh\n"
      "local -a commands=(\n{})\n"
      "if ((CURRENT == 2)); then\n"
      "  _describe command commands\n"
      "else\n"
      "  local command=$words[2]\n"
      "  shift words; ((CURRENT--))\n"
      "  case $command in\n{}  esac\n"
      "fi\n",
      names, cases);
}

std::string fish(const std::vector<Command>& commands) {
  std::string text = "# Completion of lanescope for fish; from: lanescope completion fish\n";
  for (const Command& command : commands) {
    text += fmt::format("complete -c lanescope -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        quoted(command.description));
    for (const Option& option : command.options) {
      text += fmt::format("complete -c lanescope -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      text += fmt::format("{} -d {}\n", option.takes_value ? " -r" : "", quoted(option.description));
    }
    if (!command.operands.empty())
      text += fmt::format("complete -c lanescope -n '__fish_seen_subcommand_from {}' -f -a '{}'\n",
                          command.name, command.operands);
  }
  return text;
}

}  // namespace

void add_completion_command(CLI::App& app, int& status) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "print what bash, zsh or fish needs to complete command lines");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->type_name("")->required();
  command->footer("Example:\n  lanescope completion bash > /etc/bash_completion.d/lanescope");
  command->callback([shell, &app, &status] {
    const std::vector<Command> commands = commands_of(app);
    if (*shell == "bash")
      std::cout << bash(commands);
    else if (*shell == "zsh")
      std::cout << zsh(commands);
    else if (*shell == "fish")
      std::cout << fish(commands);
    else
      throw Error(fmt::format("completion: '{}' is no shell that is known here (bash, zsh, fish)", *shell));
    status = done;
  });
}

}  // namespace lanescope::cli
