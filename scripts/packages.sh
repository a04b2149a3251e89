# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# Read by scripts that install or fetch packages: messages, logs, and apt, this machine's or on folders of its own.

me=$(basename "$0")
work=build/setup  # logs and private state

say() { printf '%s: %s\n' "$me" "$*"; }
warn() { printf '%s: warning: %s\n' "$me" "$*" >&2; }

# run_logged NAME COMMAND...: output goes to a log, of which the end is shown if the command fails.
run_logged() {
  local log="$work/$1.log"
  shift
  mkdir -p "$work"
  if ! "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    warn "failed: $* (all of it: $log)"
    return 1
  fi
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# apt_get ARGUMENTS...: as root, waiting up to five minutes for another process that holds apt's locks.
apt_get() {
  local output=$work/apt-output attempt
  for attempt in {1..30}; do
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" 2>&1 | tee "$output"
    [[ ${PIPESTATUS[0]} -ne 0 ]] || return 0
    grep -q 'Could not get lock\|Unable to lock' "$output" || return 1
    sleep 10
  done
  return 1
}

# install_packages NAME...: those that are missing; where there is no apt, says once what is needed.
install_packages() {
  local missing told
  if ! has_apt; then
    told=$work/told-$(sha256sum <<<"$*")
    told=${told%% *}
    if [[ ! -e $told ]]; then
      warn "no apt here: install what these Debian packages hold: $*"
      mkdir -p "$work" && touch "$told"
    fi
    return 0
  fi
  missing=$(comm -13 \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u) \
    <(printf '%s\n' "$@" | sort -u))
  [[ -n $missing ]] || return 0
  say "system packages:" $missing
  run_logged apt-update apt_get update -q || warn "cannot update the package lists; using the old ones"
  run_logged apt-install apt_get install -q -y --no-install-recommends $missing
}

own_release() { (. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}"); }

# The mirror that this machine's apt takes its own release from.
own_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v release="$(own_release)" '$2 == release && $3 == "main" { print $1; exit }'
}

# private_apt_for FOLDER SUITE ARCHITECTURE: sets private_apt to an apt-get for that suite and architecture of Debian on a
# sources list and folders of its own, to which nothing is installed: nothing of this machine's configuration changes.
private_apt_for() {
  local folder=$1 suite=$2 architecture=$3 mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(own_mirror)
  if [[ -z $mirror || ! -e $keyring ]]; then
    echo "no Debian mirror in apt's configuration, or no $keyring"
    return 1
  fi
  mkdir -p "$folder"/{lists/partial,cache/archives/partial}
  printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$folder/sources.list"
  : >"$folder/status"
  private_apt=(apt-get -q
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
    -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o "Dir::State=$folder" -o "Dir::State::status=$folder/status"
    -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache"
    -o Acquire::Languages=none -o "APT::Sandbox::User=$(id -un)")
}
