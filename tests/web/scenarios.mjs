// scenarios.mjs - what a user does with the page.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { go, mapFilled, overflow, scenario } from "./stage.mjs";

const VIEWS = ["live", "word", "map", "trends", "drift", "send"];

/** Frequent words of the server, long enough to be completed. */
async function frequentWords(url) {
  const response = await fetch(`${url}v1/words?limit=200`);
  const { words } = await response.json();
  return words.map(({ word }) => word).filter((word) => /^[a-z]{4,}$/.test(word));
}

/** Polls until the condition holds, for state outside of the document. */
async function until(holds) {
  for (let i = 0; i < 600; i++) {
    if (await holds()) return;
    await setTimeout(50);
  }
  assert.fail(`not after half a minute: ${holds}`);
}

const fieldOf = (page, name) => page.getByRole("combobox", { name });
const heading = (page) => page.locator(".word-title h2");

scenario("the page opens, shows data and updates", {}, async ({ open }) => {
  const page = await open();
  await page.getByText("Learning", { exact: true }).waitFor();
  await page.locator(".tide canvas").waitFor();
  const figure = page.locator(".word-count .number");
  const first = await figure.textContent();
  assert.match(first, /^[\d,]+$/);
  await until(async () => (await figure.textContent()) !== first);
  await page.getByText("Memory", { exact: true }).waitFor();
  await page.locator(".legend dt").nth(2).waitFor();
});

scenario("a word is found by its prefix", {}, async ({ open, url }) => {
  const [word] = await frequentWords(url);
  const page = await open("#/word");
  await fieldOf(page, "Look up a word").pressSequentially(word.slice(0, 3));
  const option = page.getByRole("option").filter({ hasText: new RegExp(`^${word}`) });
  await option.first().click();
  await heading(page).getByText(word, { exact: true }).waitFor();
  assert.equal(new URL(page.url()).hash, `#/word/${word}`);
  await page.locator(".near li").nth(4).waitFor();
  const scores = await page.locator(".near").last().locator(".number").allTextContents();
  assert.deepEqual(scores, [...scores].sort((a, b) => Number(b) - Number(a)));
});

scenario("neighbors then and now are shown side by side", { mockOnly: true }, async ({ open }) => {
  const page = await open("#/word/cloud");
  await page.getByRole("radio", { name: "16 min" }).check();
  await page.getByText("16 min ago", { exact: true }).waitFor();
  await page.locator(".near .removed").first().waitFor();
  await page.locator(".near .added").first().waitFor();
  await page.getByText("Distance from today").waitFor();
  await page.locator(".history canvas").nth(1).waitFor();
});

scenario("an unknown word is reported", { allowed: /404/ }, async ({ open }) => {
  const page = await open("#/word/qqqqxzzz");
  await page.getByText("is not in the vocabulary").waitFor();
});

scenario("a word is found however it is written", {}, async ({ open, url }) => {
  const [word] = await frequentWords(url);
  const page = await open("#/word");
  await fieldOf(page, "Look up a word").fill(word.toUpperCase());
  await fieldOf(page, "Look up a word").press("Enter");
  await heading(page).getByText(word, { exact: true }).waitFor();
  await page.getByText(`Showing results for \u201c${word}\u201d`).waitFor();
  await page.locator(".near li").first().waitFor();
});

scenario("an unknown word links to the vocabulary", { allowed: /404/ }, async ({ open }) => {
  const page = await open("#/word/qqqqxzzz");
  await page.getByRole("link", { name: "Browse the vocabulary" }).click();
  await page.getByText("Most frequent").waitFor();
});

scenario("queries survive a reload", {}, async ({ open, url }) => {
  const [a, b, c] = await frequentWords(url);
  const page = await open(`#/word/${a}`);
  await fieldOf(page, "Another word").fill(b);
  await fieldOf(page, "Another word").press("Enter");
  for (const [name, word] of [["First", a], ["Second", b], ["Third", c]]) {
    await fieldOf(page, `${name} word`).fill(word);
    await fieldOf(page, `${name} word`).press("Enter");
  }
  await page.locator(".answers li").first().waitFor();
  assert.equal(new URL(page.url()).hash, `#/word/${a}?with=${b}&a=${a}&b=${b}&c=${c}`);
  await page.reload();
  await page.getByRole("img", { name: /^Cosine/ }).waitFor();
  await page.locator(".answers li").first().waitFor();
  assert.equal(await fieldOf(page, "Third word").inputValue(), c);
});

