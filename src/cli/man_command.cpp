// `lanescope man`: the manual pages, from the parser itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "lanescope/version.hpp"

namespace lanescope::cli {
namespace {

/// Text for roff: backslashes, dashes of options, and dots at the beginning of lines are special.
std::string roff(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else
      out += text[i];
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string head(const std::string& name, const std::string& description) {
  return fmt::format(".TH {} 1 \"\" \"lanescope {}\"\n.SH NAME\n{} \\- {}\n", roff(upper(name)), version(),
                     roff(name), roff(description));
}

std::string footer_of(const CLI::App& app) {
  const std::string footer = app.get_footer();
  return footer.empty() ? "" : fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(footer));
}

std::string page_of(const CLI::App& command) {
  std::string positionals, options;
  for (const CLI::Option* option : command.get_options()) {
    const std::string type = option->get_items_expected_max() == 0 ? "" : " " + option->get_type_name();
    if (option->nonpositional()) {
      std::string names;
      for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
      for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
      options += fmt::format(".TP\n.B {}\n{}\n", roff(names + type), roff(option->get_description()));
    } else {
      positionals += " " + option->get_name();
      options += fmt::format(".TP\n.I {}\n{}\n", roff(option->get_name()), roff(option->get_description()));
    }
  }
  std::string text = head("lanescope-" + command.get_name(), command.get_description());
  text += fmt::format(".SH SYNOPSIS\n.B lanescope {}\n[OPTIONS]{}\n", command.get_name(), roff(positionals));
  text += ".SH OPTIONS\n" + options + footer_of(command);
  return text + ".SH SEE ALSO\n.BR lanescope (1)\n";
}

std::string main_page(const CLI::App& app) {
  std::string text = head("lanescope", "shows what every lane of a GPU warp does to memory, without a GPU");
  text += ".SH SYNOPSIS\n.B lanescope\nCOMMAND [OPTIONS]\n.SH COMMANDS\n";
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    text += fmt::format(".TP\n.BR lanescope\\-{} (1)\n{}\n", command->get_name(),
                        roff(command->get_description()));
  return text + footer_of(app);
}

}  // namespace

void add_man_command(CLI::App& app, int& status) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("man", "print the manual page of the program or of a command, as roff");
  command->add_option("COMMAND", *name, "of which command; of the program if not given")->type_name("");
  command->footer("Example:\n  lanescope man run | man -l -");
  command->callback([name, &app, &status] {
    if (name->empty()) {
      std::cout << main_page(app);
    } else {
      const auto found = app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == *name; });
      if (found.empty()) throw Error(fmt::format("man: '{}' is no command", *name));
      std::cout << page_of(*found.front());
    }
    status = done;
  });
}

}  // namespace lanescope::cli
