# Reports numbers of a shell script to the trial that runs it (docs/trial-by-command.md): . backplane_client.sh, or copy the function.
#
#   backplane_log step=1000 return=21.5 eval/return=30
#
# `step` is the env steps so far; omitted: as before. nan and inf are reported as not finite. A text is sent too, and the trial
# warns about it once. Without a trial or its descriptor, calls do nothing. POSIX. The status is always 0, so `set -e` does not
# end the script.
backplane_log() {
  case ${BACKPLANE_REPORT_FD:-} in
    '' | *[!0-9]*) return 0 ;;
  esac
  if [ -d /proc/self/fd ]; then
    case $(readlink "/proc/self/fd/$BACKPLANE_REPORT_FD" 2>/dev/null) in
      "pipe:[${BACKPLANE_REPORT_INODE:-}]") ;;
      *) return 0 ;;
    esac
  fi
  _backplane_values='' _backplane_step=''
  for _backplane_word; do
    _backplane_name=${_backplane_word%%=*} _backplane_number=${_backplane_word#*=}
    case $_backplane_number in
      '' | *[!-+.[:alnum:]\ ]*) _backplane_number=text ;; # printf would call an empty text 0, and "'a" 97
      *)
        # A number of JSON: neither 1. nor .5 nor 007 is one.
        if ! printf '%s\n' "$_backplane_number" | grep -Eqx -- '-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?'; then
          _backplane_number=$(LC_ALL=C printf '%.17g' "$_backplane_number" 2>/dev/null) || _backplane_number=text
        fi
        ;;
    esac
    case $_backplane_number in
      text)
        _backplane_number=$(printf '%s' "${_backplane_word#*=}" | LC_ALL=C tr -c ' -~' '?' | cut -c 1-80 | sed 's/["\\]/\\&/g')
        _backplane_number="\"$_backplane_number\""
        ;;
      *[!-+.0-9eE]* | '') _backplane_number=null ;;
    esac
    case $_backplane_word in
      step=*) _backplane_step=",\"step\":$_backplane_number" ;;
      *=*)
        _backplane_name=$(printf '%s' "$_backplane_name" | tr -d '"\\\n')
        _backplane_values="${_backplane_values:+$_backplane_values,}\"$_backplane_name\":$_backplane_number"
        ;;
    esac
  done
  case $BACKPLANE_REPORT_FD in
    ?) _backplane_to="&$BACKPLANE_REPORT_FD" ;;
    *) _backplane_to="/proc/self/fd/$BACKPLANE_REPORT_FD" ;; # dash redirects to descriptors of one digit only
  esac
  # A subshell, as a redirection to a descriptor that cannot be written to would end a script of some shells.
  (eval "printf '%s\n' \"{\\\"values\\\":{\$_backplane_values}\$_backplane_step}\" >$_backplane_to") 2>/dev/null || :
}
