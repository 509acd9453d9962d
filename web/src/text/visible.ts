// visible.ts - makes untrusted words safe to display.
//
// Words are untrusted text. They only become text nodes, titles and canvas labels, so markup in
// them is harmless. That leaves invisible characters with an effect: control characters are
// replaced by their symbols, and bidirectional controls, which affect all text after them, by an
// arrow.

const MAX_LENGTH = 28;
const MAX_TITLE_LENGTH = 1000;

const symbolOf = (c: string): string => {
  const code = c.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code === 0x2028 || code === 0x2029) return "\u2424";
  return code < 0xa0 ? "\ufffd" : "\u21c4";
};

/** Replaces lone surrogates, which cannot be part of a URL. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

export function visible(text: string): string {
  return wellFormed(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    symbolOf,
  );
}

/** Like visible(), shortened with an ellipsis. */
export function short(text: string, maxLength = MAX_LENGTH): string {
  const shown = visible(text.slice(0, 8 * maxLength));
  const characters = Array.from(shown);
  if (characters.length <= maxLength && text.length <= 8 * maxLength) return shown;
  return characters.slice(0, maxLength - 1).join("") + "\u2026";
}

/** The whole word if short() cuts it, itself with a generous limit. */
export function whole(text: string): string | undefined {
  return short(text) === text ? undefined : short(text, MAX_TITLE_LENGTH);
}
