"""Makes a small model in the layout of Hugging Face's GPT-2, and what it answers, by numpy alone:

    python3 make.py

It follows GPT2LMHeadModel with activation_function "gelu", and for a second set of logits "gelu_new": Conv1D weights are [in, out], c_attn is q, k
and v side by side, the table of tokens is also the output layer. The masks of older files are among the
arrays, as published files have them."""
import json
import math
import struct

import numpy as np

V, T, W, H, L = 11, 8, 8, 2, 2
rng = np.random.default_rng(7)


def draw(*shape):
    return rng.normal(0, 0.3, shape).astype("<f4")


arrays = {"wte.weight": draw(V, W), "wpe.weight": draw(T, W), "ln_f.weight": 1 + draw(W), "ln_f.bias": draw(W)}
for i in range(L):
    h = f"h.{i}."
    for norm in ("ln_1", "ln_2"):
        arrays[h + norm + ".weight"], arrays[h + norm + ".bias"] = 1 + draw(W), draw(W)
    for name, rows, columns in (("attn.c_attn", W, 3 * W), ("attn.c_proj", W, W), ("mlp.c_fc", W, 4 * W), ("mlp.c_proj", 4 * W, W)):
        arrays[h + name + ".weight"], arrays[h + name + ".bias"] = draw(rows, columns), draw(columns)
    arrays[h + "attn.bias"] = np.tril(np.ones((1, 1, T, T), "<f4"))


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * arrays[name + ".weight"] + arrays[name + ".bias"]


def conv1d(x, name):
    return x @ arrays[name + ".weight"].astype("f8") + arrays[name + ".bias"]


def gelu(z):
    return 0.5 * z * (1 + math.erf(z / math.sqrt(2)))


def gelu_new(z):
    return 0.5 * z * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def logits(tokens, activation):
    x = arrays["wte.weight"][tokens].astype("f8") + arrays["wpe.weight"][: len(tokens)]
    for i in range(L):
        q, k, v = np.split(conv1d(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn"), 3, axis=-1)
        heads = []
        for c in range(0, W, W // H):
            own = slice(c, c + W // H)
            score = q[:, own] @ k[:, own].T / math.sqrt(W // H)
            score[np.triu_indices(len(tokens), 1)] = -np.inf
            weight = np.exp(score)
            heads.append(weight / weight.sum(1, keepdims=True) @ v[:, own])
        x = x + conv1d(np.concatenate(heads, 1), f"h.{i}.attn.c_proj")
        y = conv1d(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")
        y = np.array([[activation(z) for z in row] for row in y])
        x = x + conv1d(y, f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f") @ arrays["wte.weight"].astype("f8").T


header, place, data = {}, 0, b""
for name in sorted(arrays):
    raw = arrays[name].tobytes()
    header[name] = {"dtype": "F32", "shape": list(arrays[name].shape), "data_offsets": [place, place + len(raw)]}
    place, data = place + len(raw), data + raw
text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
text += b" " * (-len(text) % 8)
with open("model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
tokens = [3, 1, 4, 1, 5, 9, 2, 6]
with open("logits.json", "w") as file:
    rounded = {f: [[round(v, 6) for v in row] for row in logits(tokens, f)] for f in (gelu, gelu_new)}
    json.dump({"tokens": tokens, "logits": rounded[gelu], "logits_gelu_new": rounded[gelu_new]}, file)
with open("config.json", "w") as file:
    json.dump({"model_type": "gpt2", "activation_function": "gelu", "n_layer": L, "n_head": H, "n_embd": W,
               "n_positions": T, "vocab_size": V, "layer_norm_epsilon": 1e-5}, file, indent=1)
