"""Runs the readers that weft wrote beside its exports, and compares them with what weft predicted."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

where = Path(sys.argv[1])


def model(name, ending):
    spec = importlib.util.spec_from_file_location("reader", where / f"{name}.py")
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    return reader.Model(str(where / (name + ending)))


def predictions(name):
    return [json.loads(line) for line in (where / f"{name}.jsonl").open()]


# Classes: the probabilities of every text.
texts = [line.split("\t")[1].rstrip("\n") for line in (where / "labelled.tsv").open()]
compared = 0
for name in ("class-cls", "class-mean"):
    own = model(name, ".safetensors")
    names = json.loads(own.texts["classes"])
    for text, predicted in zip(texts, predictions(name)):
        logits = own.logits([byte + 1 for byte in text.encode()[:24]])
        expected = np.exp(logits - logits.max())
        expected /= expected.sum()
        for one, probability in zip(names, expected):
            assert abs(predicted["probabilities"][one] - probability) < 1e-5, (name, text)
            compared += 1

# Tokens: greedy continuation takes the token with the largest logit, again and again.
for i in range(1, 5):
    own = model(f"dense{i}", ".npz")
    alphabet = json.loads(own.texts["alphabet"])
    tokens = [alphabet.index(c) for c in "Zeile 1: w"]
    said = predictions(f"dense{i}")[0]["continuation"]
    assert len(said) == 6
    for c in said:
        logits = own.logits(tokens)[-1]
        assert logits[alphabet.index(c)] > logits.max() - 1e-4, (i, said)
        tokens.append(alphabet.index(c))
        compared += 1
print(f"ok: {compared} predictions")
