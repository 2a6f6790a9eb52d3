#!/usr/bin/env bash
# Runs the aarch64 wheel in a directory that `python -m tools.wheels` made, on a processor that QEMU emulates:
# its summary of the sample must be the one that is made here. Needs Debian on x86_64, root, qemu-user-static.
#
# tools/try_aarch64.sh [DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
wheels=$(realpath "${1:-dist}")
sample=samples/moba/trace_view.json
work=$(mktemp -d)
trap 'rm -rf "$work"; dpkg --remove-architecture arm64' EXIT

dpkg --add-architecture arm64
apt-get update -q > "$work/log"
(
  cd "$work"
  packages=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 zlib1g
    libexpat1 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libssl3 libuuid1)
  apt-get download -q "${packages[@]/%/:arm64}" >> "$work/log" 2>&1
  for package in *.deb; do dpkg -x "$package" root; done
)
.venv/bin/pip install -q --no-compile --target "$work/site" --only-binary=:all: --python-version 3.11 \
  --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 \
  "$wheels"/tracetui-*_aarch64.whl

emulated() { # Python with these arguments
  qemu-aarch64-static -L "$work/root" -E PYTHONPATH="$work/site" "$work/root/usr/bin/python3.11" "$@"
}
emulated -c 'import platform, _tracetui_scan; print("scans on", platform.machine())'
emulated -m tracetui --no-cache summary $sample > "$work/there"
.venv/bin/python -m tracetui --no-cache summary $sample | diff - "$work/there"
echo "the summary of $sample is the same"
