// ONNX Runtime gives our answers for every model. tests/e2e/store/package.json names its version;
// scripts/test installs it below the build folder.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const kLimit = 1e-5;
const place = join(process.env.COVEY_SOURCE, "build", "onnxruntime");
if (!existsSync(join(place, "node_modules", "onnxruntime-web"))) {
  console.log("skipped: onnxruntime-web is not installed; scripts/test installs it");
  process.exit(0);
}
const require = createRequire(join(place, "package.json"));
const ort = require("onnxruntime-web");
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;

function worst(got, wanted) {
  if (got.length !== wanted.length) return Infinity;
  let greatest = 0;
  wanted.forEach((value, i) => {
    const difference = Math.abs(value - got[i]);
    if (!(difference <= greatest)) greatest = difference;
  });
  return greatest;
}

const folder = mkdtempSync(join(tmpdir(), "covey-zoo-"));
let failures = 0;
let models = 0;
try {
  execFileSync(join(process.env.COVEY_BIN, "model_zoo"), [folder]);
  for (const name of JSON.parse(readFileSync(join(folder, "zoo.json")))) {
    const facts = JSON.parse(readFileSync(join(folder, `${name}.json`)));
    const session = await ort.InferenceSession.create(readFileSync(join(folder, `${name}.onnx`)));
    const input = new ort.Tensor("float32", Float32Array.from(facts.input), facts.shape);
    const outputs = await session.run({ input });
    const answers = facts.classification ? outputs.probabilities : outputs.output;
    const plain = facts.classification ? outputs.logits : outputs.output;
    const difference = Math.max(
      worst(answers.data, facts.answers), worst(plain.data, facts.plain));
    console.log(`${name.padEnd(24)} ${difference.toExponential(1)}`);
    models += 1;
    if (!(difference <= kLimit)) failures += 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${models} models, ${failures} differ by more than ${kLimit}`);
process.exit(failures > 0 || models < 30 ? 1 : 0);
