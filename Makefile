# SPDX-License-Identifier: Apache-2.0
# Short words for those who type make: everything is done by CMake presets and ./check.
PREFIX ?= /usr/local

.PHONY: all check install deb
all:
	./quickstart --no-run

check:
	./check

install:
	cmake --install build/release --prefix $(PREFIX)

deb:
	cd build/release && cpack