scenario("a failed checkpoint is reported on every view", { world: "full", mockOnly: true }, async ({ open }) => {
  const page = await open();
  await page.getByText("Cannot save", { exact: true }).waitFor();
  for (const view of VIEWS) {
    await go(page, `#/${view}`);
    await page.getByRole("alert").getByText("No space left on device").waitFor();
  }
});

scenario("two words are compared, and an analogy is completed", {}, async ({ open, url }) => {
  const [a, b, c] = await frequentWords(url);
  const page = await open(`#/word/${a}`);
  await fieldOf(page, "Another word").fill(b);
  await fieldOf(page, "Another word").press("Enter");
  await page.getByRole("img", { name: /^Cosine/ }).waitFor();
  await fieldOf(page, "First word").fill(a);
  await fieldOf(page, "Second word").fill(b);
  await fieldOf(page, "Third word").fill(c);
  await fieldOf(page, "Third word").press("Tab");
  await page.locator(".answers li").nth(2).waitFor();
});

const isDrawn = (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, i) => i % 4 === 3 && value > 0);
};
const picture = (page) => page.locator(".map canvas").evaluate((canvas) => canvas.toDataURL());

scenario("the map is drawn and moved", {}, async ({ open }) => {
  const page = await open("#/map", { reducedMotion: "reduce" });
  await mapFilled(page);
  const canvas = page.locator(".map canvas");
  await until(() => canvas.evaluate(isDrawn));
  const before = await picture(page);
  await canvas.hover({ position: { x: 640, y: 400 } });
  await page.mouse.wheel(0, -400);
  await page.mouse.down();
  await page.mouse.move(500, 350, { steps: 4 });
  await page.mouse.up();
  await until(async () => (await picture(page)) !== before);
  await until(() => canvas.evaluate(isDrawn));
});

scenario("a word is found on the map and opened", {}, async ({ open, url }) => {
  const [word] = await frequentWords(url);
  const page = await open("#/map");
  await mapFilled(page);
  await fieldOf(page, "Find on the map").fill(word);
  await fieldOf(page, "Find on the map").press("Enter");
  await page.getByRole("complementary", { name: "The chosen word" }).getByText(word).waitFor();
  for (const name of ["drift", "trend", "age"]) await page.getByRole("radio", { name }).check();
  await page.locator(".map canvas").focus();
  await page.keyboard.press("Enter");
  await heading(page).getByText(word, { exact: true }).waitFor();
});

scenario("trends and drift show their evidence", { mockOnly: true }, async ({ open }) => {
  const page = await open("#/drift");
  const row = page.locator(".drifter", { has: page.getByText("cloud", { exact: true }) });
  await row.getByText("16 min ago").waitFor();
  await row.getByRole("img", { name: /^Turned/ }).waitFor();
  await row.locator(".is-fresh").first().waitFor();
  await page.getByRole("link", { name: "Trends" }).click();
  await page.getByText("New words").waitFor();
  await page.locator(".ticker-left li").first().waitFor();
  await page.locator(".mover-score").or(page.getByText("No word stands out.")).first().waitFor();
});

scenario("typed text is accepted and learned", {}, async ({ open }) => {
  const page = await open("#/send");
  const text = page.getByRole("textbox", { name: "Text to learn" });
  await text.fill("zyxwords in a line\nand zyxwords in another");
  await text.press("Control+Enter");
  await page.getByText(/accepted · 2 lines accepted/).waitFor();
  await until(async () => (await text.inputValue()) === "");
  await page.getByRole("link", { name: "Word", exact: true }).click();
  await fieldOf(page, "Look up a word").pressSequentially("zyxw");
  await page.getByRole("option", { name: /zyxwords/ }).waitFor();
});

scenario("files are accepted, including compressed and dropped ones", {}, async ({ open }) => {
  const page = await open("#/send");
  const lines = "a line of a file\n".repeat(5000);
  await page.getByLabel("Files to learn").setInputFiles([
    { name: "plain.txt", mimeType: "text/plain", buffer: Buffer.from("one\ntwo\nthree\n") },
    { name: "packed.txt.gz", mimeType: "application/gzip", buffer: gzipSync(lines) },
  ]);
  await page.getByText(/accepted · 3 lines accepted · 14 B/).waitFor();
  await page.getByText(/accepted · 5,000 lines accepted/).waitFor();
  const members = Buffer.concat(Array.from({ length: 30 }, () => gzipSync(lines.slice(0, 17 * 100))));
  await page.getByLabel("Files to learn").setInputFiles([
    { name: "members.txt.gz", mimeType: "application/gzip", buffer: members },
  ]);
  await page.getByText(/accepted · 3,000 lines accepted/).waitFor();
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["one\ntwo\n"], "dropped.log"));
    return transfer;
  });
  await page.locator(".send-box").dispatchEvent("drop", { dataTransfer: dropped });
  await page.getByText(/accepted · 2 lines accepted · 8 B/).waitFor();
});

