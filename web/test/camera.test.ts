import { expect, test } from "vitest";
import { Camera } from "../src/views/map/camera";
import { generator } from "./random";

function camera(): Camera {
  const made = new Camera();
  made.width = 900;
  made.height = 600;
  return made;
}

test("toPlane is the inverse of toScreen", () => {
  const random = generator(2);
  const view = camera();
  for (let run = 0; run < 100; run++) {
    view.lookAt({ x: random() - 0.5, y: random() - 0.5 }, 0.5 + random() * 20);
    const place = { x: random() * 2 - 1, y: random() * 2 - 1 };
    const back = view.toPlane(view.toScreen(place));
    expect(back.x).toBeCloseTo(place.x, 9);
    expect(back.y).toBeCloseTo(place.y, 9);
  }
});

test("zooming keeps the point under the pointer", () => {
  const view = camera();
  const pixel = { x: 500, y: 250 };
  const before = view.toPlane(pixel);
  for (const factor of [1.3, 2, 0.7, 1.1]) view.zoomAt(pixel, factor);
  expect(view.toPlane(pixel).x).toBeCloseTo(before.x, 9);
  expect(view.toPlane(pixel).y).toBeCloseTo(before.y, 9);
});

test("the center stays on the plane", () => {
  const view = camera();
  for (let i = 0; i < 100; i++) view.zoomAt({ x: 0, y: 0 }, 3);
  expect(Number.isFinite(view.scale)).toBe(true);
  for (let i = 0; i < 100; i++) view.zoomAt({ x: 0, y: 0 }, 0.1);
  for (let i = 0; i < 100; i++) view.pan(5000, -5000);
  const middle = view.toScreen({ x: 0, y: 0 });
  expect(Math.abs(middle.x - 450)).toBeLessThan(450);
  expect(Math.abs(middle.y - 300)).toBeLessThan(300);
});
