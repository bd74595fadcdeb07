# Sourced by the other scripts: where the tree is, and a compiler cache when there is one.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$root  # a second checkout finds what the first one compiled
fi

# Configures a preset that has not been configured yet; later ninja does it by itself.
configure() {
  if [ ! -f "build/$1/build.ninja" ]; then
    cmake --preset "$1" >"build-$1.tmp" 2>&1 || { cat "build-$1.tmp" >&2; exit 1; }
    rm -f "build-$1.tmp"
  fi
}
