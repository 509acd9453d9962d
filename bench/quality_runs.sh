#!/bin/sh
# quality_runs.sh - trains the models that quality is judged by, and judges them.
#
#   quality_runs.sh TEXT SETS OUTDIR [TRAIN OPTION...]
#
# OUTDIR gets the models; one that is there already is not trained again. SETS is as
# quality.py wants it. Further options (--threads 2, --seed 7) go to every training.
# PYTHON is a Python 3, WORDTIDE the command; both have defaults.
set -eu
[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$0")
wordtide=${WORDTIDE:-$here/../build/cli/wordtide}
python=${PYTHON:-/usr/bin/python3}
text=$1 sets=$2 out=$3
shift 3
extra="$*"
mkdir -p "$out"

train() {
    name=$1
    shift
    if [ ! -e "$out/$name.tide" ]; then
        echo "training $name: $* $extra" >&2
        # shellcheck disable=SC2086 # a list of words is meant
        "$wordtide" train "$text" -o "$out/$name.tide" --quiet "$@" $extra
    fi
}

# The first decides which words analogies are about, so its vocabulary is large.
train default
train fast --profile fast
train subword --subword 200000
train small-gate --vocab 7000
train small-nogate --vocab 7000 --admission none
train paper --profile paper
train word2vec --profile word2vec

exec "$python" "$here/quality.py" --command "$wordtide" --sets "$sets" \
    "$out/default.tide" "$out/fast.tide" "$out/subword.tide" "$out/small-gate.tide" \
    "$out/small-nogate.tide" "$out/paper.tide" "$out/word2vec.tide"
