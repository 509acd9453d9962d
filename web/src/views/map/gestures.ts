// gestures.ts - moves the camera by mouse, touch and keyboard, and reports pointing and clicks.
//
// One pointer drags, two pinch, the wheel zooms at the pointer. Arrow keys pan, + and - zoom, 0 shows
// everything; [ and ] step through the words by frequency, Enter opens the chosen one.

import type { Camera, Point } from "./camera";

const CLICK_PIXELS = 5; // a pointer that moves less than this clicks
const KEY_PAN = 80;
const KEY_ZOOM = 1.3;

export interface GestureHandlers {
  moved: () => void;
  pointed: (pixel: Point | null) => void;
  clicked: (pixel: Point) => void;
  stepped: (by: 1 | -1) => void;
  opened: () => void;
  left: () => void; // Escape
}

export function addGestures(canvas: HTMLCanvasElement, camera: Camera, handlers: GestureHandlers): () => void {
  const control = new AbortController();
  const options = { signal: control.signal };
  const pointers = new Map<number, Point>();
  let traveled = 0;

  const pixelOf = (event: MouseEvent): Point => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    if (!a || !b) return null;
    const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    return { middle, distance: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, pixelOf(event));
    if (pointers.size === 1) traveled = 0;
  }, options);

  canvas.addEventListener("pointermove", (event) => {
    const pixel = pixelOf(event);
    const last = pointers.get(event.pointerId);
    if (!last) return handlers.pointed(pixel);
    const before = spread();
    pointers.set(event.pointerId, pixel);
    const after = spread();
    traveled += Math.hypot(pixel.x - last.x, pixel.y - last.y);
    if (before && after) {
      camera.pan(after.middle.x - before.middle.x, after.middle.y - before.middle.y);
      camera.zoomAt(after.middle, after.distance / (before.distance || 1));
    } else camera.pan(pixel.x - last.x, pixel.y - last.y);
    handlers.moved();
  }, options);

  const release = (event: PointerEvent) => {
    const single = pointers.size === 1 && pointers.delete(event.pointerId);
    pointers.delete(event.pointerId);
    if (single && event.type === "pointerup" && traveled < CLICK_PIXELS)
      handlers.clicked(pixelOf(event));
  };
  canvas.addEventListener("pointerup", release, options);
  canvas.addEventListener("pointercancel", release, options);
  canvas.addEventListener("pointerleave", () => handlers.pointed(null), options);

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    camera.zoomAt(pixelOf(event), Math.exp(-Math.max(-120, Math.min(120, pixels)) / 320));
    handlers.moved();
  }, { ...options, passive: false });

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys(camera, handlers)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    handlers.moved();
  }, options);

  return () => control.abort();
}

function keys(camera: Camera, handlers: GestureHandlers): Record<string, () => void> {
  const middle = { x: camera.width / 2, y: camera.height / 2 };
  const zoomIn = () => camera.zoomAt(middle, KEY_ZOOM);
  const zoomOut = () => camera.zoomAt(middle, 1 / KEY_ZOOM);
  return {
    ArrowLeft: () => camera.pan(KEY_PAN, 0),
    ArrowRight: () => camera.pan(-KEY_PAN, 0),
    ArrowUp: () => camera.pan(0, KEY_PAN),
    ArrowDown: () => camera.pan(0, -KEY_PAN),
    "+": zoomIn,
    "=": zoomIn,
    "-": zoomOut,
    "0": () => camera.lookAt({ x: 0, y: 0 }, 1),
    "]": () => handlers.stepped(1),
    "[": () => handlers.stepped(-1),
    Enter: handlers.opened,
    Escape: handlers.left,
  };
}
