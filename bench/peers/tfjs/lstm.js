// TensorFlow.js in Node with its WebAssembly backend as a peer: the LSTM 2x50, a window at a time
// (the protocol is in ../programs.py). It takes --threads and ignores it: in Node this backend has
// one thread.
//
//   node lstm.js --batch B --seconds S
import {createInterface} from 'node:readline';
import {createRequire} from 'node:module';
import {dirname} from 'node:path';
import {parseArgs} from 'node:util';

// The packages lie where `run` installed them; CommonJS finds them there through NODE_PATH.
const require = createRequire(import.meta.url);
const warn = console.warn;
console.warn = () => {};  // "Hi, looks like you are running TensorFlow.js in Node.js ..."
const tf = require('@tensorflow/tfjs');
const wasm = require('@tensorflow/tfjs-backend-wasm');
console.warn = warn;

const WINDOWS = 20000, STEPS = 40, SYMBOLS = 100;

const {values: options} = parseArgs({
  options: {
    workload: {type: 'string', default: 'lstm'},
    batch: {type: 'string', default: '128'},
    threads: {type: 'string', default: '1'},
    seconds: {type: 'string', default: '1'},
    data: {type: 'string'},
  },
});
const batch = Number(options.batch);

// The same words as made.py.
function word(seed, i) {
  let x = (Math.imul(i, 0x9e3779b9) + seed) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

const text = Uint8Array.from({length: WINDOWS + STEPS}, (_, i) => word(5, i) % SYMBOLS);

function nextBatch(turn) {
  const inputs = new Float32Array(batch * STEPS * SYMBOLS);
  const following = new Float32Array(batch * SYMBOLS);
  for (let b = 0; b < batch; ++b) {
    const at = word(6, turn * batch + b) % WINDOWS;
    for (let t = 0; t < STEPS; ++t) inputs[(b * STEPS + t) * SYMBOLS + text[at + t]] = 1;
    following[b * SYMBOLS + text[at + STEPS]] = 1;
  }
  return [tf.tensor3d(inputs, [batch, STEPS, SYMBOLS]), tf.tensor2d(following, [batch, SYMBOLS])];
}

async function main() {
  wasm.setWasmPaths(dirname(require.resolve('@tensorflow/tfjs-backend-wasm')) + '/');
  await tf.setBackend('wasm');
  // The default, an orthogonal matrix, only makes it start slowly.
  const cell = {
    units: 50,
    recurrentActivation: 'sigmoid',
    recurrentInitializer: 'glorotUniform',
  };
  const model = tf.sequential({
    layers: [
      tf.layers.lstm({...cell, returnSequences: true, inputShape: [STEPS, SYMBOLS]}),
      tf.layers.lstm(cell),
      tf.layers.dense({units: SYMBOLS, activation: 'softmax'}),
    ],
  });
  model.compile({
    optimizer: tf.train.rmsprop(0.01, 0.9, 0, 1e-7),
    loss: 'categoricalCrossentropy',
  });
  console.log(JSON.stringify({version: tf.version.tfjs}));

  let turn = 0;
  for await (const _ of createInterface({input: process.stdin})) {
    const began = performance.now(), cpu = process.cpuUsage();
    let samples = 0, loss = 0;
    do {
      const [inputs, following] = nextBatch(turn++);
      loss += batch * (await model.trainOnBatch(inputs, following));
      samples += batch;
      tf.dispose([inputs, following]);
    } while (performance.now() - began < 1000 * Number(options.seconds));
    const used = process.cpuUsage(cpu);
    console.log(JSON.stringify({
      samples,
      seconds: (performance.now() - began) / 1000,
      cpu_seconds: (used.user + used.system) / 1e6,
      loss: loss / samples,
    }));
  }
}

await main();
