// vite.config.js - how the page is built: one script and one style sheet, which pack.mjs then
// packs into one file. `npm run dev` gets its data from the server at WORDTIDE_URL, or the mock.

import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: "out",
    target: "es2022",
    cssTarget: "chrome123",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: "page.js", assetFileNames: "page[extname]" },
    },
  },
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  server: { proxy: { "/v1": process.env.WORDTIDE_URL ?? "http://127.0.0.1:8080" } },
  test: {
    include: ["test/*.test.ts"],
    testTimeout: 30_000,
    pool: "threads",
    isolate: false,
    fileParallelism: false,
  },
});
