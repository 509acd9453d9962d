// recipes.tsx - configuration snippets to copy, for one program at a time.

import { useSignal } from "@preact/signals";
import { token } from "../../data/token";
import { Segments } from "../../ui/segments";
import { snippetsFor } from "./snippets";

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not a secure origin, or denied: the text can be copied by hand
  }
}

export function Recipes() {
  const snippets = snippetsFor(new URL(location.href), token.value !== "");
  const chosen = useSignal(snippets[0]?.name ?? "");
  const buttonText = useSignal("Copy");
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
          buttonText.value = "Copy";
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
              buttonText.value = done ? "Copied" : "Select and copy by hand";
            })
          }
        >
          {buttonText.value}
        </button>
      </div>
    </section>
  );
}
