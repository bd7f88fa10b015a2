#!/bin/sh
# Installs Chromium, in which the tests of the page run, on Debian and Ubuntu.
set -e
apt-get update
apt-get install --yes --no-install-recommends chromium
