// send.tsx - text from here: typed, pasted, dropped; and how other programs send it.

import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { gunzip } from "./gunzip";
import { kindOf } from "./kinds";
import { Recipes } from "./recipes";
import { Upload } from "./upload";
import { UploadRow } from "./upload_row";

const uploads = signal<Upload[]>([]); // they go on while another view is looked at
let begun = 0;

function begin(name: string, blob: Blob, field: string): void {
  const packed = /\.gz$/i.test(name);
  const plain = blob.stream();
  const stream = packed ? gunzip(plain) : plain;
  const upload = new Upload(begun++, name, packed ? null : blob.size, stream, kindOf(name), field);
  uploads.value = [upload, ...uploads.value].slice(0, 50);
  void upload.run();
}

export function SendView() {
  const text = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const field = useSignal("");
  const over = useSignal(false);

  const sendTyped = () => {
    const typed = text.current?.value ?? "";
    if (!typed.trim()) return text.current?.focus();
    begin("typed text", new Blob([typed]), "");
    if (text.current) text.current.value = "";
    text.current?.focus();
  };
  const sendFiles = (files: FileList | null | undefined) => {
    for (const file of files ?? []) begin(file.name, file, field.value);
    over.value = false;
  };

  return (
    <div class="send">
      <section
        class={over.value ? "send-box is-over" : "send-box"}
        onDragOver={(event) => {
          event.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => {
          over.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          sendFiles(event.dataTransfer?.files);
        }}
      >
        <h2>Send text</h2>
        <p class="lead">
          A line is a post. Type, paste, or drop files: text, JSON, CSV or TSV, and gzip of these.
        </p>
        <textarea
          ref={text}
          aria-label="Text to learn"
          dir="auto"
          rows={9}
          placeholder="the ferry left the harbour before the storm"
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
            class="unseen"
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
              title="The field of a JSON record, or the name or number of a column of CSV or TSV, that has the text. Empty: for JSON message, msg, log, text or body; for columns the one that the server was started with (--text)."
              spellcheck={false}
              value={field.value}
              onInput={(event) => {
                field.value = event.currentTarget.value.trim();
              }}
            />
          </label>
        </div>
        <ol class="uploads" aria-label="What was sent">
          {uploads.value.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </ol>
      </section>
      <Recipes />
    </div>
  );
}
