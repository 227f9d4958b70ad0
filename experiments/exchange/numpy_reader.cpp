#include "experiments/exchange/numpy_reader.h"

namespace weft::experiments {

const std::string_view numpy_reader =
    R"py("""Computes the logits of a dense Transformer that weft exported, with numpy alone:
python3 MODEL.py MODEL.safetensors 3 14 15 prints those after each of these tokens,
of a classifier those of its classes."""
import json, math, struct, sys

import numpy as np


def load(path):
    if path.endswith(".npz"):
        file = np.load(path)
        return {n: file[n] for n in file.files if n != "weft.json"}, json.loads(file["weft.json"])
    data = open(path, "rb").read()
    begin = 8 + struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:begin])
    texts, arrays = header.pop("__metadata__"), {}
    for name, entry in header.items():
        first, last = (begin + place for place in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[first:last], "<f4").reshape(entry["shape"])
    return arrays, texts


class Model:
    def __init__(self, path):
        self.arrays, self.texts = load(path)
        self.facts = json.loads(self.texts["model"])
        assert not self.facts["beyond_dense"], self.facts["beyond_dense"]

    def linear(self, name, x):
        return x @ self.arrays[name + ".weight"].T + self.arrays[name + ".bias"]

    def norm(self, name, x):
        x = x - (x.mean(-1, keepdims=True) if self.facts["norm"] == "layer" else 0)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.facts["norm_eps"])
        return x * self.arrays[name + ".weight"] + self.arrays.get(name + ".bias", 0)

    def attention(self, name, x):
        parts = np.split(self.linear(name + ".projection", x), 3, axis=1)
        q, k, v = (p.reshape(len(x), self.facts["heads"], -1).transpose(1, 0, 2) for p in parts)
        if self.facts["positions"] == "rotary":
            half = q.shape[2] // 2
            turn = np.exp(1j * np.arange(len(x))[:, None] * 10000.0 ** (-np.arange(half) / half))
            q, k = ((z[..., :half] + 1j * z[..., half:]) * turn for z in (q, k))
            q, k = (np.concatenate([z.real, z.imag], -1) for z in (q, k))
        score = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2])
        score = np.where(np.tri(len(x)) > 0, score, -np.inf) if self.facts["causal"] else score
        weight = np.exp(score - score.max(-1, keepdims=True))
        heads = (weight / weight.sum(-1, keepdims=True) @ v).transpose(1, 0, 2)
        return self.linear(name + ".output", heads.reshape(len(x), -1))

    def feed_forward(self, name, x):
        forms = {"relu": np.sign, "gelu": lambda x: np.vectorize(math.erf)(x / math.sqrt(2)),
                 "gelu_tanh": lambda x: np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))}
        x = self.linear(name + ".in", x)
        return self.linear(name + ".out", 0.5 * x * (1 + forms[self.facts["activation"]](x)))

    def logits(self, tokens):
        a, facts, table = self.arrays, self.facts, self.arrays["tokens.weight"]
        x = table[([len(table) - 1] if facts.get("pool") == "cls" else []) + list(tokens)]
        if facts["positions"] == "learned":
            x = x + a["positions.weight"][: len(x)]
        if facts["positions"] == "sinusoidal":
            column = np.arange(x.shape[1])
            angle = np.arange(len(x))[:, None] / 10000.0 ** (column // 2 * 2 / len(column))
            x = x + np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
        for i in range(facts["layers"]):
            for part in (self.attention, self.feed_forward):
                name, pre = f"layers.{i}.{part.__name__}", facts["norm_place"] == "pre"
                h = part(name, self.norm(name + "_norm", x) if pre else x)
                x = x + h if pre else self.norm(name + "_norm", x + h)
        x = self.norm("final_norm", x) if pre else x
        if facts["task"] == "language":
            return x @ a.get("output.weight", table).T
        x = x[0] if facts["pool"] == "cls" else x.mean(0)
        hidden = facts["head"] == "mlp"
        return self.linear("head.classes", np.maximum(self.linear("head.hidden", x), 0) if hidden else x)


if __name__ == "__main__":
    np.savetxt(sys.stdout, np.atleast_2d(Model(sys.argv[1]).logits(map(int, sys.argv[2:]))), "%.6f")
)py";

}  // namespace weft::experiments
