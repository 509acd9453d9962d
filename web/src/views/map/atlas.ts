// atlas.ts - the map: a scene, a camera and a painter on a canvas, redrawn only while something
// changes.

import { Camera, type Point } from "./camera";
import type { Tint } from "./colors";
import { addGestures } from "./gestures";
import { Painter } from "./painter";
import { type Dot, Scene } from "./scene";
import type { MapFrame } from "../../data/types";

const HIT_PIXELS = 16; // between the pointer and the dot that it selects
const FIND_ZOOM = 5; // at which a word that was searched for is shown
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export interface AtlasEvents {
  hovered: (dot: Dot | null) => void;
  chosen: (dot: Dot | null) => void;
  opened: (word: string) => void;
}

export class Atlas {
  private readonly scene = new Scene();
  private readonly camera = new Camera();
  private readonly painter: Painter;
  private readonly removeListeners: () => void;
  private readonly observer: ResizeObserver;
  private tint: Tint = "age";
  private hovered: string | null = null;
  private chosen: string | null = null;
  private near: string[] = [];
  private request = 0;
  private last = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly events: AtlasEvents,
  ) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("canvas is not supported");
    this.painter = new Painter(context, this.scene, this.camera);
    this.removeListeners = addGestures(canvas, this.camera, {
      moved: () => this.draw(),
      pointed: (pixel) => this.hover(pixel && this.dotAt(pixel)),
      clicked: (pixel) => this.choose(this.dotAt(pixel)?.word ?? null),
      stepped: (by) => this.step(by),
      opened: () => this.chosen !== null && events.opened(this.chosen),
      left: () => this.choose(null),
    });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.resize();
  }

  close(): void {
    cancelAnimationFrame(this.request);
    this.observer.disconnect();
    this.removeListeners();
  }

  setFrame(frame: MapFrame): void {
    this.scene.setFrame(frame);
    this.draw();
  }

  restyle(tint: Tint): void {
    this.tint = tint;
    this.painter.restyle(tint);
    this.draw();
  }

  zoom(factor: number): void {
    this.camera.zoomAt({ x: this.camera.width / 2, y: this.camera.height / 2 }, factor);
    this.draw();
  }

  showAll(): void {
    this.camera.lookAt({ x: 0, y: 0 }, 1);
    this.draw();
  }

  /** Zooms to a word; returns false if it is not on the map. */
  find(word: string): boolean {
    const dot = this.scene.get(word);
    if (!dot) return false;
    this.camera.lookAt(dot, Math.max(this.camera.zoom, FIND_ZOOM));
    this.choose(word);
    return true;
  }

  /** Draws lines from the chosen word to these. */
  connect(words: string[]): void {
    this.near = words;
    this.draw();
  }

  choose(word: string | null): void {
    if (word !== this.chosen) {
      this.scene.follow(word);
      this.near = [];
    }
    this.chosen = word;
    this.events.chosen(word === null ? null : (this.scene.get(word) ?? null));
    this.draw();
  }

  private hover(dot: Dot | null): void {
    if ((dot?.word ?? null) === this.hovered) return;
    this.hovered = dot?.word ?? null;
    this.canvas.classList.toggle("is-pointing", dot !== null);
    this.events.hovered(dot);
    this.draw();
  }

  /** Chooses the next word by frequency; the camera follows if it is off screen. */
  private step(by: 1 | -1): void {
    const { dots } = this.scene;
    if (!dots.length) return;
    const at = dots.findIndex((dot) => dot.word === this.chosen);
    const dot = dots[(at + by + dots.length) % dots.length];
    if (!dot) return;
    const { x, y } = this.camera.toScreen(dot);
    const onScreen = x > 0 && y > 0 && x < this.camera.width && y < this.camera.height;
    if (!onScreen) this.camera.lookAt(dot);
    this.choose(dot.word);
  }

  private dotAt(pixel: Point): Dot | null {
    let nearest: Dot | null = null;
    let best = HIT_PIXELS;
    for (const dot of this.scene.dots) {
      const { x, y } = this.camera.toScreen(dot);
      const distance = Math.hypot(x - pixel.x, y - pixel.y) - dot.radius;
      if (distance < best && !dot.leaving) {
        best = distance;
        nearest = dot;
      }
    }
    return nearest;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas;
    this.camera.width = clientWidth;
    this.camera.height = clientHeight;
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.draw();
  }

  private draw(): void {
    if (!this.request) this.request = requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.request = 0;
    const elapsed = Math.min(100, this.last ? now - this.last : 16);
    const moving = this.scene.advance(elapsed, reducedMotion.matches);
    const marks = { hovered: this.hovered, chosen: this.chosen, near: this.near };
    const fading = this.painter.paint(this.tint, marks, devicePixelRatio);
    this.last = moving || fading ? now : 0;
    if (moving || fading) this.draw();
  }
}
