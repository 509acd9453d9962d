// real.mjs - visits the page of a real server that learns from the demo stream, and reports what it shows.
//
//   node real.mjs URL WORD BORN...    prints {"neighbors", "onMap", "fresh", "found", "wrong"} as JSON:
//       neighbors   of WORD, as the page lists them
//       onMap       how many words the map has
//       fresh       those of the words BORN that the page lists as new
//       found       whether a typed word is found afterward
//       wrong       console errors and requests to other origins

import { openBrowser } from "./browser.mjs";

const [, , url, word, ...born] = process.argv;
const { browser, page, wrong } = await openBrowser(url);

await page.goto(`${url}/#/live`);
await page.getByText("Learning").waitFor();

await page.goto(`${url}/#/word/${encodeURIComponent(word)}`);
await page.getByRole("heading", { name: word }).waitFor();
await page.getByText("Now", { exact: true }).waitFor();
const neighbors = await page.evaluate(async (asked) => {
  const answer = await fetch(`/v1/words/${encodeURIComponent(asked)}/neighbors?topn=10`);
  const names = (await answer.json()).neighbors.map((hit) => hit.word);
  const shown = document.body.innerText;
  return names.filter((name) => shown.includes(name));
}, word);

await page.goto(`${url}/#/map`);
const label = page.getByText(/^[\d,]+ words$/).last();
await label.waitFor();
const onMap = Number((await label.innerText()).replace(/\D/g, ""));

await page.goto(`${url}/#/trends`);
await page.getByText("New words").waitFor();
const fresh = [];
for (const name of born) {
  await page.getByText(name, { exact: true }).first().waitFor({ timeout: 30_000 }).then(
    () => fresh.push(name), () => {});
}

await page.goto(`${url}/#/send`);
const text = page.getByRole("textbox", { name: "Text to learn" });
await text.fill("qwertyword was typed here\nand qwertyword again");
await text.press("Control+Enter");
await page.getByText(/2 lines accepted/).waitFor();
const held = () => page.evaluate(async () =>
  (await (await fetch("/v1/words?prefix=qwertyword")).json()).words.length > 0);
while (!(await held())) await page.waitForTimeout(100);
await page.goto(`${url}/#/word/qwertyword`);
const found = await page.getByText(/seen/).first().waitFor().then(() => true, () => false);

console.log(JSON.stringify({ neighbors, onMap, fresh, found, wrong }));
await browser.close();
