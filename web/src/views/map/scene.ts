// scene.ts - the words of the map and how they move.
//
// The server sends frames. A word in the next frame glides to its new position, a missing word
// fades out, and a new word appears with a flash. A word keeps its dot from frame to frame, so that
// nothing jumps.

import type { MapFrame, Maybe } from "../../data/types";
import { short } from "../../text/visible";

const GLIDE_MS = 450; // after this, two thirds of the distance are covered
const FLASH_MS = 2600;
const MIN_DISTANCE = 0.0004; // of the plane: too small to see
const TRAIL_LENGTH = 120;

export interface Dot {
  word: string;
  label: string; // the text to draw
  x: number;
  y: number;
  toX: number;
  toY: number;
  presence: number; // opacity: 0 to 1
  flash: number; // from 1, just appeared, down to 0
  leaving: boolean;
  count: number;
  seen: number;
  radius: number;
  age: Maybe;
  drift: Maybe;
  trend: Maybe;
  ratio: Maybe;
}

export class Scene {
  /** By decreasing frequency, as the server sends them. */
  dots: Dot[] = [];
  trail: { word: string; points: { x: number; y: number }[] } | null = null;
  private byWord = new Map<string, Dot>();
  private frame = -1;

  get(word: string): Dot | undefined {
    return this.byWord.get(word);
  }

  setFrame(frame: MapFrame): void {
    const first = this.frame < 0;
    this.frame = frame.frame;
    const next = new Map<string, Dot>();
    const maxLogCount = Math.log1p(Math.max(1, ...frame.count.slice(0, 1)));
    frame.words.forEach((word, i) => {
      const x = frame.x[i];
      const y = frame.y[i];
      if (!Number.isFinite(x) || !Number.isFinite(y) || x === undefined || y === undefined) return;
      const dot = this.byWord.get(word) ?? newDot(word, x, y, first);
      dot.leaving = false;
      dot.toX = x;
      dot.toY = y;
      dot.count = frame.count[i] ?? 0;
      dot.seen = frame.seen?.[i] ?? dot.count;
      dot.radius = 1.6 + 5 * (Math.log1p(dot.count) / maxLogCount) ** 3;
      dot.age = frame.age[i] ?? null;
      dot.drift = frame.drift[i] ?? null;
      dot.trend = frame.trend[i] ?? null;
      dot.ratio = frame.ratio?.[i] ?? null;
      next.set(word, dot);
    });
    for (const [word, dot] of this.byWord)
      if (!next.has(word)) {
        dot.leaving = true;
        next.set(word, dot);
      }
    this.byWord = next;
    this.dots = [...next.values()];
    this.extendTrail();
  }

  /** Advances the animation; returns false when nothing moves any more. */
  advance(milliseconds: number, still = false): boolean {
    const share = still ? 1 : 1 - Math.exp(-milliseconds / GLIDE_MS);
    let moving = false;
    for (const dot of this.dots) {
      const dx = dot.toX - dot.x;
      const dy = dot.toY - dot.y;
      const arrived = Math.abs(dx) + Math.abs(dy) < MIN_DISTANCE;
      dot.x += arrived ? dx : dx * share;
      dot.y += arrived ? dy : dy * share;
      const target = dot.leaving ? 0 : 1;
      const gap = target - dot.presence;
      dot.presence = Math.abs(gap) < 0.02 ? target : dot.presence + gap * share;
      dot.flash = still ? 0 : Math.max(0, dot.flash - milliseconds / FLASH_MS);
      moving ||= !arrived || dot.presence !== target || dot.flash > 0;
    }
    this.removeFaded();
    return moving;
  }

  /** Removes words that have faded out. */
  private removeFaded(): void {
    if (!this.dots.some((dot) => dot.leaving && dot.presence === 0)) return;
    this.dots = this.dots.filter((dot) => !dot.leaving || dot.presence > 0);
    this.byWord = new Map(this.dots.map((dot) => [dot.word, dot]));
  }

  /** Draws the path of this word from now on. */
  follow(word: string | null): void {
    this.trail = word === null ? null : { word, points: [] };
    this.extendTrail();
  }

  private extendTrail(): void {
    const dot = this.trail && this.byWord.get(this.trail.word);
    if (!this.trail || !dot) return;
    this.trail.points.push({ x: dot.toX, y: dot.toY });
    if (this.trail.points.length > TRAIL_LENGTH) this.trail.points.shift();
  }
}

function newDot(word: string, x: number, y: number, first: boolean): Dot {
  return {
    word, label: short(word), x, y, toX: x, toY: y,
    presence: 0, flash: first ? 0 : 1, leaving: false,
    count: 0, seen: 0, radius: 2, age: null, drift: null, trend: null, ratio: null,
  };
}
