#!/bin/sh
# Run two programs in turn, compare what they wrote bit for bit, and print both times.
#   compare.sh ORIGINAL COMPILED [ROUNDS]
# In turn, so that a busy machine slows both; medians, so that one slow run does not count.
set -eu
original=$1 compiled=$2 rounds=${3:-3}
work=$(dirname "$compiled")

: >"$work/original.times"
: >"$work/compiled.times"
round=0
while [ "$round" -lt "$rounds" ]; do
    "$original" "$work/original.out" 3 >>"$work/original.times"
    "$compiled" "$work/compiled.out" 3 >>"$work/compiled.times"
    round=$((round + 1))
done

median() { sed -n 's/^ms //p' "$1" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
before=$(median "$work/original.times")
after=$(median "$work/compiled.times")
sum=$(sed -n 's/^checksum //p' "$work/compiled.times" | tail -n 1)

if ! cmp "$work/original.out" "$work/compiled.out"; then
    echo "  THE RESULTS DIFFER: this is a bug of polyc, please report it" >&2
    exit 1
fi
rm -f "$work/original.out" "$work/compiled.out"
threads=${OMP_NUM_THREADS:-$(getconf _NPROCESSORS_ONLN)}
awk -v b="$before" -v a="$after" -v n="$threads" -v s="$sum" 'BEGIN {
    printf "  original   %8.1f ms   1 thread\n", b
    printf "  polyc      %8.1f ms   %d thread%s\n", a, n, n == 1 ? "" : "s"
    printf "  ratio      %8.2f x\n", b / a
    printf "  results    the same, bit for bit (checksum %s)\n", s
}'
