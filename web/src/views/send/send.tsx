// send.tsx - sends text that is typed, pasted or dropped, and shows how other programs send it.

import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { gunzip } from "./gunzip";
import { kindOfFile } from "./kinds";
import { Recipes } from "./recipes";
import { Upload } from "./upload";
import { UploadRow } from "./upload_row";

const uploads = signal<Upload[]>([]); // they continue while another view is open
let nextId = 0;

function startUpload(name: string, blob: Blob, field: string): void {
  const compressed = /\.gz$/i.test(name);
  const raw = blob.stream();
  const stream = compressed ? gunzip(raw) : raw;
  const upload = new Upload(nextId++, name, compressed ? null : blob.size, stream, kindOfFile(name), field);
  uploads.value = [upload, ...uploads.value].slice(0, 50);
  void upload.run();
}

export function SendView() {
  const text = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const field = useSignal("");
  const dragging = useSignal(false);

  const sendTyped = () => {
    const typed = text.current?.value ?? "";
    if (!typed.trim()) return text.current?.focus();
    startUpload("typed text", new Blob([typed]), "");
    if (text.current) text.current.value = "";
    text.current?.focus();
  };
  const sendFiles = (files: FileList | null | undefined) => {
    for (const file of files ?? []) startUpload(file.name, file, field.value);
    dragging.value = false;
  };

  return (
    <div class="send">
      <section
        class={dragging.value ? "send-box is-over" : "send-box"}
        onDragOver={(event) => {
          event.preventDefault();
          dragging.value = true;
        }}
        onDragLeave={() => {
          dragging.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          sendFiles(event.dataTransfer?.files);
        }}
      >
        <h2>Send text</h2>
        <p class="lead">
          One document per line. Type, paste, or drop files: text, JSON, CSV or TSV, optionally compressed with gzip.
        </p>
        <textarea
          ref={text}
          aria-label="Text to learn"
          dir="auto"
          rows={9}
          placeholder="the ferry left the harbor before the storm"
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) sendTyped();
          }}
        />
        <div class="send-actions">
          <button type="button" class="button" onClick={sendTyped}>
            Send
          </button>
          <span class="note">Ctrl + Enter</span>
          <input
            ref={picker}
            type="file"
            multiple
            class="visually-hidden"
            tabIndex={-1}
            aria-label="Files to learn"
            onChange={(event) => {
              sendFiles(event.currentTarget.files);
              event.currentTarget.value = "";
            }}
          />
          <button type="button" class="button quiet" onClick={() => picker.current?.click()}>
            Choose files
          </button>
          <label class="field-name">
            <span class="note">field or column with the text</span>
            <input
              type="text"
              placeholder="text"
              title="The field of a JSON record, or the name or number of a column of CSV or TSV, with the text. If empty: message, msg, log, text or body for JSON; for columns, the one the server was started with (--text)."
              spellcheck={false}
              value={field.value}
              onInput={(event) => {
                field.value = event.currentTarget.value.trim();
              }}
            />
          </label>
        </div>
        <ol class="uploads" aria-label="Uploads">
          {uploads.value.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </ol>
      </section>
      <Recipes />
    </div>
  );
}
