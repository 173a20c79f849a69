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


GPT2 = {"words": 50304, "width": 768, "heads": 12, "blocks": 12}


class Training:
    """A model and its optimiser, always from the same numbers, its attention computed under `attending`.

    narrow: a dtype to compute in by autocast. captured: the whole step is a CUDA graph after three steps.
    """

    def __init__(self, device="cpu", dtype=torch.float32, attending=contextlib.nullcontext, tokens=(4, 25), rate=3e-3,
                 narrow=None, captured=False, **shape):  # fmt: skip
        torch.manual_seed(3)
        self.model = Tiny(**shape).to(device, dtype)
        self.tokens = torch.randint(shape.get("words", 32), tokens).to(device)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), rate, capturable=captured)
        self.attending, self.narrow, self.captured, self.graph = attending, narrow, captured, None
        self.done = 0

    def _step(self):
        with self.attending(), torch.autocast(self.tokens.device.type, self.narrow, self.narrow is not None):
            logits = self.model(self.tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), self.tokens[:, 1:].flatten())
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.detach()

    def _capture(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self._step()

    def step(self):
        """The loss, on the model's device."""
        self.done += 1
        if not self.captured:
            return self._step()
        if self.done <= 3:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                loss = self._step()
            torch.cuda.current_stream().wait_stream(side)
            return loss
        if self.graph is None:
            self._capture()
        self.graph.replay()
        return self.loss.clone()


def losses(steps, *given, **named):
    """Of so many steps of Training(...)."""
    training = Training(*given, **named)
    return torch.stack([training.step() for _ in range(steps)]).tolist()
