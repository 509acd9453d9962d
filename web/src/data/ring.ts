// ring.ts - a ring buffer of rows of numbers: the newest row overwrites the oldest.

export class Ring {
  private readonly rows: Float64Array;
  private start = 0;
  length = 0;

  constructor(
    readonly capacity: number,
    readonly width: number,
  ) {
    this.rows = new Float64Array(capacity * width);
  }

  push(row: readonly (number | null)[]): void {
    const slot = (this.start + this.length) % this.capacity;
    for (let i = 0; i < this.width; i++) this.rows[slot * this.width + i] = row[i] ?? NaN;
    if (this.length < this.capacity) this.length++;
    else this.start = (this.start + 1) % this.capacity;
  }

  clear(): void {
    this.start = this.length = 0;
  }

  /** One column, oldest first. Unknown values are null. */
  column(index: number): (number | null)[] {
    return Array.from({ length: this.length }, (_, i) => {
      const row = (this.start + i) % this.capacity;
      const value = this.rows[row * this.width + index] ?? NaN;
      return Number.isNaN(value) ? null : value;
    });
  }
}
