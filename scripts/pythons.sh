# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Read by scripts that work with several interpreters.

# find_python 3.12: the newest interpreter of that version, in PATH or of pyenv; nothing if there is none.
find_python() {
  local candidate
  for candidate in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
    # pyenv's own python3.12 in PATH is there even where it refuses to run.
    if [[ -n $candidate && -x $candidate ]] && "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
}
