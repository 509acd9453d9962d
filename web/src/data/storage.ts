// storage.ts - strings in the browser's storage. Some browsers deny access; then the values last
// only as long as the page.

type StorageName = "localStorage" | "sessionStorage";

export function loadValue(storage: StorageName, key: string): string {
  try {
    return window[storage].getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function saveValue(storage: StorageName, key: string, value: string): void {
  try {
    window[storage].setItem(key, value);
  } catch {
    // Lasts until the page is closed.
  }
}
