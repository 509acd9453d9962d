import { expect, test } from "vitest";
import { type Candidate, LABEL_HEIGHT, placeLabels } from "../src/views/map/labels";
import { generator } from "./random";

const WIDTH = 800;
const HEIGHT = 600;

function crowd(seed: number, size: number): Candidate[] {
  const random = generator(seed);
  return Array.from({ length: size }, () => ({
    x: random() * 1000 - 100,
    y: random() * 800 - 100,
    radius: 2 + random() * 5,
    width: 10 + random() * 120,
  }));
}

test("labels are on the screen and do not overlap", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const candidates = crowd(seed, 600);
    const labels = placeLabels(candidates, WIDTH, HEIGHT, 1000);
    expect(labels.length).toBeGreaterThan(30);
    const boxes = labels.map(({ index, x, y }) => {
      const right = x + (candidates[index]?.width ?? 0);
      return { left: x, right, top: y - LABEL_HEIGHT / 2, bottom: y + LABEL_HEIGHT / 2 };
    });
    const outside = boxes.filter(
      (a) => a.left < 0 || a.right > WIDTH || a.top < 0 || a.bottom > HEIGHT,
    );
    const overlapping = boxes.filter((a, i) =>
      boxes.slice(i + 1).some(
        (b) => a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top,
      ),
    );
    expect({ outside, overlapping }).toEqual({ outside: [], overlapping: [] });
  }
});

test("more important labels go first, up to the limit", () => {
  const same = Array.from({ length: 9 }, () => ({ x: 400, y: 300, radius: 3, width: 50 }));
  expect(placeLabels(same, WIDTH, HEIGHT, 100).map((label) => label.index)).toEqual([0, 1, 2, 3]);
  expect(placeLabels(crowd(5, 400), WIDTH, HEIGHT, 7)).toHaveLength(7);
});

test("with less room, labels disappear in order of importance", () => {
  const candidates = crowd(3, 300);
  const first = placeLabels(candidates, WIDTH, HEIGHT, 1000);
  const fewer = placeLabels(candidates.slice(0, 150), WIDTH, HEIGHT, 1000);
  expect(first.filter(({ index }) => index < 150)).toEqual(fewer);
});
