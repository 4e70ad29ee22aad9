#!/bin/sh
# A program for Linux that needs nothing of the system it runs on, linked with musl.
# On Debian: apt-get install musl-tools
set -eu
cd "$(dirname "$0")/.."
target="$(uname -m)-unknown-linux-musl"
command -v musl-gcc >/dev/null || { echo "build-static.sh: musl-gcc is needed (musl-tools)" >&2; exit 1; }
rustup target add "$target"
# The addresses to set right at the start are most of a megabyte, or a tenth of that; the program
# sets them itself, so no system need know how.
export RUSTFLAGS="-Clink-arg=-Wl,-z,pack-relative-relocs"
CC_x86_64_unknown_linux_musl=musl-gcc CC_aarch64_unknown_linux_musl=musl-gcc \
    cargo build --profile dist --locked --package recount --features lake --target "$target"
ls -l "target/$target/dist/recount"
