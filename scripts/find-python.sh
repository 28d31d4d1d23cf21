#!/bin/sh
# Print the path of a Python >= 3.11 that can make virtual environments, or explain what is missing and exit 1.
# PYTHON=/path/to/python overrides the search.
set -eu

usable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
has_venv() { "$1" -c 'import venv, ensurepip' 2>/dev/null; }

found=""
for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    path=$(command -v "$name" 2>/dev/null) || continue
    usable "$path" || continue
    found=$path
    if has_venv "$path"; then
        echo "$path"
        exit 0
    fi
done

if [ -n "$found" ]; then
    echo "$found cannot make virtual environments: its venv or ensurepip module is missing." >&2
    echo "On Debian and Ubuntu: apt-get install python3-venv" >&2
elif [ -n "${PYTHON:-}" ]; then
    echo "PYTHON=$PYTHON is not a Python 3.11 or newer." >&2
else
    echo "No Python 3.11 or newer was found. Install one (https://www.python.org/downloads/), or name it: make PYTHON=/path/to/python" >&2
fi
exit 1
