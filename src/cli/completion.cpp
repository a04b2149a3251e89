// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"

namespace leapp::cli {
namespace {

struct Word {
  std::string name;
  std::string help;
};

struct CommandWords {
  Word command;
  std::vector<Word> options;
};

void add_options(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back({"--" + name, option->get_description()});
  }
  for (const CLI::App* group : app.get_subcommands({})) {
    if (group->get_name().empty()) add_options(*group, words);  // an option group
  }
}

std::vector<CommandWords> words_of(const CLI::App& app) {
  std::vector<CommandWords> all;
  for (const CLI::App* command : app.get_subcommands({})) {
    CommandWords& one = all.emplace_back(CommandWords{{command->get_name(), command->get_description()}, {}});
    add_options(*command, one.options);
  }
  return all;
}

std::string names_of(const std::vector<Word>& words) {
  std::vector<std::string> names;
  for (const Word& word : words) names.push_back(word.name);
  return join(names, " ");
}

/// For single quotes of every shell that is served.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "’" : std::string(1, c);
  return result + "'";
}

std::string bash_script(const std::vector<CommandWords>& all) {
  std::vector<Word> commands;
  std::string cases;
  for (const CommandWords& one : all) {
    commands.push_back(one.command);
    cases += fmt::format("    {}) words='{}' ;;\n", one.command.name, names_of(one.options));
  }
  return fmt::format(
      "# leapp completion bash > /etc/bash_completion.d/leapp\n"
      "_leapp() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _leapp leapp\n",
      names_of(commands), cases);
}

std::string zsh_script(const std::vector<CommandWords>& all) {
  std::string commands;
  std::string cases;
  for (const CommandWords& one : all) {
    commands += fmt::format("    {}\n", quoted(one.command.name + ":" + one.command.help));
    std::string options;
    for (const Word& option : one.options) {
      std::string help = option.help;
      for (char& c : help) c = c == '[' ? '(' : c == ']' ? ')' : c;
      options += fmt::format(" {}", quoted(fmt::format("{}[{}]", option.name, help)));
    }
    cases += fmt::format("    {}) _arguments{} '*:file:_files' ;;\n", one.command.name, options);
  }
  return fmt::format(
      "#compdef leapp\n"
      "# leapp completion zsh > \"${{fpath[1]}}/_leapp\"\n"
      "_leapp() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}"
      "  esac\n"
      "}}\n"
      "_leapp \"$@\"\n",
      commands, cases);
}

std::string fish_script(const std::vector<CommandWords>& all) {
  std::string script = "# leapp completion fish > ~/.config/fish/completions/leapp.fish\n";
  for (const CommandWords& one : all) {
    script += fmt::format("complete -c leapp -n __fish_use_subcommand -f -a {} -d {}\n", one.command.name,
                          quoted(one.command.help));
    for (const Word& option : one.options) {
      script += fmt::format("complete -c leapp -n '__fish_seen_subcommand_from {}' -l {} -d {}\n", one.command.name,
                            option.name.substr(2), quoted(option.help));
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script: bash, zsh or fish");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  command->footer(
      "Examples:\n  leapp completion bash > /etc/bash_completion.d/leapp\n  source <(leapp completion bash)");
  command->callback([&app, &context, shell] {
    const std::vector<CommandWords> words = words_of(app);
    context.print(*shell == "bash" ? bash_script(words) : *shell == "zsh" ? zsh_script(words) : fish_script(words));
  });
}

}  // namespace leapp::cli
