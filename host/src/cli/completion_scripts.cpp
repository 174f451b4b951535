#include <map>

#include "cli/complete.hpp"

namespace backplane {
namespace {

// The program that is asked is the one that was typed: a build's own, or one on PATH.

// Bash takes '=' and ':' for ends of words: they are put together again, and what stands before the last of them is not
// offered.
constexpr char kBash[] = R"sh(# source <(backplane completion bash)
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
  local begun=${words[-1]} before= line
  [[ $begun == *[=:]* && $COMP_WORDBREAKS == *=* ]] && before=${begun%"${begun##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r line _; do
    [[ $line == *[=/] ]] && compopt -o nospace
    line=${line#"$before"}
    [[ $line == *[\ \(\)\&\;]* ]] && printf -v line %q "$line"
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null)
}
complete -F _backplane backplane
)sh";

constexpr char kZsh[] = R"sh(#compdef backplane
# source <(backplane completion zsh)
_backplane() {
  local -a on done_ on_help done_help
  local word help
  while IFS=$'\t' read -r word help; do
    if [[ $word == *[=/] ]]; then on+=("$word"); on_help+=("$word${help:+  $help}")
    else done_+=("$word"); done_help+=("$word${help:+  $help}")
    fi
  done < <("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#on )) && compadd -l -S '' -d on_help -a on
  (( $#done_ )) && compadd -l -d done_help -a done_
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _backplane backplane
)sh";

constexpr char kFish[] = R"sh(# backplane completion fish | source
function __backplane_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] complete $words[2..] 2>/dev/null
end
complete -c backplane -f -a '(__backplane_complete)'
)sh";

}  // namespace

const char* CompletionScript(const std::string& shell) {
  static const std::map<std::string, const char*> scripts = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  const auto found = scripts.find(shell);
  return found == scripts.end() ? nullptr : found->second;
}

}  // namespace backplane
