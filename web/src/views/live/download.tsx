// download.tsx - downloads the current vectors as a file for other programs. The file is fetched
// rather than linked, because a link cannot send a token or show why it failed.

import { useSignal } from "@preact/signals";
import { Problem, request, withQuery } from "../../data/api";
import { ErrorText } from "../../ui/notice";

const FORMATS: Record<string, string> = {
  word2vec: "word2vec, text (.vec)",
  "word2vec-binary": "word2vec, binary (.bin)",
  glove: "GloVe (.txt)",
  safetensors: "safetensors",
  pgvector: "PostgreSQL, pgvector (.tsv)",
};

function fileName(response: Response): string {
  const match = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
  return match?.[1] ?? "wordtide";
}

function saveFile(file: Blob, name: string): void {
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
  const download = async () => {
    busy.value = true;
    problem.value = null;
    try {
      const response = await request(withQuery("/v1/export", { format: format.value }));
      saveFile(await response.blob(), fileName(response));
    } catch (error) {
      problem.value = error instanceof Problem ? error : new Problem(0, "about:blank", "the download was interrupted");
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
        <button type="button" class="button quiet" disabled={busy.value} onClick={() => void download()}>
          {busy.value ? "Preparing…" : "Download"}
        </button>
      </div>
      {problem.value && <ErrorText problem={problem.value} />}
    </>
  );
}
