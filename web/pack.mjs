// pack.mjs - packs what Vite has built into the single file that the server sends.
//
//   node pack.mjs [FOLDER [BUILT]]       default: dist out
//
// FOLDER/index.html.gz   the page with its script and its style sheet inside
// FOLDER/csp.txt         the directives of the content security policy that allow these two, by
//                        their hashes, and nothing else inline
//
// The licenses of dependencies are in a comment at the end of the page.
//
// The page is compressed with gzip, not node's zlib, because its output is the same everywhere.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const MAX_BYTES = 150_000;
const [, , folder = "dist", made = "out"] = process.argv;
const built = (name) => readFileSync(`${made}/${name}`, "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function replaced(html, pattern, text) {
  if (html.match(pattern)?.length !== 1) throw new Error(`${pattern} does not match exactly once`);
  return html.replace(pattern, () => text);
}

const script = built("page.js").trim().replaceAll("</script", "<\\/script");
const style = built("page.css").trim();
if (script.includes("<!--") || style.includes("</style")) throw new Error("cannot be inlined");

let html = built("index.html");
html = replaced(html, /<script type="module"[^>]*><\/script>/g,
  `<script type="module">${script}</script>`);
html = replaced(html, /<link rel="stylesheet"[^>]*>/g, `<style>${style}</style>`);

const licenses = ["preact", "@preact/signals", "@preact/signals-core", "uplot"].map((name) =>
  `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`);
html = replaced(html, /<\/html>/g,
  `</html>\n<!--\nThis page contains:\n\n${licenses.join("\n").replaceAll("--", "- -")}-->`);

const packed = execFileSync("gzip", ["-9n"], { input: html });
if (packed.length > MAX_BYTES) throw new Error(`${packed.length} bytes are too large`);
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/index.html.gz`, packed);
writeFileSync(`${folder}/csp.txt`, `script-src ${hash(script)}; style-src ${hash(style)}\n`);
console.log(`${folder}/index.html.gz: ${html.length} bytes, ${packed.length} packed`);
