"""One attention call of a model of GPT-2's size, captured as it ran and opened by the program: the head that was
chosen, its mask and scale, and the numbers of torch's own softmax in fp64.

ATTNSCOPE_PICTURES: a folder for what Step draws.
"""

import json
import os
import pathlib
import tempfile
import zipfile

import package

torch = package.wanted("torch")
np, attnscope, of_torch = package.wanted("numpy", "attnscope", "attnscope.torch")
program = package.wanted("program")
report = program.Report()
from tiny_model import Block  # noqa: E402

HEADS, WIDTH, CONTEXT, WORDS, SCALE = 12, 768, 1024, 50257, 1 / 8
PICTURES = os.environ.get("ATTNSCOPE_PICTURES")


class Gpt2(torch.nn.Module):
    """Words and places, two of GPT-2's twelve blocks, weights as its makers drew them."""

    def __init__(self):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(WORDS, WIDTH), torch.nn.Embedding(CONTEXT, WIDTH)
        self.blocks = torch.nn.ModuleList(Block(WIDTH, HEADS) for _ in range(2))
        for parameter in (p for p in self.parameters() if p.dim() == 2):
            torch.nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return x


def heads_of(block, x):
    """Q, K and V of every head [B, H, L, 64], by the block's own weights and no word of torch's attention."""
    return [part.reshape(*x.shape[:2], HEADS, 64).transpose(1, 2) for part in block.attend(block.first(x)).chunk(3, -1)]


def softmax_of(q, k, rows, keys):
    """The scores and torch's softmax of them in fp64, with the mask of GPT-2: no key after the query's own."""
    scores = q.double() @ k.double().mT * SCALE
    seen = torch.arange(CONTEXT)[keys][None] <= torch.arange(CONTEXT)[rows][:, None]
    scores = scores.masked_fill(~seen, float("-inf"))
    return scores, torch.softmax(scores, -1), seen


def near(words, got, right, allowed=2e-5):
    error = float((torch.as_tensor(np.asarray(got)).double() - right).abs().max())
    report.check(error <= allowed, f"{words}: off by {error:.2g}")


def right_recording(words, recording, own, rows, keys):
    """What the recording holds is the softmax of these q and k, row by row, and nothing of what the mask hides."""
    q, k, v = own
    scores, weights, seen = softmax_of(q, k, rows, keys)
    s, lse = recording.array("s"), recording.lse[0, 0]
    known = torch.from_numpy(np.isfinite(s))
    report.check(torch.equal(known, seen), f"{words}: scores are known just where the mask lets through")
    near(f"{words}: S", np.where(seen.numpy(), s, 0), scores.masked_fill(~seen, 0))
    near(f"{words}: weights", np.where(seen.numpy(), np.exp(s - lse[:, None].astype(np.float64)), 0), weights)
    near(f"{words}: O", recording.out[0, 0], weights @ v.double())
    report.check(recording.first_wrong() is None, f"{words}: no step is wrong")
    report.check(recording.verdict()[0] == "pass", f"{words}: {recording.verdict()}")


