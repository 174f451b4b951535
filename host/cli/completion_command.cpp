#include <cstdio>
#include <map>

#include "cli/commands.hpp"

namespace backplane {
namespace {

// The scripts ask the program that was typed, of a build or on PATH.

// The program prints plain words, and the shell quotes each: the name of a file never runs. Zsh and fish do so by themselves.

// Bash splits words at '=' and ':', so the parts are joined again. Only the part behind the last one is offered. Within quotes
// it inserts the text as it is.
constexpr char kBash[] = R"sh(# source <(backplane completion bash)
# Prints a word without the quotes and backslashes it was typed with; runs nothing.
__backplane_plain() {
  local rest=$1 plain= c quote=
  while [[ $rest ]]; do
    c=${rest:0:1} rest=${rest:1}
    if [[ $c == "$quote" ]]; then quote=
    elif [[ ! $quote && $c == [\'\"] ]]; then quote=$c
    elif [[ $quote != \' && $c == \\ ]]; then plain+=${rest:0:1} rest=${rest:1}
    else plain+=$c
    fi
  done
  printf %s "$plain"
}
# Prints a word as it may stand behind the quote that is open, or behind none.
__backplane_quoted() {
  local text=$1
  case $2 in
    \') printf %s "${text//\'/\'\\\'\'}" ;;
    \")
      text=${text//\\/\\\\} text=${text//\"/\\\"} text=${text//\$/\\\$}
      printf %s "${text//\`/\\\`}"
      ;;
    *) printf %q "$text" ;;
  esac
}
_backplane() {
  local words=() word glue= i
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $glue || $word == [=:] ]] && ((${#words[@]})); then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    glue=; [[ $word == [=:] ]] && glue=1
  done
  local quote= before= line
  [[ ${words[-1]} == [\'\"]* ]] && quote=${words[-1]:0:1}
  for i in "${!words[@]}"; do words[i]=$(__backplane_plain "${words[i]}"); done
  local begun=${words[-1]}
  [[ ! $quote && $begun == *[=:]* && $COMP_WORDBREAKS == *=* ]] && before=${begun%"${begun##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r line _; do
    [[ $line == *[=/] ]] && compopt -o nospace
    line=${line#"$before"}
    [[ $line ]] && COMPREPLY+=("$(__backplane_quoted "$line" "$quote")")
  done < <("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null)
}
complete -F _backplane backplane
)sh";

constexpr char kZsh[] = R"sh(#compdef backplane
# source <(backplane completion zsh)
_backplane() {
  local -a on done_ on_help done_help
  local word help begun=${(Q)PREFIX}
  [[ -n $compstate[quote] ]] && begun=$PREFIX
  while IFS=$'\t' read -r word help; do
    if [[ $word == *[=/] ]]; then on+=("$word"); on_help+=("$word${help:+  $help}")
    else done_+=("$word"); done_help+=("$word${help:+  $help}")
    fi
  done < <("${words[1]}" complete "${(@Q)words[2,CURRENT-1]}" "$begun" 2>/dev/null)
  (( $#on )) && compadd -l -S '' -d on_help -a on
  (( $#done_ )) && compadd -l -d done_help -a done_
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _backplane backplane
)sh";

constexpr char kFish[] = R"sh(# backplane completion fish | source
function __backplane_complete
  set -l words (commandline -opc)
  set -l begun (commandline -ct)
  set -l plain (string unescape -- $begun)
  test (count $plain) -eq 1; and set begun $plain
  $words[1] complete $words[2..] $begun 2>/dev/null
end
complete -c backplane -f -a '(__backplane_complete)'
)sh";

struct CompletionArgs {
  std::string shell;
};

int CompletionCommand(const CompletionArgs& args) {
  static const std::map<std::string, const char*> scripts = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  std::fputs(scripts.at(args.shell), stdout);
  return kOk;
}

}  // namespace

std::vector<Command> CompletionCommands() {
  const auto declare = [](CompletionArgs* args, Arguments* add) {
    add->Add("shell", "SHELL", &args->shell, "Shell; to enable bash, add `source <(backplane completion bash)` to ~/.bashrc")
        .OneOf({"bash", "zsh", "fish"})
        .Required();
  };
  return {MakeCommand<CompletionArgs>("completion", "Print a script that completes commands, files, paths and trials", declare,
                                      CompletionCommand)};
}

}  // namespace backplane
