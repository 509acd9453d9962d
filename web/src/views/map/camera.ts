// camera.ts - maps the plane to the screen. The plane is about -1..1 in both directions with y
// upward; the screen is in pixels with y downward.

export interface Point {
  x: number;
  y: number;
}

const MAX_ZOOM = 60; // 1 shows the whole plane
const MIN_ZOOM = 0.5;
const MARGIN = 0.94; // the share of the screen that the plane fills at first

export class Camera {
  x = 0;
  y = 0;
  zoom = 1;
  width = 1;
  height = 1;

  /** Pixels per unit of the plane. */
  get scale(): number {
    return (this.zoom * MARGIN * Math.min(this.width, this.height)) / 2;
  }

  toScreen(point: Point): Point {
    const { scale } = this;
    return {
      x: this.width / 2 + (point.x - this.x) * scale,
      y: this.height / 2 - (point.y - this.y) * scale,
    };
  }

  toPlane(pixel: Point): Point {
    const { scale } = this;
    return {
      x: this.x + (pixel.x - this.width / 2) / scale,
      y: this.y - (pixel.y - this.height / 2) / scale,
    };
  }

  /** Zooms by a factor; the point under the pixel stays there. */
  zoomAt(pixel: Point, factor: number): void {
    const before = this.toPlane(pixel);
    this.zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, this.zoom * factor));
    const after = this.toPlane(pixel);
    this.move(before.x - after.x, before.y - after.y);
  }

  pan(pixelsX: number, pixelsY: number): void {
    this.move(-pixelsX / this.scale, pixelsY / this.scale);
  }

  /** The center never leaves the plane, so that the words stay in reach. */
  private move(dx: number, dy: number): void {
    this.x = Math.min(1.2, Math.max(-1.2, this.x + dx));
    this.y = Math.min(1.2, Math.max(-1.2, this.y + dy));
  }

  lookAt(point: Point, zoom = this.zoom): void {
    this.zoom = zoom;
    this.x = this.y = 0;
    this.move(point.x, point.y);
  }
}
