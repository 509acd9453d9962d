// recipes.tsx - the lines to copy, one program at a time.

import { useSignal } from "@preact/signals";
import { token } from "../../data/token";
import { Segments } from "../../ui/segments";
import { snippetsFor } from "./snippets";

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not a secure address, or not allowed: the text can be marked by hand
  }
}

export function Recipes() {
  const snippets = snippetsFor(new URL(location.href), token.value !== "");
  const chosen = useSignal(snippets[0]?.name ?? "");
  const said = useSignal("Copy");
  const snippet = snippets.find(({ name }) => name === chosen.value);
  if (!snippet) return null;
  return (
    <section class="recipes">
      <h2>From other programs</h2>
      <Segments
        label="program"
        name="program"
        options={snippets.map(({ name }) => ({ value: name, text: name }))}
        value={chosen.value}
        onChange={(name) => {
          chosen.value = name;
          said.value = "Copy";
        }}
      />
      <p class="note">{snippet.note}</p>
      <div class="recipe">
        <pre tabIndex={0}>{snippet.text}</pre>
        <button
          type="button"
          class="button quiet"
          onClick={() =>
            void copy(snippet.text).then((done) => {
              said.value = done ? "Copied" : "Mark and copy by hand";
            })
          }
        >
          {said.value}
        </button>
      </div>
    </section>
  );
}
