// atlas.ts - the map as one thing: a scene, a camera and a painter on a canvas, drawn only while
// something changes.

import { Camera, type Place } from "./camera";
import type { Tint } from "./colours";
import { listenTo } from "./gestures";
import { Painter } from "./painter";
import { type Dot, Scene } from "./scene";
import type { MapFrame } from "../../data/types";

const REACH = 16; // pixels between a pointer and the dot it means
const CLOSE = 5; // the zoom at which a word that was looked for is shown
const still = matchMedia("(prefers-reduced-motion: reduce)");

export interface Told {
  hovered: (dot: Dot | null) => void;
  chosen: (dot: Dot | null) => void;
  opened: (word: string) => void;
}

export class Atlas {
  private readonly scene = new Scene();
  private readonly camera = new Camera();
  private readonly painter: Painter;
  private readonly deafen: () => void;
  private readonly observer: ResizeObserver;
  private tint: Tint = "age";
  private hovered: string | null = null;
  private chosen: string | null = null;
  private near: string[] = [];
  private request = 0;
  private last = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly told: Told,
  ) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser cannot draw");
    this.painter = new Painter(context, this.scene, this.camera);
    this.deafen = listenTo(canvas, this.camera, {
      moved: () => this.draw(),
      pointed: (pixel) => this.hover(pixel && this.dotAt(pixel)),
      clicked: (pixel) => this.choose(this.dotAt(pixel)?.word ?? null),
      stepped: (by) => this.step(by),
      opened: () => this.chosen !== null && told.opened(this.chosen),
      left: () => this.choose(null),
    });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.resize();
  }

  close(): void {
    cancelAnimationFrame(this.request);
    this.observer.disconnect();
    this.deafen();
  }

  take(frame: MapFrame): void {
    this.scene.take(frame);
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

  /** Looks at a word closely; false when it is not on the map. */
  find(word: string): boolean {
    const dot = this.scene.get(word);
    if (!dot) return false;
    this.camera.lookAt(dot, Math.max(this.camera.zoom, CLOSE));
    this.choose(word);
    return true;
  }

  /** Joins the chosen word with these. */
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
    this.told.chosen(word === null ? null : (this.scene.get(word) ?? null));
    this.draw();
  }

  private hover(dot: Dot | null): void {
    if ((dot?.word ?? null) === this.hovered) return;
    this.hovered = dot?.word ?? null;
    this.canvas.classList.toggle("is-pointing", dot !== null);
    this.told.hovered(dot);
    this.draw();
  }

  /** To the next word by frequency; the camera goes along when it is out of sight. */
  private step(by: 1 | -1): void {
    const { dots } = this.scene;
    if (!dots.length) return;
    const at = dots.findIndex((dot) => dot.word === this.chosen);
    const dot = dots[(at + by + dots.length) % dots.length];
    if (!dot) return;
    const { x, y } = this.camera.toScreen(dot);
    const seen = x > 0 && y > 0 && x < this.camera.width && y < this.camera.height;
    if (!seen) this.camera.lookAt(dot);
    this.choose(dot.word);
  }

  private dotAt(pixel: Place): Dot | null {
    let nearest: Dot | null = null;
    let best = REACH;
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
    const since = Math.min(100, this.last ? now - this.last : 16);
    const moving = this.scene.advance(since, still.matches);
    const marks = { hovered: this.hovered, chosen: this.chosen, near: this.near };
    const fading = this.painter.paint(this.tint, marks, devicePixelRatio);
    this.last = moving || fading ? now : 0;
    if (moving || fading) this.draw();
  }
}
