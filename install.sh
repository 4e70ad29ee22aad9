#!/bin/sh
# Builds recount and puts it below PREFIX (default ~/.local): the program, what shells complete,
# and the manual. RECOUNT_BINARY names a program that is built already. --uninstall takes all of
# it away again.
set -eu

prefix="${PREFIX:-$HOME/.local}"
bin="$prefix/bin/recount"
bash_file="$prefix/share/bash-completion/completions/recount"
zsh_file="$prefix/share/zsh/site-functions/_recount"
fish_file="$prefix/share/fish/vendor_completions.d/recount.fish"
man_dir="$prefix/share/man/man1"

if [ "${1:-}" = "--uninstall" ]; then
    rm -f "$bin" "$bash_file" "$zsh_file" "$fish_file" "$man_dir"/recount.1 "$man_dir"/recount-*.1
    echo "recount is gone from $prefix; your store is untouched"
    exit 0
fi

built="${RECOUNT_BINARY:-}"
if [ -z "$built" ]; then
    command -v cargo >/dev/null || { echo "install.sh: cargo is needed: https://rustup.rs" >&2; exit 1; }
    cd "$(dirname "$0")"
    cargo build --profile dist --locked --package recount --features lake
    built="target/dist/recount"
fi

for file in "$bin" "$bash_file" "$zsh_file" "$fish_file" "$man_dir/x"; do
    mkdir -p "$(dirname "$file")"
done
cp "$built" "$bin.new" && chmod 755 "$bin.new" && mv "$bin.new" "$bin"
"$bin" completions bash >"$bash_file"
"$bin" completions zsh >"$zsh_file"
"$bin" completions fish >"$fish_file"
"$bin" man --to "$man_dir"

echo "installed: $bin"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "add $prefix/bin to your PATH" ;;
esac
