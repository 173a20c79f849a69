// Of the page that is one file: the module and its data, which a page under file:// may not fetch.
"use strict";

window.AttnScopeFiles = (() => {
  // 13 bits as two characters (pack.py writes them).
  const bytesOf = (text, size) => {
    const bytes = new Uint8Array(size);
    const digit = (c) => c - 33 - (c > 34) - (c > 60) - (c > 92);
    let held = 0, bits = 0, at = 0;
    for (let n = 0; n < text.length; n += 2) {
      held |= (digit(text.charCodeAt(n)) * 91 + digit(text.charCodeAt(n + 1))) << bits;
      for (bits += 13; bits >= 8 && at < size; bits -= 8) {
        bytes[at++] = held & 255;
        held >>>= 8;
      }
    }
    return bytes;
  };
  const unpacked = async (text, size) => {
    const bytes = bytesOf(text, size);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const wasm = unpacked("@wasm@", @wasm_bytes@), data = unpacked("@data@", @data_bytes@);
  let waiting = null;
  data.then((bytes) => { waiting = bytes; });
  return {
    wait: () => Promise.all([wasm, data]),
    instantiateWasm(imports, done) {
      wasm.then((bytes) => WebAssembly.instantiate(bytes, imports)).then((made) => done(made.instance, made.module));
      return {};
    },
    getPreloadedPackage: () => waiting,
  };
})();
