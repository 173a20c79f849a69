// Of the page that is one file: the module and its data, which a page under file:// may not fetch.
"use strict";

window.AttnScopeFiles = (() => {
  const unpacked = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const wasm = unpacked("@wasm@"), data = unpacked("@data@");
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
