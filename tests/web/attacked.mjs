// attacked.mjs - visits every view of a real server that holds hostile words, and reports the effects.
//
//   node attacked.mjs URL    prints {"onMap", "visited", "strange", "wrong"} as JSON:
//       onMap       how many words the map has
//       visited     how many words had their page opened
//       strange     injected elements of the document: scripts, pictures, links
//       wrong       console errors, requests to other origins, dialogs

import { openBrowser } from "./browser.mjs";
import { go, mapFilled } from "./stage.mjs";

const EVERY = 100; // one word in this many has its page opened

const [, , url] = process.argv;
const { browser, page, wrong } = await openBrowser(url);
await page.goto(`${url}/#/live`);
await page.getByText("Words per second").waitFor();

const words = await page.evaluate(async () => {
  const all = [];
  for (let more = true; more;) {
    const answer = await (await fetch(`/v1/words?limit=1000&offset=${all.length}`)).json();
    all.push(...answer.words.map(({ word }) => word));
    more = answer.words.length > 0;
  }
  return all;
});

const heading = page.locator(".word-title h2 bdi");
const visited = words.filter((_, i) => i % EVERY === 0);
for (const word of visited) {
  await go(page, `#/word/${encodeURIComponent(word)}`);
  await page.locator(".near li, .word-title + *").first().waitFor();
  await heading.waitFor();
}

for (const view of ["trends", "drift", "send", "map"]) {
  await go(page, `#/${view}`);
  await page.locator("main h2, main canvas").first().waitFor();
}
await mapFilled(page);
const onMap = Number((await page.locator(".map-line").first().innerText()).replace(/\D/g, ""));
await page.locator(".map canvas").focus();
for (let i = 0; i < 40; i++) await page.keyboard.press("]");

const strange = await page.evaluate(() => ({
  scripts: document.scripts.length - 1,
  pictures: document.querySelectorAll("img, iframe, object, embed, [onerror], [onload], [onclick]").length,
  links: [...document.links].filter((link) => link.origin !== location.origin).length,
}));
// Rare words have no history, and the server answers 404.
const real = wrong.filter((what) => !/status of 404 .*\/history$/.test(what));
console.log(JSON.stringify({ onMap, visited: visited.length, strange, wrong: real }));
await browser.close();
