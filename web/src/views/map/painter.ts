// painter.ts - draws the map on a canvas: dots by color, then the trail, flashes and labels.
//
// Ten thousand dots are a few dozen paths, one per color and opacity, which a canvas fills in a few
// milliseconds; WebGL is not necessary. A label that is already visible is preferred while it has
// room, and labels fade in and out, so that nothing flickers.

import { colorOf } from "../../ui/theme";
import type { Camera } from "./camera";
import { STEPS, type Tint, colorRamp, colorStep, tintValue } from "./colors";
import { type Candidate, placeLabels } from "./labels";
import type { Dot, Scene } from "./scene";

const MAX_LABELS = 160;
const LABEL_CANDIDATES = 900; // the most frequent visible words; others get no label
const FADE = 0.14; // change of the opacity of a label per frame
const VISIBLE_BONUS = 0.8; // pixels of radius, in the weight of a label that is already visible
const MARGIN = 40;
const FULL_CIRCLE = 2 * Math.PI;

export interface Marks {
  hovered: string | null;
  chosen: string | null;
  near: string[]; // of the chosen one
}

/** A label that is visible or fading. */
interface Shown {
  text: string;
  x: number;
  y: number;
  opacity: number;
  placed: boolean;
}

interface VisibleDot {
  dot: Dot;
  x: number;
  y: number;
  radius: number;
}

