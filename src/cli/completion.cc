// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/completion.h"

#include <CLI/CLI.hpp>

namespace takt::cli {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : subcommands_of(app)) words += sub->get_name() + " ";
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  if (!words.empty()) words.pop_back();
  return words;
}

std::string bash_script(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* sub : subcommands_of(app)) {
    cases += "    " + sub->get_name() + ") words=\"" + words_of(*sub) + "\" ;;\n";
    for (const CLI::App* inner : subcommands_of(*sub))
      cases += "    " + sub->get_name() + "/" + inner->get_name() + ") words=\"" +
               words_of(*inner) + "\" ;;\n";
  }
  return "_takt() {\n  local at=\"\" words=\"" + words_of(app) +
         " server gateway infer restore db\" word\n" +
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$word\" in -*) ;; *) at=\"${at:+$at/}$word\" ;; esac\n  done\n" +
         "  case \"$at\" in\n" + cases + "    \"\") ;;\n    *) words=\"\" ;;\n  esac\n" +
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n" +
         "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "
         "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n" +
         "complete -F _takt takt";
}

std::string fish_script(const CLI::App& app) {
  std::string script;
  for (const CLI::App* sub : subcommands_of(app)) {
    script += "complete -c takt -n __fish_use_subcommand -a " + sub->get_name() + " -d '" +
              sub->get_description() + "'\n";
    for (const CLI::App* inner : subcommands_of(*sub))
      script += "complete -c takt -n '__fish_seen_subcommand_from " + sub->get_name() + "' -a " +
                inner->get_name() + " -d '" + inner->get_description() + "'\n";
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return fish_script(app);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(app);
  return bash_script(app);
}

}  // namespace takt::cli
