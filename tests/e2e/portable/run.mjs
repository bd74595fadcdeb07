// node run.mjs PROGRAM.wasm: runs a program that writes to its standard output and returns a code.
// The few calls into the system that the C library makes are answered here, as a browser would.
import {readFileSync} from 'node:fs';

let memory;
let line = '';
const kOk = 0, kBadDescriptor = 8, kNotSupported = 52;

class Exit extends Error {
  constructor(code) {
    super();
    this.code = code;
  }
}

const calls = {
  args_sizes_get: (count, size) => {
    new DataView(memory.buffer).setUint32(count, 0, true);
    new DataView(memory.buffer).setUint32(size, 0, true);
    return kOk;
  },
  args_get: () => kOk,
  fd_fdstat_get: () => kBadDescriptor,
  fd_close: () => kOk,
  fd_write: (descriptor, parts, count, written) => {
    const view = new DataView(memory.buffer);
    let total = 0;
    for (let i = 0; i < count; ++i) {
      const at = view.getUint32(parts + 8 * i, true);
      const size = view.getUint32(parts + 8 * i + 4, true);
      line += new TextDecoder().decode(new Uint8Array(memory.buffer, at, size));
      total += size;
    }
    view.setUint32(written, total, true);
    return kOk;
  },
  proc_exit: (code) => {
    throw new Exit(code);
  },
};
const wasi = new Proxy(calls, {get: (known, name) => known[name] ?? (() => kNotSupported)});

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const instance = new WebAssembly.Instance(module, {wasi_snapshot_preview1: wasi});
memory = instance.exports.memory;
let code = 0;
try {
  instance.exports._start();
} catch (thrown) {
  if (!(thrown instanceof Exit)) throw thrown;
  code = thrown.code;
}
process.stdout.write(line);
process.exitCode = code;
