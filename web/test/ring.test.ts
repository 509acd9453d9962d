import { expect, test } from "vitest";
import { Ring } from "../src/data/ring";

test("a ring holds the last rows, oldest first", () => {
  for (const capacity of [1, 2, 5, 8]) {
    const ring = new Ring(capacity, 2);
    const rows: [number, number | null][] = [];
    for (let n = 0; n < 20; n++) {
      const row: [number, number | null] = [n, n % 3 ? n * n : null];
      ring.push(row);
      rows.push(row);
      const last = rows.slice(-capacity);
      expect(ring.length).toBe(last.length);
      expect(ring.column(0)).toEqual(last.map(([a]) => a));
      expect(ring.column(1)).toEqual(last.map(([, b]) => b));
    }
    ring.clear();
    expect(ring.column(0)).toEqual([]);
  }
});
