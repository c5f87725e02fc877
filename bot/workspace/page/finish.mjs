// Completes a build: a fingerprint of the sources, so that a test notices a page older than them,
// and the licences of what was bundled.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const STATIC = "../static";
const SINGLE = ["finish.mjs", "index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];
const sources = [...SINGLE, ...readdirSync("src").map((name) => `src/${name}`)].sort();

const whole = createHash("sha256");
for (const path of sources) {
  const one = createHash("sha256").update(readFileSync(path)).digest("hex");
  whole.update(`${path} ${one}\n`);
}
writeFileSync(join(STATIC, "fingerprint.txt"), `${whole.digest("hex")}\n`);

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const notices = [];
for (const [path, about] of Object.entries(lock.packages)) {
  if (!path || about.dev || about.optional || !existsSync(path)) continue;
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name) && statSync(join(path, name)).isFile());
  const text = file ? readFileSync(join(path, file), "utf8").trim() : `License: ${about.license}`;
  notices.push(`${path.replace(/^.*node_modules\//, "")} ${about.version}\n\n${text}\n`);
}
writeFileSync(join(STATIC, "licenses.txt"), notices.join(`\n${"-".repeat(80)}\n\n`));
