// visible.ts - shows any word as it is, and lets none of them do anything.
//
// Words are other people's text. They only ever become text nodes, titles and drawn labels, so
// markup in them is harmless. What is left are characters that are not seen but act: controls
// become their symbols, and marks that turn the direction of all that follows become an arrow.

const LONGEST = 28;
const LONGEST_TITLE = 1000;

const symbolOf = (c: string): string => {
  const code = c.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code === 0x2028 || code === 0x2029) return "\u2424";
  return code < 0xa0 ? "\ufffd" : "\u21c4";
};

/** Halves of characters are replaced; they cannot be part of an address. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

export function visible(text: string): string {
  return wellFormed(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    symbolOf,
  );
}

/** As visible, with a limit on the length; what was cut is marked. */
export function short(text: string, longest = LONGEST): string {
  const shown = visible(text.slice(0, 8 * longest));
  const characters = Array.from(shown);
  if (characters.length <= longest && text.length <= 8 * longest) return shown;
  return characters.slice(0, longest - 1).join("") + "\u2026";
}

/** The whole word, where short() does not show it; a book in one word is cut all the same. */
export function whole(text: string): string | undefined {
  return short(text) === text ? undefined : short(text, LONGEST_TITLE);
}
