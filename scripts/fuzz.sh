#!/bin/sh
# Runs every fuzz target of the repository for FUZZTIME each. Go takes one target of one package at a time.
set -eu

go=${GO:-go}
time=${FUZZTIME:-10s}
count=0

list=$(mktemp)
trap 'rm -f "$list"' EXIT
grep -rl --include='*_test.go' '^func Fuzz' internal cmd | sort >"$list"

while read -r file; do
	package="./$(dirname "$file")"
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "fuzz: $package $target for $time"
		"$go" test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null
		count=$((count + 1))
	done
done <"$list"
echo "fuzz: $count targets, no failure"