scenario("snippets are fully visible", {}, async ({ open }) => {
  for (const width of [1280, 390]) {
    const page = await open("#/send", { viewport: { width, height: 800 } });
    const cut = await page.locator(".recipe pre").evaluate((pre) => pre.scrollWidth - pre.clientWidth);
    assert.ok(cut <= 0, `${cut} pixels are cut off`);
  }
});

scenario("snippets contain the address of the page", {}, async ({ open, url }) => {
  const page = await open("#/send");
  for (const name of ["curl", "Fluent Bit", "Vector", "Logstash", "Filebeat", "Prometheus"]) {
    await page.getByRole("radio", { name }).check();
    const text = await page.locator(".recipe pre").textContent();
    assert.ok(text.includes(new URL(url).port), `${name}: ${text}`);
  }
});

scenario("vectors are downloaded in the chosen format", {}, async ({ open }) => {
  const page = await open("#/live");
  const format = page.getByRole("combobox", { name: "Format" });
  for (const [name, ending] of [["word2vec", ".vec"], ["glove", ".txt"], ["safetensors", ".safetensors"]]) {
    await format.selectOption(name);
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const download = await coming;
    assert.equal(download.suggestedFilename(), `wordtide${ending}`);
    const bytes = await readFile(await download.path());
    assert.ok(bytes.length > 1000);
    if (name === "word2vec") {
      const lines = bytes.toString("utf8").split("\n");
      assert.equal(Number(lines[0].split(" ")[0]), lines.length - 2);
    }
  }
});

const ground = (page) =>
  page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

scenario("light and dark follow the system, and the switch", {}, async ({ open }) => {
  const light = await ground(await open("", { colorScheme: "light" }));
  const page = await open("", { colorScheme: "dark" });
  const dark = await ground(page);
  assert.notEqual(dark, light);
  const themes = page.getByRole("button", { name: /^Theme/ });
  await themes.click();
  await until(async () => (await ground(page)) === light);
  await page.reload();
  await page.getByRole("button", { name: /^Theme: light/ }).waitFor();
  await until(async () => (await ground(page)) === light);
  await themes.click();
  await until(async () => (await ground(page)) === dark);
});

scenario("every view fits a phone", {}, async ({ open, url }) => {
  const [word] = await frequentWords(url);
  const page = await open("", { viewport: { width: 360, height: 700 }, hasTouch: true });
  for (const view of [...VIEWS, `word/${word}`]) {
    await go(page, `#/${view}`);
    await page.locator(`main.view-${view.split("/")[0]} :is(h2, canvas)`).first().waitFor();
    assert.ok((await overflow(page)) <= 0, `${view} is too wide`);
  }
});

scenario("everything can be reached with the keyboard", {}, async ({ open, url }) => {
  const [word] = await frequentWords(url);
  const page = await open();
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  const tabTo = async (text) => {
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      if ((await focused()).trim() === text) return;
    }
    assert.fail(`${text} is not reached`);
  };
  await page.getByText("Learning", { exact: true }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal((await focused()).trim(), "Skip to content");
  await tabTo("Word");
  await page.keyboard.press("Enter");
  await fieldOf(page, "Look up a word").waitFor();
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    if (await fieldOf(page, "Look up a word").evaluate((e) => e === document.activeElement)) break;
  }
  await page.keyboard.type(word);
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await heading(page).getByText(word, { exact: true }).waitFor();
  await page.keyboard.press("Shift+Tab");
  await go(page, "#/map");
  await mapFilled(page);
  await page.locator(".map canvas").focus();
  const before = await picture(page);
  for (const key of "+ ArrowLeft ArrowUp - + + ]".split(" ")) await page.keyboard.press(key);
  await page.getByRole("complementary", { name: "The chosen word" }).waitFor();
  await until(async () => (await picture(page)) !== before);
  await page.keyboard.press("Escape");
  await page.getByRole("complementary", { name: "The chosen word" }).waitFor({ state: "detached" });
});
