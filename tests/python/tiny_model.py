"""A model of nanoGPT's making, small enough to train in a test; its attention is torch's function."""

import contextlib

import torch


class Block(torch.nn.Module):
    """A block of nanoGPT's making: attention by torch's function."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.attend = heads, torch.nn.Linear(width, 3 * width)
        self.project, self.first, self.second = (
            torch.nn.Linear(width, width),
            torch.nn.LayerNorm(width),
            torch.nn.LayerNorm(width),
        )
        self.feed = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.attend(self.first(x)).chunk(3, -1))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).flatten(-2))
        return x + self.feed(self.second(x))


class Tiny(torch.nn.Module):
    def __init__(self, words=32, width=32, heads=4, blocks=2):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(words, width), torch.nn.Linear(width, words)
        self.blocks = torch.nn.ModuleList(Block(width, heads) for _ in range(blocks))

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def losses(steps, device="cpu", dtype=torch.float32, attending=contextlib.nullcontext, **shape):
    """Of so many steps from the same numbers, its attention computed under `attending`."""
    torch.manual_seed(3)
    model = Tiny(**shape).to(device, dtype)
    tokens = torch.randint(32, (4, 25)).to(device)
    optimiser = torch.optim.AdamW(model.parameters(), 3e-3)
    seen = []
    for _ in range(steps):
        with attending():
            logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        seen.append(loss.item())
    return seen
