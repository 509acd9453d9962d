// kept.ts - small texts that the browser keeps for us. Some browsers keep nothing; then what was
// kept is forgotten with the page, and nothing else happens.

type Place = "localStorage" | "sessionStorage";

export function recall(place: Place, key: string): string {
  try {
    return window[place].getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function keep(place: Place, key: string, value: string): void {
  try {
    window[place].setItem(key, value);
  } catch {
    // It holds for this visit.
  }
}