export class Painter {
  private ramp: string[] = [];
  private unknown = "";
  private ink = "";
  private halo = "";
  private accent = "";
  private font = "";
  private widths = new Map<string, number>();
  private shown = new Map<string, Shown>();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scene: Scene,
    private readonly camera: Camera,
  ) {}

  /** Reads the colors again after a change of the theme or the tint. */
  restyle(tint: Tint): void {
    this.ramp = colorRamp(tint);
    this.unknown = colorOf("--line-2");
    this.ink = colorOf("--ink");
    this.halo = colorOf("--ground");
    this.accent = colorOf("--rise");
    const { fontFamily } = getComputedStyle(this.context.canvas);
    if (!this.font.endsWith(fontFamily)) this.widths.clear();
    this.font = `13px ${fontFamily}`;
  }

  /** Draws everything; returns whether labels are still fading. */
  paint(tint: Tint, marks: Marks, pixelRatio: number): boolean {
    const { context, camera } = this;
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const visible = this.visibleDots();
    this.paintDots(visible, tint);
    this.paintTrail();
    this.paintNear(marks);
    for (const one of visible) if (one.dot.flash > 0) this.paintFlash(one);
    this.paintMarks(visible, marks);
    return this.paintLabels(visible, marks);
  }

  private visibleDots(): VisibleDot[] {
    const { camera } = this;
    const grow = Math.min(2.2, 0.85 + 0.15 * camera.zoom);
    const visible: VisibleDot[] = [];
    for (const dot of this.scene.dots) {
      const { x, y } = camera.toScreen(dot);
      if (x < -MARGIN || y < -MARGIN || x > camera.width + MARGIN || y > camera.height + MARGIN)
        continue;
      visible.push({ dot, x, y, radius: dot.radius * grow });
    }
    return visible;
  }

  private paintDots(visible: VisibleDot[], tint: Tint): void {
    const { context } = this;
    const paths = new Map<number, Path2D>();
    for (const { dot, x, y, radius } of visible) {
      const share = tintValue(dot, tint);
      const step = share === null ? STEPS : colorStep(share);
      const fade = Math.round(dot.presence * 4);
      const key = step * 8 + fade;
      const path = paths.get(key) ?? new Path2D();
      paths.set(key, path);
      path.moveTo(x + radius, y);
      path.arc(x, y, radius, 0, FULL_CIRCLE);
    }
    for (const [key, path] of paths) {
      context.globalAlpha = 0.82 * ((key % 8) / 4);
      context.fillStyle = this.ramp[Math.floor(key / 8)] ?? this.unknown;
      context.fill(path);
    }
    context.globalAlpha = 1;
  }

  private paintTrail(): void {
    const points = this.scene.trail?.points ?? [];
    if (points.length < 2) return;
    const { context } = this;
    context.beginPath();
    for (const point of points) {
      const { x, y } = this.camera.toScreen(point);
      context.lineTo(x, y);
    }
    context.strokeStyle = this.accent;
    context.globalAlpha = 0.7;
    context.lineWidth = 1.5;
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Thin lines from the chosen word to its neighbors. */
  private paintNear({ chosen, near }: Marks): void {
    const center = chosen === null ? undefined : this.scene.get(chosen);
    if (!center) return;
    const { context, camera } = this;
    const from = camera.toScreen(center);
    context.beginPath();
    for (const word of near) {
      const dot = this.scene.get(word);
      if (!dot) continue;
      const to = camera.toScreen(dot);
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
    }
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.globalAlpha = 0.3;
    context.stroke();
    context.globalAlpha = 1;
  }

  private paintFlash({ dot, x, y, radius }: VisibleDot): void {
    this.ring(x, y, radius + 22 * (1 - dot.flash), 2, dot.flash);
  }

  private paintMarks(visible: VisibleDot[], marks: Marks): void {
    for (const { dot, x, y, radius } of visible) {
      if (dot.word === marks.chosen) this.ring(x, y, radius + 5, 2, 1);
      else if (dot.word === marks.hovered) this.ring(x, y, radius + 4, 1.5, 0.8);
    }
  }

  private ring(x: number, y: number, radius: number, width: number, opacity: number): void {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius, 0, FULL_CIRCLE);
    context.strokeStyle = this.accent;
    context.lineWidth = width;
    context.globalAlpha = opacity;
    context.stroke();
    context.globalAlpha = 1;
  }

  private widthOf(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  private candidates(visible: VisibleDot[], marks: Marks): VisibleDot[] {
    const isMarked = ({ word }: Dot) => word === marks.chosen || word === marks.hovered;
    const weight = ({ dot }: VisibleDot) =>
      isMarked(dot)
        ? Infinity
        : dot.radius + 3 * dot.flash + (this.shown.get(dot.word)?.placed ? VISIBLE_BONUS : 0);
    return visible
      .filter(({ dot }, i) => !dot.leaving && (i < LABEL_CANDIDATES || dot.flash > 0 || isMarked(dot)))
      .map((one) => ({ one, weight: weight(one) }))
      .sort((a, b) => b.weight - a.weight)
      .map(({ one }) => one);
  }

  private paintLabels(visible: VisibleDot[], marks: Marks): boolean {
    const { context, camera, shown } = this;
    context.font = this.font;
    context.textBaseline = "middle";
    const candidates = this.candidates(visible, marks);
    const boxes = candidates.map(({ dot, x, y, radius }): Candidate => {
      return { x, y, radius, width: this.widthOf(dot.label) };
    });
    for (const label of shown.values()) label.placed = false;
    for (const { index, x, y } of placeLabels(boxes, camera.width, camera.height, MAX_LABELS)) {
      const dot = candidates[index]?.dot;
      if (!dot) continue;
      const opacity = shown.get(dot.word)?.opacity ?? 0;
      shown.set(dot.word, { text: dot.label, x, y, opacity, placed: true });
    }
    return this.fadeLabels();
  }

  private fadeLabels(): boolean {
    const { context } = this;
    let fading = false;
    context.lineWidth = 3.5;
    context.lineJoin = "round";
    context.strokeStyle = this.halo;
    context.fillStyle = this.ink;
    for (const [word, label] of this.shown) {
      const target = label.placed ? 1 : 0;
      label.opacity = Math.min(1, Math.max(0, label.opacity + (target ? FADE : -3 * FADE)));
      fading ||= label.opacity !== target;
      if (label.opacity === 0) {
        this.shown.delete(word);
        continue;
      }
      context.globalAlpha = label.opacity;
      context.strokeText(label.text, label.x, label.y);
      context.fillText(label.text, label.x, label.y);
    }
    context.globalAlpha = 1;
    return fading;
  }
}
