# Shared steps of the scripts: what to say, which packages, how to build. Sourced, not run; the caller has
# `set -euo pipefail`. Leaves the current folder at the top of the source tree.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n==> %s\n' "$*"; }

stop() {
  printf '%s: stopped: %s\n' "$0" "$*" >&2
  exit 1
}

# Prints the packages of one section of packages.txt.
packages_of() { sed -n "/^\[$1\]/,/^\[/{/^[a-z]/p}" scripts/packages.txt; }

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# need_packages SECTION…: installs what is missing; without the right to do so, says the command and stops.
need_packages() {
  local section package
  local missing=()
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    stop "this script installs packages on Debian and Ubuntu only; on another system install the counterparts of" \
      "scripts/packages.txt, then run: cmake --preset release && cmake --build --preset release"
  for section in "$@"; do
    for package in $(packages_of "$section"); do
      is_installed "$package" || missing+=("$package")
    done
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "Packages: all installed ($*)"
    return
  fi

  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      stop "packages are missing; as root, run: apt-get update && apt-get install -y ${missing[*]}"
    root=(sudo)
  fi
  say "Packages: installing ${missing[*]}"
  # A source of packages that is down need not matter: the install below decides.
  "${root[@]}" apt-get update -q || say "apt-get update failed; trying the lists that are there"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" \
    </dev/null || stop "apt-get could not install ${missing[*]}"
}

# configure PRESET [cmake option…]: makes build/PRESET after a preset of CMakePresets.json.
configure() {
  local preset=$1
  shift
  say "Configure: cmake --preset $preset${*:+ $*}"
  cmake --preset "$preset" "$@" || stop "configuring '$preset' failed; the reason is above"
}

# compile PRESET: builds what one build preset of CMakePresets.json lists.
compile() {
  say "Build: cmake --build --preset $1"
  cmake --build --preset "$1" || stop "building '$1' failed; the reason is above"
}

# build PRESET [cmake option…]: configures and builds all of one preset.
build() {
  configure "$@"
  compile "$1"
}

# run_tests PRESET: ctest, all cores, the output of failed tests shown.
run_tests() {
  say "Test: ctest --preset $1"
  ctest --preset "$1" --parallel "$(nproc)" || stop "tests of '$1' failed; their output is above"
}
