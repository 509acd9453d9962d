// send.mjs - sends files to a real server with its page, and reports the outcome of each.
//
//   node send.mjs URL FIELD FILE...    prints the message of the page for each FILE, as JSON

import { openBrowser } from "./browser.mjs";

const [, , url, field, ...files] = process.argv;
const { browser, page } = await openBrowser(url);
await page.goto(`${url}/#/send`);
await page.getByLabel("field or column with the text").fill(field);
const said = {};
for (const file of files) {
  await page.getByLabel("Files to learn").setInputFiles(file);
  const name = file.split("/").pop();
  const row = page.locator(".upload", { hasText: name }).getByRole("status");
  await row.filter({ hasText: /^(accepted|rejected)/ }).waitFor();
  said[name] = await row.innerText();
}
console.log(JSON.stringify(said));
await browser.close();
