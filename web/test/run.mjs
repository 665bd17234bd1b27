// Runs the unit tests of the page's logic: each test/*.test.ts is bundled and given to Node's test runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rules } from "../build.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
const out = mkdtempSync(join(tmpdir(), "loopfold-web-"));
try {
  await build({
    entryPoints: tests.map((name) => join(here, name)),
    absWorkingDir: dirname(here),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    outdir: out,
    outExtension: { ".js": ".mjs" },
    plugins: [rules],
    logLevel: "warning",
  });
  const types = spawnSync(
    process.execPath,
    [join(here, "..", "node_modules", "typescript", "bin", "tsc"), "--noEmit"],
    { cwd: dirname(here), stdio: "inherit" },
  );
  const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  const result = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
  process.exitCode = types.status === 0 && result.status === 0 ? 0 : 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
