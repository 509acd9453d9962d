// download.tsx - the vectors as they are now, as a file for other programs. The file is fetched
// rather than linked to, because a link cannot carry a token and does not say why it failed.

import { useSignal } from "@preact/signals";
import { Problem, request, withQuery } from "../../data/api";
import { Trouble } from "../../ui/notice";

const FORMATS: Record<string, string> = {
  word2vec: "word2vec, text (.vec)",
  "word2vec-binary": "word2vec, binary (.bin)",
  glove: "GloVe (.txt)",
  safetensors: "safetensors",
  pgvector: "PostgreSQL, pgvector (.tsv)",
};

function nameOf(response: Response): string {
  const said = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
  return said?.[1] ?? "wordtide";
}

function keep(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still be reading
}

export function Download() {
  const format = useSignal("word2vec");
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const begin = async () => {
    busy.value = true;
    problem.value = null;
    try {
      const response = await request(withQuery("/v1/export", { format: format.value }));
      keep(await response.blob(), nameOf(response));
    } catch (error) {
      problem.value = error instanceof Problem ? error : new Problem(0, "about:blank", "it broke off");
    }
    busy.value = false;
  };
  return (
    <>
      <h2>Vectors</h2>
      <div class="download">
        <select
          aria-label="Format"
          value={format.value}
          onChange={(event) => {
            format.value = event.currentTarget.value;
          }}
        >
          {Object.entries(FORMATS).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
        <button type="button" class="button quiet" disabled={busy.value} onClick={() => void begin()}>
          {busy.value ? "Being made…" : "Download"}
        </button>
      </div>
      {problem.value && <Trouble problem={problem.value} />}
    </>
  );
}
