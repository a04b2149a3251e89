# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Read by scripts that work with several interpreters.

# resolve_python NAME: prints an interpreter that runs, for a path, a command or a name such as python3.12. pyenv puts a
# command of that name into PATH even where it refuses to run.
resolve_python() {
  local found=
  if "$1" -c 'import sys' >/dev/null 2>&1; then
    found=$(command -v "$1")
  elif [[ $1 =~ ^(python)?(3\.[0-9]+)$ ]]; then
    found=$(find_python "${BASH_REMATCH[2]}")
  fi
  if [[ -z $found ]]; then
    printf '%s: PYTHON=%s: no such interpreter in PATH, under pyenv or in /usr/local; give the path of one\n' "$(basename "$0")" "$1" >&2
    return 2
  fi
  printf '%s\n' "$found"
}

# find_python 3.12: an interpreter of that version in PATH, of pyenv or in /usr/local; nothing if there is none.
find_python() {
  local candidate
  for candidate in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python \
    /usr/local/bin/"python$1" /usr/local/python*/bin/"python$1"; do
    # pyenv's own python3.12 in PATH is there even where it refuses to run.
    if [[ -n $candidate && -x $candidate ]] && "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
}
