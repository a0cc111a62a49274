#!/bin/sh
# Make .venv, the environment that every other make target works in: the locked packages, then
# our own two as editable installs. Needs a Python and a package index that pip can reach
# (PIP_INDEX_URL and the other PIP_* variables are honoured). `make setup` calls it when needed.
set -eu
cd "$(dirname "$0")/.."

# An environment that was moved, or whose Python is gone, is made anew.
if [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)' 2>/dev/null)" != "$PWD/.venv" ] ||
    ! grep -qF "$PWD/.venv/bin/" .venv/bin/pip; then
    python=$(sh tools/python.sh)
    echo "setup: creating .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi

install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --no-deps --no-build-isolation "$@"
}

rm -f .venv/.installed
echo "setup: installing the locked packages (about 300 MB, kept in pip's cache)"
# setuptools first: pyserini comes as source only and is built with it, here and not in a
# temporary environment whose contents no lock would pin.
awk '/^[a-z]/ { wanted = /^setuptools==/ } wanted' requirements.lock >.venv/build-requirements.txt
install --require-hashes -r .venv/build-requirements.txt
install --require-hashes -r requirements.lock
echo "setup: installing remanence and remanence-client, editable"
install -e clients/python -e .
touch .venv/.installed
echo "setup: done"
