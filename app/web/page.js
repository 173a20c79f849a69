// The page around the canvas: what the user does goes in, what only a browser can do comes out. app/web/exports.cpp has
// the other side. Nothing is asked of any server but the page's own files.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), typed = $("typed");
  const link = new URLSearchParams(location.search);
  const still = link.has("still"); // for pictures in tests: no motion, no toasts
  let module = null, pasted = "", files = 0, kept = "", ratio = 1, ready = false;

  const call = (name, types, values, returns = null) => module.ccall(name, returns, types, values);
  const numbers = (name, ...values) => call(name, values.map(() => "number"), values);
  const store = (() => {
    try { return window.localStorage; } catch { return null; } // a sandboxed frame has none
  })();

  // ---- what the program asks for

  const page = {
    download(path) {
      const name = path.split("/").pop();
      const bytes = module.FS.readFile(path);
      module.FS.unlink(path);
      const a = document.createElement("a");
      a.href = URL.createObjectURL(new Blob([bytes]));
      a.download = name;
      document.body.append(a);
      a.click();
      a.remove();
      setTimeout(() => URL.revokeObjectURL(a.href), 60000);
    },
    copy(text) {
      pasted = text;
      if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {});
    },
    says(title, sentence, values) {
      $("title").textContent = title;
      $("sentence").textContent = sentence;
      $("values").textContent = values;
    },
    stateIs(state) {
      const at = "#" + state;
      if (location.hash === at) return;
      try { history.replaceState(null, "", at); } catch { /* a sandboxed frame has no address of its own */ }
    },
    wantsText(on) {
      if (on && touched) typed.focus({ preventScroll: true });
      if (!on && document.activeElement === typed) canvas.focus({ preventScroll: true });
    },
    cursor(name) {
      if (canvas.style.cursor !== name) canvas.style.cursor = name;
    },
    choose(filter) {
      const input = document.createElement("input");
      input.type = "file";
      input.multiple = filter === "";
      if (filter) input.accept = filter.replace("*", "");
      input.onchange = async () => {
        const paths = await taken([...input.files]);
        if (paths.length === 1) call("page_chosen", ["string"], [paths[0]]);
        else if (paths.length > 1) call("page_open", ["string"], [paths.join("\n")]);
      };
      input.click();
    },
    refuses(words) {
      $("refused").textContent = words;
      $("words").hidden = false;
    },
  };
  $("close").onclick = () => { $("words").hidden = true; canvas.focus(); };

  // ---- files: dropped, chosen, pasted

  // Each lot has a folder of its own: q.npy finds its k.npy there.
  async function taken(list) {
    const folder = `/files/${++files}`;
    module.FS.mkdirTree(folder);
    const paths = [];
    for (const file of list) {
      if (file.size > 256e6) {
        page.refuses(`${file.name} has ${Math.round(file.size / 1e6)} MB; use a file of up to 256 MB.`);
        continue;
      }
      const path = `${folder}/${file.name.replace(/[^\w.+-]/g, "_")}`;
      module.FS.writeFile(path, new Uint8Array(await file.arrayBuffer()));
      paths.push(path);
    }
    return paths;
  }
  // Of a lot of arrays q.npy stands for all.
  async function open(list) {
    let paths = await taken(list);
    const arrays = paths.filter((p) => p.endsWith(".npy"));
    if (arrays.length > 1) {
      const q = arrays.find((p) => /\/q[^/]*$/.test(p));
      if (q) paths = [q];
    }
    if (paths.length) call("page_open", ["string"], [paths.join("\n")]);
  }
  function openText(text) {
    const words = text.trim();
    if (/^attn\d+,/.test(words)) return openState(words);
    if (/^[-+\d.,;\s\teEinfa]+$/.test(words)) return open([new File([text], "pasted.csv")]);
    page.refuses("Unknown text; paste a state string (attn1,…) or the numbers of Q, K and V, separated by empty lines.");
  }
  function openState(text) {
    const why = call("page_open_state", ["string"], [text], "string");
    if (why) page.refuses(why); else $("words").hidden = true;
    return why;
  }
  addEventListener("dragover", (e) => e.preventDefault());
  addEventListener("drop", (e) => {
    e.preventDefault();
    if (ready && e.dataTransfer.files.length) open([...e.dataTransfer.files]);
  });
  addEventListener("paste", (e) => {
    if (!ready) return;
    e.preventDefault();
    if (e.clipboardData.files.length) return open([...e.clipboardData.files]);
    pasted = e.clipboardData.getData("text/plain");
    if (pasted) wantsText() ? call("page_text", ["string"], [pasted]) : openText(pasted);
  });
  const wantsText = () => document.activeElement === typed || call("page_wants", [], [], "number") === 1;
  addEventListener("hashchange", () => { if (ready) openState(stateOf(location.hash)); });
  // Some programs write a link's characters as %XX; the state's own "=" says that this one came as it was.
  const stateOf = (hash) => {
    const text = hash.slice(1);
    if (text.includes("=")) return text;
    try { return decodeURIComponent(text); } catch { return text; }
  };

  // ---- keyboard

  const modifiers = (e) => (e.ctrlKey ? 1 : 0) | (e.shiftKey ? 2 : 0) | (e.altKey ? 4 : 0) | (e.metaKey ? 8 : 0);
  // The browser's own: reload, zoom, a new tab.
  const leftAlone = (e) => e.code === "F5" || e.isComposing ||
    ((e.ctrlKey || e.metaKey) && /^(KeyR|KeyT|KeyW|KeyN|KeyV|Equal|Minus|Digit0)$/.test(e.code));
  function key(e, down) {
    if (!ready || leftAlone(e) || (e.target.closest && e.target.closest("footer, .sheet, #words"))) return;
    const known = call("page_key", ["string", "number", "number"], [e.code, down, modifiers(e)], "number");
    const writes = down && e.key.length === 1 && !e.ctrlKey && !e.metaKey;
    if (writes && e.target !== typed) call("page_text", ["string"], [e.key]);
    if (known && e.target !== typed) e.preventDefault();
  }
  addEventListener("keydown", (e) => key(e, e.repeat ? 2 : 1));
  addEventListener("keyup", (e) => key(e, 0));
  // A phone's keyboard says what was written, not which key.
  typed.addEventListener("input", () => {
    if (typed.value) call("page_text", ["string"], [typed.value]);
    typed.value = "";
  });
  addEventListener("blur", () => { if (ready) numbers("page_focus", 0); });
  addEventListener("focus", () => { if (ready) numbers("page_focus", 1); });
  function press(code) {
    for (const down of [1, 0]) call("page_key", ["string", "number", "number"], [code, down, 0]);
  }

  // ---- hands: words name keys only where there are some.

  let byTouch = false;
  function handsAre(touch) {
    if (!ready || byTouch === touch) return;
    byTouch = touch;
    numbers("page_hands", touch ? 1 : 0);
  }
  // A mouse comes with a keyboard; a phone's own writes into `typed`.
  addEventListener("pointerdown", (e) => handsAre(isTouch(e)), true);
  addEventListener("keydown", (e) => { if (e.target !== typed && e.code) handsAre(false); }, true);

  // ---- mouse

  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    return [(e.clientX - box.left) * ratio, (e.clientY - box.top) * ratio];
  };
  const isTouch = (e) => e.pointerType === "touch";
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    if (!ready) return;
    e.preventDefault();
    const lines = e.deltaMode === 0 ? 100 : 3;
    numbers("page_wheel", -e.deltaX / lines, -e.deltaY / lines);
  }, { passive: false });
  canvas.addEventListener("pointermove", (e) => { if (ready && !isTouch(e)) numbers("page_pointer", ...at(e), 0); });
  for (const [kind, down] of [["pointerdown", 1], ["pointerup", 0]]) {
    canvas.addEventListener(kind, (e) => {
      if (!ready || isTouch(e)) return;
      if (down) { canvas.setPointerCapture(e.pointerId); canvas.focus({ preventScroll: true }); }
      numbers("page_pointer", ...at(e), 0);
      numbers("page_button", e.button, down);
    });
  }

  // ---- touch: a tap presses, a swipe to the side steps, one up or down scrolls, two fingers scale; what is made to be
  // dragged, such as the timeline, is dragged.

  const fingers = new Map();
  let touched = false, way = "", began = null, spread = 0;
  const kFar = 10, kSwipe = 48; // of a page's pixels
  const kLine = 65; // of a wheel's step in what is scrolled, at 100 %: it moves with the finger
  const distance = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  canvas.addEventListener("pointerdown", (e) => {
    if (!ready || !isTouch(e)) return;
    touched = true;
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({ preventScroll: true });
    fingers.set(e.pointerId, e);
    if (fingers.size === 2) {
      if (way === "drag") numbers("page_touch", ...at(e), 0);
      way = "pinch";
      spread = distance();
      return;
    }
    began = { x: e.clientX, y: e.clientY, lastY: e.clientY };
    numbers("page_pointer", ...at(e), 1);
    way = call("page_touch_drags", ["number", "number"], at(e), "number") ? "drag" : "tap";
    if (way === "drag") numbers("page_touch", ...at(e), 1);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!ready || !isTouch(e) || !fingers.has(e.pointerId)) return;
    fingers.set(e.pointerId, e);
    if (way === "pinch" && fingers.size === 2) {
      const now = distance();
      if (Math.abs(now / spread - 1) > 0.04) {
        numbers("page_scale", now / spread);
        spread = now;
      }
      return;
    }
    if (way === "drag") return numbers("page_touch", ...at(e), 2);
    const x = e.clientX - began.x, y = e.clientY - began.y;
    if (way === "tap" && Math.hypot(x, y) > kFar) way = Math.abs(x) > Math.abs(y) ? "swipe" : "scroll";
    if (way === "scroll") {
      numbers("page_wheel", 0, (e.clientY - began.lastY) / kLine);
      began.lastY = e.clientY;
    }
  });
  const lifted = (e) => {
    if (!ready || !isTouch(e) || !fingers.delete(e.pointerId)) return;
    if (way === "drag") numbers("page_touch", ...at(e), 0);
    if (way === "tap" && e.type === "pointerup")
      for (const what of [1, 0]) numbers("page_touch", ...at(e), what);
    const x = e.clientX - (began ? began.x : 0);
    if (way === "swipe" && e.type === "pointerup" && Math.abs(x) > kSwipe) press(x < 0 ? "ArrowRight" : "ArrowLeft");
    if (fingers.size > 0) return;
    if (way !== "tap" && way !== "drag") numbers("page_left"); // a tap leaves once it has pressed
    way = "";
  };
  canvas.addEventListener("pointerup", lifted);
  canvas.addEventListener("pointercancel", lifted);

  // ---- the line under the picture

  function show(name, on) {
    const sheet = $(name), shown = name === "text" ? sheet.classList.contains("open") : !sheet.hidden;
    const now = on === undefined ? !shown : on;
    if (name === "text") sheet.classList.toggle("open", now);
    else sheet.hidden = !now;
    $(name === "text" ? "do-text" : "do-more").setAttribute("aria-expanded", String(now));
    return shown;
  }
  $("do-open").onclick = () => chooseAny();
  $("do-text").onclick = () => { show("more", false); show("text"); };
  $("do-more").onclick = () => { show("text", false); show("more"); };
  $("do-link").onclick = () => {
    page.copy(location.href);
    $("do-link").textContent = "Copied";
    setTimeout(() => { $("do-link").textContent = "Copy link"; }, 1500);
  };
  function chooseAny() {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.onchange = () => open([...input.files]);
    input.click();
  }
  addEventListener("keydown", (e) => {
    if (e.code === "Escape" && (show("text", false) | show("more", false))) canvas.focus({ preventScroll: true });
  });

  // ---- size, frames

  function size() {
    ratio = Math.min(4, window.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    return [width, height, ratio];
  }
  addEventListener("resize", () => { if (ready) numbers("page_size", ...size()); });
  const kKept = "/kept/lessons.json";
  function keep() {
    if (!store || !module.FS.analyzePath(kKept).exists) return;
    const now = module.FS.readFile(kKept, { encoding: "utf8" });
    if (now === kept) return;
    kept = now;
    try { store.setItem("attnscope.lessons", now); } catch { /* it is full: what was learned lasts until the page goes */ }
  }
  // A task's slices run between frames, each as a message of its own: the browser draws and hears the user in between.
  const slices = new MessageChannel();
  let working = false;
  const more = () => slices.port2.postMessage(0);
  slices.port1.onmessage = () => {
    working = call("page_work", [], [], "number") === 1;
    if (working) more();
  };
  function frame(now) {
    numbers("page_frame", now / 1000);
    if (!working && call("page_busy", [], [], "number") === 1) {
      working = true;
      more();
    }
    requestAnimationFrame(frame);
  }
  canvas.addEventListener("webglcontextlost", () => location.reload());

  // The line under the picture is written as the picture is.
  async function programFont() {
    try {
      for (const [file, weight] of [["Roboto-Regular.ttf", "400"], ["Roboto-Bold.ttf", "700"]]) {
        const font = new FontFace("Roboto", module.FS.readFile(`/share/fonts/${file}`), { weight });
        document.fonts.add(await font.load());
      }
    } catch (e) { console.warn(`The page keeps the system font: ${e}`); }
  }

  async function start() {
    if (window.AttnScopeFiles) await window.AttnScopeFiles.wait();
    module = await AttnScopePage({
      page,
      canvas,
      ...(window.AttnScopeFiles || {}),
      setStatus(text) {
        const [, done, all] = /\((\d+)\/(\d+)\)/.exec(text || "") || [];
        if (all) $("loaded").value = done / all;
      },
      print: (words) => console.log(words),
      printErr: (words) => console.warn(words),
    });
    module.FS.mkdirTree("/kept");
    const learned = store && store.getItem("attnscope.lessons");
    if (learned) module.FS.writeFile(kKept, learned);
    const theme = link.get("theme") || "";
    document.body.classList.toggle("light", theme === "light");
    document.body.classList.toggle("figure", still || link.has("panel"));
    const texts = [stateOf(location.hash), link.get("order") || "", link.get("step") || "", theme, link.get("panel") || ""];
    ready = call("page_start", ["string", "string", "string", "string", "string", "number", "number", "number"],
      [...texts, ...size()], "number") === 1;
    $("wait").hidden = true;
    if (!ready) return;
    handsAre(matchMedia("(pointer: coarse)").matches && !matchMedia("(any-pointer: fine)").matches);
    programFont();
    if (still) numbers("page_still");
    canvas.focus({ preventScroll: true });
    setInterval(keep, 2000);
    addEventListener("pagehide", keep);
    window.attnscope = { call, numbers, press, open, openText, openState, module }; // for tests
    requestAnimationFrame((now) => {
      frame(now);
      document.documentElement.dataset.ready = String(Math.round(performance.now()));
    });
  }
  start().catch((e) => {
    $("wait").hidden = true;
    page.refuses(`The page cannot start: ${e && e.message ? e.message : e}`);
  });
})();
