#!/bin/sh
# Print the Python to build with: $PYTHON if set, else the first of the usual names that really
# is a supported version (a shim of that name may exist without one behind it).
set -eu

is_supported() {
    "$1" -c '
import sys
sys.exit(not (sys.implementation.name == "cpython" and (3, 12) <= sys.version_info[:2] < (3, 15)))
' >/dev/null 2>&1
}

if [ -n "${PYTHON:-}" ]; then
    candidates=$PYTHON
else
    candidates="python3.12 python3.13 python3.14 python3 python"
fi
for candidate in $candidates; do
    if is_supported "$candidate"; then
        if ! "$candidate" -c "import ensurepip, venv" >/dev/null 2>&1; then
            echo "$candidate lacks its venv module (on Debian and Ubuntu: apt install python3-venv)" >&2
            exit 1
        fi
        echo "$candidate"
        exit
    fi
done
if [ -n "${PYTHON:-}" ]; then
    echo "PYTHON=$PYTHON is not a working Python 3.12, 3.13 or 3.14" >&2
else
    found=$(python3 --version 2>/dev/null || echo "no python3")
    echo "Python 3.12, 3.13 or 3.14 is needed; found $found. Install one, or name it with PYTHON=/path/to/python3.12" >&2
fi
exit 1
