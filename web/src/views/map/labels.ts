// labels.ts - chooses which words are labeled, without overlaps.
//
// Greedy: candidates come in order of importance, and each gets the first free position: right of
// its dot, left, above, below. Occupied boxes are stored in a grid of cells, so that a label is
// compared only with its surroundings.

export interface Candidate {
  x: number; // of the dot, in pixels
  y: number;
  radius: number;
  width: number; // of the text
}

export interface Label {
  index: number; // of the candidate
  x: number; // of the text's left end
  y: number; // of its middle
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const LABEL_HEIGHT = 16;
const GAP = 4;
const CELL = 64;

class OccupiedGrid {
  private cells = new Map<number, Box[]>();

  private *cellsOf(box: Box): Generator<number> {
    for (let row = Math.floor(box.top / CELL); row <= Math.floor(box.bottom / CELL); row++)
      for (let at = Math.floor(box.left / CELL); at <= Math.floor(box.right / CELL); at++)
        yield row * 4096 + at;
  }

  isFree(box: Box): boolean {
    for (const cell of this.cellsOf(box))
      for (const other of this.cells.get(cell) ?? [])
        if (
          box.left < other.right &&
          other.left < box.right &&
          box.top < other.bottom &&
          other.top < box.bottom
        )
          return false;
    return true;
  }

  add(box: Box): void {
    for (const cell of this.cellsOf(box)) {
      const boxes = this.cells.get(cell);
      if (boxes) boxes.push(box);
      else this.cells.set(cell, [box]);
    }
  }
}

function labelPositions(c: Candidate): [number, number][] {
  const side = c.radius + GAP;
  const above = Math.max(LABEL_HEIGHT, side + LABEL_HEIGHT / 2);
  return [
    [c.x + side, c.y],
    [c.x - side - c.width, c.y],
    [c.x - c.width / 2, c.y - above],
    [c.x - c.width / 2, c.y + above],
  ];
}

export function placeLabels(
  candidates: Candidate[],
  width: number,
  height: number,
  max: number,
): Label[] {
  const occupied = new OccupiedGrid();
  const labels: Label[] = [];
  for (let index = 0; index < candidates.length && labels.length < max; index++) {
    const candidate = candidates[index];
    if (!candidate) continue;
    for (const [x, y] of labelPositions(candidate)) {
      const box = {
        left: x - 2,
        right: x + candidate.width + 2,
        top: y - LABEL_HEIGHT / 2,
        bottom: y + LABEL_HEIGHT / 2,
      };
      const inside = box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height;
      if (!inside || !occupied.isFree(box)) continue;
      occupied.add(box);
      labels.push({ index, x, y });
      break;
    }
  }
  return labels;
}
