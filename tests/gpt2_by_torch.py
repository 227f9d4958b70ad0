"""Makes a small GPT-2 with PyTorch, saved as transformers saves GPT2LMHeadModel, and what it answers:

    python3 gpt2_by_torch.py FOLDER

The files are those of tests/experiments/gpt2, which numpy alone made: other weights, in float32, and the
logits of torch's own layers in double, with both gelus.
"""
import json
import struct
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

V, T, W, H, L = 11, 8, 8, 2, 2
torch.manual_seed(3)


class Conv1D(nn.Module):
    """A linear layer whose weight is [in, out]."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(rows, columns))
        self.bias = nn.Parameter(0.3 * torch.randn(columns))

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.ones(1, 1, T, T).tril())
        self.c_attn, self.c_proj = Conv1D(W, 3 * W), Conv1D(W, W)

    def forward(self, x):
        q, k, v = (part.view(len(x), H, W // H).transpose(0, 1) for part in self.c_attn(x).split(W, dim=1))
        score = q @ k.transpose(1, 2) / (W // H) ** 0.5
        score = score.masked_fill(self.bias[0, 0, : len(x), : len(x)] == 0, float("-inf"))
        return self.c_proj((score.softmax(-1) @ v).transpose(0, 1).reshape(len(x), W))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(W, 4 * W), Conv1D(4 * W, W)

    def forward(self, x, approximate):
        return self.c_proj(F.gelu(self.c_fc(x), approximate=approximate))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = nn.LayerNorm(W), Attention(), nn.LayerNorm(W), FeedForward()

    def forward(self, x, approximate):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x), approximate)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, W), nn.Embedding(T, W)
        self.h = nn.ModuleList(Block() for _ in range(L))
        self.ln_f = nn.LayerNorm(W)


class GPT2LMHeadModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = Transformer()
        self.lm_head = nn.Linear(W, V, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens, approximate):
        body = self.transformer
        x = body.wte(tokens) + body.wpe(torch.arange(len(tokens)))
        for block in body.h:
            x = block(x, approximate)
        return self.lm_head(body.ln_f(x))


model = GPT2LMHeadModel()
for name, values in model.named_parameters():
    if ".ln_" in name:  # not what every norm begins with
        values.data += 0.3 * torch.randn(W)

header, data = {}, b""
for name, values in model.state_dict().items():
    raw = values.contiguous().numpy().astype("<f4").tobytes()
    header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
text += b" " * (-len(text) % 8)
folder = Path(sys.argv[1])
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)

tokens = [3, 1, 4, 1, 5, 9, 2, 6]
model.double()
with torch.no_grad():
    logits = {form: model(torch.tensor(tokens), form).tolist() for form in ("none", "tanh")}
(folder / "logits.json").write_text(
    json.dumps({"tokens": tokens, "logits": logits["none"], "logits_gelu_new": logits["tanh"]})
)
(folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "activation_function": "gelu"}))
