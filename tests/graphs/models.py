"""Modules of graphs_test.py: blocks of models as their published code writes them, small."""

import torch
from torch import nn
from torch.nn import functional


class BertLayer(nn.Module):
    """Norms behind sums, GELU by erf, a mask of padding that is an argument if there is one."""

    def __init__(self, hidden=32, heads=4, ffn=64):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(hidden, hidden) for _ in range(4))
        self.intermediate, self.output = nn.Linear(hidden, ffn), nn.Linear(ffn, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, hidden, mask=None):
        q, k, v = (self.split(part(hidden)) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores + (1 - mask[:, None, None, :]) * -10000.0
        context = (functional.softmax(scores, dim=-1) @ v).permute(0, 2, 1, 3).reshape(hidden.shape)
        attended = self.norm1(self.dense(context) + hidden)
        return self.norm2(self.output(functional.gelu(self.intermediate(attended))) + attended)


class RmsNorm(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def rotate_half(x):
    first, second = x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-second, first), dim=-1)


def repeat(x, times):
    batch, heads, tokens, width = x.shape
    return x[:, :, None].expand(batch, heads, times, tokens, width).reshape(batch, heads * times, tokens, width)


class LlamaBlock(nn.Module):
    def __init__(self, hidden=32, heads=4, kv_heads=2, ffn=80, tokens=16):
        super().__init__()
        self.heads, self.kv_heads, self.width = heads, kv_heads, hidden // heads
        self.input_norm, self.post_norm = RmsNorm(hidden), RmsNorm(hidden)
        self.q_proj, self.o_proj = (nn.Linear(hidden, hidden, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(hidden, kv_heads * self.width, bias=False) for _ in range(2))
        self.gate_proj, self.up_proj = (nn.Linear(hidden, ffn, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(ffn, hidden, bias=False)
        angles = torch.outer(torch.arange(tokens).float(), 10000.0 ** -(torch.arange(0, self.width, 2) / self.width))
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer("mask", torch.full((tokens, tokens), -torch.inf).triu(1))

    def rotate(self, x):
        return x * self.cos[None, None] + rotate_half(x) * self.sin[None, None]

    def attend(self, x):
        batch, tokens, _ = x.shape
        q, k, v = (part(x).view(batch, tokens, -1, self.width).transpose(1, 2)
                   for part in (self.q_proj, self.k_proj, self.v_proj))
        k, v = (repeat(part, self.heads // self.kv_heads) for part in (self.rotate(k), v))
        scores = self.rotate(q) @ k.transpose(2, 3) * self.width ** -0.5 + self.mask
        context = functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype) @ v
        return self.o_proj(context.transpose(1, 2).reshape(batch, tokens, -1))

    def forward(self, x):
        x = x + self.attend(self.input_norm(x))
        y = self.post_norm(x)
        return x + self.down_proj(functional.silu(self.gate_proj(y)) * self.up_proj(y))


class VitBlock(nn.Module):
    """Patches of an image, a class token, positions, and one block with packed Q, K and V and GELU by tanh."""

    def __init__(self, hidden=24, heads=3, patch=4, size=16):
        super().__init__()
        self.patch = nn.Conv2d(3, hidden, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, hidden))
        self.positions = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, hidden))
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.heads, self.qkv, self.proj = heads, nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.fc1, self.fc2 = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.positions
        batch, tokens, hidden = x.shape
        packed = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, self.heads, hidden // self.heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q * (hidden // self.heads) ** -0.5) @ k.transpose(-2, -1)
        x = x + self.proj((scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, tokens, hidden))
        return x + self.fc2(functional.gelu(self.fc1(self.norm2(x)), approximate="tanh"))


class Of(nn.Module):
    """A function of tensors, with parameters and, by `b_` before their names, buffers."""

    def __init__(self, function, **tensors):
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            if name.startswith("b_"):
                self.register_buffer(name[2:], tensor)
            else:
                self.register_parameter(name, nn.Parameter(tensor))

    def forward(self, *inputs):
        return self.function(self, *inputs)
