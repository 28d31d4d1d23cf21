#!/bin/sh
# Install the Debian packages that tests and benches can use, where we are root and they are absent. Nothing here is
# needed by `make demo`. Everywhere else this does nothing and says so.
set -eu

missing=""
"$(dirname "$0")/find-python.sh" >/dev/null 2>&1 || missing="$missing python3 python3-venv"
command -v make >/dev/null 2>&1 || missing="$missing make"
command -v git >/dev/null 2>&1 || missing="$missing git"
if ! command -v java >/dev/null 2>&1; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        missing="$missing default-jre-headless"
    else
        echo "setup-debian: no java; the tests of the Spark job will be skipped" >&2
    fi
fi
if ! command -v nginx >/dev/null 2>&1; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        missing="$missing nginx-light"
    else
        echo "setup-debian: no nginx; the test of the benches' web server will be skipped" >&2
    fi
fi
if ! command -v chromium >/dev/null 2>&1; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        missing="$missing chromium"
    else
        echo "setup-debian: no chromium; the tests of pages that need a browser will be skipped" >&2
    fi
fi
if [ "$(uname -s)" = Linux ] && [ -z "$(ls /usr/lib/*/libatomic.so.1 /usr/lib64/libatomic.so.1 2>/dev/null)" ]; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        missing="$missing libatomic1"
    else
        echo "setup-debian: no libatomic.so.1; Playwright's driver may not run, and its tests fail" >&2
    fi
fi
if ! command -v gcc >/dev/null 2>&1; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        missing="$missing gcc libc6-dev"
    else
        echo "setup-debian: no gcc; the tests of the native kernel under sanitizers will be skipped" >&2
    fi
fi
if ! command -v promtool >/dev/null 2>&1; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
        missing="$missing prometheus"
    else
        echo "setup-debian: no prometheus; the tests of alerts and dashboard will be skipped" >&2
    fi
fi
for proxy in tinyproxy microsocks; do
    if ! command -v "$proxy" >/dev/null 2>&1; then
        if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
            [ "$proxy" = tinyproxy ] && proxy=tinyproxy-bin # without its service
            missing="$missing $proxy"
        else
            echo "setup-debian: no $proxy; the tests of crawls through it will be skipped" >&2
        fi
    fi
done
# These two only make things quicker: nothing fails without them.
quicker() { # package, what there is without it
    install="apt-get install -y -qq --no-install-recommends $1"
    if ! { command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ] &&
        { timeout 120 $install || { timeout 120 apt-get update -qq && timeout 120 $install; }; } >/dev/null 2>&1; }; then
        echo "setup-debian: no $1; $2" >&2
    fi
}
if ! [ -e "/usr/lib/$(uname -m)-linux-gnu/libjemalloc.so.2" ]; then
    quicker libjemalloc2 "the embedded Valkey uses the allocator of libc, about a quarter slower"
fi
if ! command -v chromium-headless-shell >/dev/null 2>&1; then
    quicker chromium-headless-shell "pages are drawn by the whole browser, which takes twice the CPU time and memory"
fi
if [ -z "$missing" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
    echo "setup-debian: cannot install$missing (needs apt-get and root)" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # a list of words
apt-get install -y -qq --no-install-recommends $missing
