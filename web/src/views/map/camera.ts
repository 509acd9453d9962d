// camera.ts - where on the plane we look from. The plane is about -1..1 both ways with y upwards;
// the screen is in pixels with y downwards.

export interface Place {
  x: number;
  y: number;
}

const NEAREST = 60; // times the whole
const FARTHEST = 0.5;
const MARGIN = 0.94; // of the screen, that the plane fills at first

export class Camera {
  x = 0;
  y = 0;
  zoom = 1;
  width = 1;
  height = 1;

  /** Pixels for one unit of the plane. */
  get scale(): number {
    return (this.zoom * MARGIN * Math.min(this.width, this.height)) / 2;
  }

  toScreen(place: Place): Place {
    const { scale } = this;
    return {
      x: this.width / 2 + (place.x - this.x) * scale,
      y: this.height / 2 - (place.y - this.y) * scale,
    };
  }

  toPlane(pixel: Place): Place {
    const { scale } = this;
    return {
      x: this.x + (pixel.x - this.width / 2) / scale,
      y: this.y - (pixel.y - this.height / 2) / scale,
    };
  }

  /** Zooms by a factor; what is under the pixel stays there. */
  zoomAt(pixel: Place, factor: number): void {
    const kept = this.toPlane(pixel);
    this.zoom = Math.min(NEAREST, Math.max(FARTHEST, this.zoom * factor));
    const moved = this.toPlane(pixel);
    this.move(kept.x - moved.x, kept.y - moved.y);
  }

  pan(pixelsX: number, pixelsY: number): void {
    this.move(-pixelsX / this.scale, pixelsY / this.scale);
  }

  /** The middle never leaves the plane, so that nobody gets lost. */
  private move(dx: number, dy: number): void {
    this.x = Math.min(1.2, Math.max(-1.2, this.x + dx));
    this.y = Math.min(1.2, Math.max(-1.2, this.y + dy));
  }

  lookAt(place: Place, zoom = this.zoom): void {
    this.zoom = zoom;
    this.x = this.y = 0;
    this.move(place.x, place.y);
  }
}
