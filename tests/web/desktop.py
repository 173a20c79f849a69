"""What the desktop program says of a run, set beside what the page says."""


def same_values(page, desktop):
    """Every number, sentence and formula of every step, and the answer. What the machine is called may differ."""
    wrong = []
    for key in ("steps", "lse", "out", "dq", "dk", "dv", "compulsory_bytes", "on_chip_bytes", "order", "kernel",
                "problem", "step_count"):
        if page.get(key) == desktop.get(key):
            continue
        if key != "steps":
            wrong.append(f"{key}: {page.get(key)} instead of {desktop.get(key)}")
            continue
        for here, there in zip(page[key], desktop[key]):
            for name in there:
                if here.get(name) != there[name]:
                    wrong.append(f"{there['position']}, {name}: {here.get(name)} instead of {there[name]}")
    return wrong


def written(step):
    """What the desktop prints of a step: title, sentence, values."""
    lines = [line.strip() for line in step.strip("\n").split("\n")]
    return [f"{lines[0]}. {lines[1]}", lines[2], "\n".join(line for line in lines[3:] if line)]
