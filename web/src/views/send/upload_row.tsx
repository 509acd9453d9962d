// upload_row.tsx - the progress of one upload.

import { bytes, count } from "../../text/format";
import { WordText } from "../../ui/word";
import type { Phase, Progress, Upload } from "./upload";

const TEXTS: Record<Phase, string> = {
  sending: "sending",
  waiting: "the server is busy, waiting",
  done: "accepted",
  failed: "rejected",
  stopped: "stopped",
};

function statusText({ phase, taken, skipped, sent, problem }: Progress): string {
  const parts = [TEXTS[phase], `${count(taken)} lines accepted`, bytes(sent)];
  if (skipped) parts.push(`${count(skipped)} skipped`);
  if (problem) parts.push(problem);
  return parts.join(" \u00b7 ");
}

export function UploadRow({ upload }: { upload: Upload }) {
  const progress = upload.progress.value;
  const running = progress.phase === "sending" || progress.phase === "waiting";
  const share = upload.size ? progress.sent / upload.size : running ? 0 : 1;
  return (
    <li class={`upload phase-${progress.phase}`}>
      <div class="upload-line">
        <WordText word={upload.name} />
        <span class="note" role="status">
          {statusText(progress)}
        </span>
        {running && (
          <button type="button" class="button quiet" onClick={() => upload.stop()}>
            Stop
          </button>
        )}
      </div>
      <progress value={Math.min(1, share)} aria-label="Sent" />
    </li>
  );
}