def opened(words, recording, own, problem, steps):
    """The file that show() gives to the window, as the program opens it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "notebook.attn"
        recording.save(file)
        with zipfile.ZipFile(file) as entries:
            kept = json.loads(entries.read("session.json"))["recordings"][0]
        asked = kept["problem"]
        for name, right in problem.items():
            report.check(asked.get(name) == right, f"{words}: {name} is {asked.get(name)}, not {right}")
        scale = asked.get("scale", asked["D"] ** -0.5)
        report.check(abs(scale - SCALE) < 1e-7, f"{words}: the scale is {scale}")
        again = attnscope.load(file)
    for name, right in zip("qkv", own):
        whole = again.array(name)
        report.check(np.array_equal(whole, right.numpy()), f"{words}: the file's {name} is the head's, bit for bit")
    for number in steps:
        picture = again.picture(number, theme="dark")
        report.check(picture.startswith(b"\x89PNG") and len(picture) > 20000, f"{words}: Step draws step {number}")
        if PICTURES:
            pathlib.Path(PICTURES, f"gpt2_{words.replace(' ', '_')}_{number}.png").write_bytes(picture)


def by_the_program(words, captured, own, rows, keys):
    """`attnscope step` on the captured arrays: the scores of each of its steps after the mask, and its answer."""
    scores, weights, _ = softmax_of(*own[:2], rows, keys)
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["step", "--tile", "16x64", "--scale", captured.scale, "--json"]
        for name in ("q", "k", "v", "bias"):
            array = getattr(captured, name)
            if array is not None:
                np.save(pathlib.Path(folder) / f"{name}.npy", array.numpy())
                arguments += [f"--{name}", pathlib.Path(folder) / f"{name}.npy"]
        said = json.loads(attnscope.program.run(*arguments, *(["--causal"] if captured.causal else []), timeout=120))
    last = {}
    for step in said["steps"]:
        for made in step["made"]:
            if made["tensor"] == "s":
                last[made["first_row"], made["first_col"]] = np.array(made["values"], np.float64)
    for (row, column), tile in last.items():
        right = scores[row : row + tile.shape[0], column : column + tile.shape[1]].numpy()
        same = np.array_equal(np.isneginf(tile), np.isneginf(right))
        report.check(same, f"{words}: the program's tile at {row}, {column} is masked as GPT-2 masks")
        with np.errstate(invalid="ignore"):
            near(f"{words}: its tile at {row}, {column}", np.where(np.isneginf(right), 0, tile - right), torch.zeros(1))
    report.check(len(last) >= 8, f"{words}: {len(last)} tiles of scores")
    answer = np.reshape(said["out"]["values"], said["out"]["shape"])[0, 0]
    near(f"{words}: its answer", answer, weights @ own[2].double())


def main():
    torch.manual_seed(11)
    model, tokens = Gpt2().eval(), torch.randint(WORDS, (2, CONTEXT))
    b, h = 1, 7
    with torch.no_grad():
        embedded = model.words(tokens) + model.places(torch.arange(CONTEXT))
        of_second = [x[b, h] for x in heads_of(model.blocks[1], model.blocks[0](embedded))]
        other_head = heads_of(model.blocks[1], model.blocks[0](embedded))[0][b, h - 1]
        right = model(tokens)
        # A window of its rows and keys: the mask comes as what is added to the scores.
        rows, keys = slice(224, 272), slice(0, 512)
        for layer in (1, "blocks.1"):
            with attnscope.capture(model, layer=layer, b=b, h=h, rows=rows, keys=keys) as captured:
                out = model(tokens)
            report.check(torch.equal(out, right), "the model computes as without")
            own = of_second[0][rows], of_second[1][keys], of_second[2][keys]
            for name, array in zip("qkv", own):
                got = getattr(captured, name)
                report.check(torch.equal(got[0, 0], array), f"layer {layer}: {name} is that of head {h}, bit for bit")
            report.check(captured.scale == SCALE, f"layer {layer}: scale {captured.scale}")
            report.check(not torch.equal(captured.q[0, 0], other_head[rows]), "no other head's")
        recording = captured.record(tile=(16, 64))
        right_recording("a window", recording, own, rows, keys)
        if package.has_program():
            by_the_program("a window", captured, own, rows, keys)
            middle = next(s.number for s in recording.steps if s.phase == "weights" and s.i == 1 and s.j == 3)
            opened("a window", recording, own, {"Lq": 48, "Lk": 512, "D": 64, "Hq": 1}, [middle])
        # The first 128 tokens in a run of their own: causal as the call had it.
        with attnscope.capture(model, layer=1, b=b, h=h) as short:
            model(tokens[:, :128])
        of_short = [x[b, h] for x in heads_of(model.blocks[1], model.blocks[0](embedded[:, :128]))]
        report.check(short.causal and short.bias is None and short.scale == SCALE, f"causal: {short.causal}")
        recording = short.record(tile=(32, 32))
        whole = slice(0, 128)
        right_recording("128 tokens", recording, of_short, whole, whole)
        if package.has_program():
            by_the_program("128 tokens", short, of_short, whole, whole)
            masked = next(s.number for s in recording.steps if s.phase == "mask" and s.i == 2)
            mask = {"causal": True, "window_left": -1, "window_right": -1}
            opened("128 tokens", recording, of_short, {"Lq": 128, "Lk": 128, "D": 64, "mask": mask}, [masked])
        else:
            print("left out: what the program says of them, for it is not beside the package")


main()
report.exit(25)
