import { expect, test } from "vitest";
import type { MapFrame } from "../src/data/types";
import { Scene } from "../src/views/map/scene";

function frameOf(frame: number, places: Record<string, [number, number]>): MapFrame {
  const words = Object.keys(places);
  const none = words.map(() => null);
  return {
    frame, words,
    x: words.map((word) => places[word]?.[0] ?? 0),
    y: words.map((word) => places[word]?.[1] ?? 0),
    count: words.map((_, i) => 100 - i),
    seen: words.map((_, i) => 100 - i),
    age: none, drift: none, trend: none, ratio: none,
  };
}

function settle(scene: Scene): number {
  let frames = 0;
  while (scene.advance(16)) if (++frames > 2000) throw new Error("never comes to rest");
  return frames;
}

test("a word glides to its next position and stays there", () => {
  const scene = new Scene();
  scene.setFrame(frameOf(1, { tide: [0, 0] }));
  settle(scene);
  scene.setFrame(frameOf(2, { tide: [1, -1] }));
  let last = 0;
  for (let i = 0; i < 30; i++) {
    scene.advance(16);
    const x = scene.get("tide")?.x ?? -1;
    expect(x).toBeGreaterThan(last);
    expect(x - last).toBeLessThan(0.05);
    last = x;
  }
  settle(scene);
  expect(scene.get("tide")).toMatchObject({ x: 1, y: -1, presence: 1, flash: 0 });
});

test("new words flash, except in the first frame", () => {
  const scene = new Scene();
  scene.setFrame(frameOf(1, { old: [0, 0] }));
  expect(scene.get("old")?.flash).toBe(0);
  scene.setFrame(frameOf(2, { old: [0, 0], fresh: [0.5, 0.5] }));
  expect(scene.get("fresh")?.flash).toBe(1);
  expect(scene.get("old")?.flash).toBe(0);
});

test("a missing word fades out and returns to its position", () => {
  const scene = new Scene();
  scene.setFrame(frameOf(1, { a: [0, 0], b: [1, 1] }));
  settle(scene);
  scene.setFrame(frameOf(2, { a: [0, 0] }));
  scene.advance(100);
  expect(scene.get("b")?.presence).toBeLessThan(1);
  scene.setFrame(frameOf(3, { a: [0, 0], b: [1, 1] }));
  expect(scene.get("b")?.flash).toBe(0);
  scene.setFrame(frameOf(4, { a: [0, 0] }));
  settle(scene);
  expect(scene.get("b")).toBeUndefined();
  expect(scene.dots.map((dot) => dot.word)).toEqual(["a"]);
});

test("words with non-finite positions are skipped", () => {
  const scene = new Scene();
  const frame = frameOf(1, { good: [0, 0], bad: [NaN, 0], odd: [0, Infinity] });
  scene.setFrame({ ...frame, x: [...frame.x.slice(0, 3)], words: [...frame.words, "short"] });
  expect(scene.dots.map((dot) => dot.word)).toEqual(["good"]);
});

test("the trail of a word has its latest positions in fixed memory", () => {
  const scene = new Scene();
  scene.setFrame(frameOf(0, { tide: [0, 0] }));
  scene.follow("tide");
  for (let i = 1; i < 500; i++) scene.setFrame(frameOf(i, { tide: [i / 500, 0] }));
  expect(scene.trail?.points.length).toBe(120);
  expect(scene.trail?.points.at(-1)).toEqual({ x: 499 / 500, y: 0 });
});
