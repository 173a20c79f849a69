"""What a user or a mistake may hand to the page: state strings, and files that were damaged."""
import random


def random_states(count):
    """State strings as a user or a mistake may write them."""
    rng = random.Random(39)
    kernels = ["cpu_flash", "cpu_flash1", "cpu_multicore", "cpu_sequential", "flash_mma", "museum_alpha_on_l_only",
               "none"]
    whole = lambda *of: lambda: str(rng.choice(of))
    values = {
        "preset": whole("blackboard", "late_outlier", "causal", "masked_row", "ragged", "none", "nothing"),
        "B": whole(1, 2, 0), "H": whole(1, "4/2", "3/2", -1), "L": whole(1, 4, 16, 33, "9/8", 100000),
        "D": whole(1, 2, 8, 64, "4/6", "x"), "dtype": whole("f32", "f16", "bf16", "f64"), "causal": whole(0, 1, 2),
        "window": whole("4/2", "-1/0", "a/b"), "br": whole(0, 1, 4, 7, 4096), "bc": whole(1, 2, 5, 16),
        "generator": whole("normal", "uniform", "blackboard", "none"), "seed": lambda: str(rng.randrange(2**65)),
        "edits": whole("q:0:1.5", "k:3:-2/v:1:nan", "q:999999:1", "none"), "kernel": lambda: rng.choice(kernels),
        "cursor": lambda: str(rng.choice([0, 1, 12, 10**9, -1])),
        "workspace": whole("step", "bench", "learn", "profile", "x"),
        "select": whole("0/0/3/s/1", "0/0/0/q/-1", "9/9/9/s/1"),
        "chart": whole("row", "error", "passes", "fragments"),
        "softcap": whole(30, 0, "none"), "alibi": whole("usual", "none", "0.5"), "pass": whole("forward", "backward"),
        "lesson": whole("one-pass", "by-hand", "nowhere"), "beat": whole("past", "largest"), "teach": whole(0, 1),
        "accumulate": whole("f32", "f16", "bf16"), "key_order": whole("left_to_right", "right_to_left"),
    }
    for _ in range(count):
        keys = rng.sample(sorted(values), rng.randrange(1, 7))
        text = ",".join([rng.choice(["attn1"] * 30 + ["attn2", ""])] + [f"{k}={values[k]()}" for k in keys])
        if rng.random() < 0.1:
            at = rng.randrange(len(text))
            text = text[:at] + chr(rng.randrange(33, 126)) + text[at + 1:]
        yield text


# Runs in the page: `count` files of `lots`, each damaged in up to eight places, opened one after the other.
FUZZ = """async ([lots, from, count]) => {
  const {FS} = attnscope.module; let seed = 1 + from, done = 0;
  const below = n => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2**32 * n); };
  FS.mkdirTree('/fuzz');
  for (let n = 0; n < count; ++n) {
    const [name, text] = lots[below(lots.length)];
    let bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    for (let m = 1 + below(8); m > 0 && bytes.length; --m) {
      const at = below(bytes.length), kind = below(4);
      if (kind === 0) bytes[at] ^= 1 << below(8);
      else if (kind === 1) bytes[at] = below(256);
      else if (kind === 2) bytes = bytes.slice(0, at);
      else bytes.copyWithin(at, below(bytes.length), bytes.length);
    }
    const path = '/fuzz/' + name;
    FS.writeFile(path, bytes);
    attnscope.call('page_open', ['string'], [path]);
    attnscope.call('page_settle', [], []);
    FS.unlink(path);
    if (++done % 200 === 0) attnscope.numbers('page_frame', performance.now() / 1000);
  }
  return done;
}"""
