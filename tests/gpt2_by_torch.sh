#!/usr/bin/env bash
# Imports a GPT-2 that PyTorch wrote, in the layout of transformers, and compares the logits with PyTorch's.
# Exits with 77, which ctest shows as skipped, where PyTorch is not installed (it is large).
#
#   tests/gpt2_by_torch.sh TESTS    the binary that compares with the stored file otherwise
set -euo pipefail

tests=$(readlink -f -- "$1")
here=$(dirname -- "$(readlink -f -- "$0")")
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import torch, numpy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "skipped: PyTorch is not installed (apt-get install python3-torch)"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
"$python" "$here/gpt2_by_torch.py" .
if cmp -s model.safetensors "$here/experiments/gpt2/model.safetensors"; then
  echo "FAIL: this is the stored file"
  exit 1
fi
WEFT_GPT2_FOLDER=$scratch "$tests" --gtest_filter='Row13.a_file_*_gives_the_logits_of_its_maker' >tests.txt ||
  { cat tests.txt; exit 1; }
grep -q 'PASSED.* 2 tests' tests.txt || { cat tests.txt; exit 1; }
"$python" -c 'import torch; print("ok: the logits of PyTorch", torch.__version__)'
