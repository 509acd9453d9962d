// stage.mjs - shared by the scenarios: their list, mock servers, and helpers to inspect the page.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MOCK = fileURLToPath(new URL("../../web/mock.mjs", import.meta.url));

export const scenarios = new Map();

/** options: world (null: the scenario starts its own), mockOnly, allowed (a pattern for errors
 *  that the scenario causes). */
export function scenario(name, options, play) {
  scenarios.set(name, { ...options, play });
}

const MOCKS = {
  many: ["--words", "500"],
  few: ["--words", "100"],
  thousands: ["--words", "5000"],
  empty: ["--words", "0"],
  hostile: ["--words", "200", "--hostile"],
  full: ["--words", "100", "--full-disk"],
  token: ["--words", "100", "--token", "open sesame"],
};

/** Starts a mock server and waits until it listens. */
export async function startMock(world, port = 0) {
  const options = ["--port", String(port), "--until-eof", ...MOCKS[world]];
  const server = spawn("node", [MOCK, ...options], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: server.stdout }), "line");
  const stop = async () => {
    server.kill("SIGKILL");
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  };
  return { url: line.trim(), stop };
}

export const go = (page, hash) => page.evaluate((to) => { location.hash = to; }, hash);

/** The number of pixels by which the page is too wide. */
export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

export const mapFilled = (page) =>
  page.locator(".map-line").filter({ hasText: /^[1-9][\d,]* words$/ }).waitFor();
