// word_field.tsx - a field for a word, which completes what is typed from the vocabulary.
//
// The field is a combobox with a list: arrows move in the list, Enter takes what is marked or
// else what was typed, Escape closes it.

import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { withQuery } from "../data/api";
import { useFetched } from "../data/fetched";
import type { WordList, WordRow } from "../data/types";
import { brief } from "../text/format";
import { WordText } from "./word";

const SHOWN = 8;
const PAUSE_MS = 120; // of the typing, before the server is asked
const AGAIN_SECONDS = 1; // a word may be learned while somebody waits for it

interface Props {
  label: string;
  value: string;
  placeholder?: string;
  class?: string;
  keeps?: boolean; // the word stays, and what was typed counts when the field is left
  onPick: (word: string) => void;
}

function useCompletions(text: string): WordRow[] {
  const prefix = useSignal("");
  useEffect(() => {
    const timer = setTimeout(() => {
      prefix.value = text;
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const path = withQuery("/v1/words", { prefix: prefix.value, limit: SHOWN });
  const { data } = useFetched<WordList<WordRow>>(
    text && prefix.value ? path : null,
    AGAIN_SECONDS,
  );
  return text ? (data?.words ?? []).slice(0, SHOWN) : [];
}

export function WordField(props: Props) {
  const text = useSignal(props.value);
  const open = useSignal(false);
  const marked = useSignal(-1);
  const list = useId();
  const words = useCompletions(open.value ? text.value.trim() : "");
  const shown = open.value && words.length > 0;

  useEffect(() => {
    text.value = props.value;
  }, [props.value]);

  const pick = (word: string) => {
    open.value = false;
    marked.value = -1;
    if (!word) return;
    text.value = props.keeps ? word : "";
    props.onPick(word);
  };
  const move = (step: number) => {
    open.value = true;
    const places = words.length + 1; // the last is the text itself
    marked.value = ((marked.value + 1 + step + places) % places) - 1;
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Escape") open.value = false;
    else if (event.key === "Enter") pick(words[marked.value]?.word ?? text.value.trim());
    else return;
    event.preventDefault();
  };

  return (
    <div class={`word-field ${props.class ?? ""}`}>
      <input
        type="text"
        role="combobox"
        aria-label={props.label}
        aria-autocomplete="list"
        aria-expanded={shown}
        aria-controls={list}
        aria-activedescendant={marked.value >= 0 ? `${list}-${marked.value}` : undefined}
        autoComplete="off"
        autocapitalize="off"
        spellcheck={false}
        dir="auto"
        placeholder={props.placeholder}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          open.value = true;
          marked.value = -1;
        }}
        onKeyDown={press}
        onBlur={() => {
          open.value = false;
          const typed = text.value.trim();
          if (props.keeps && typed !== props.value) pick(typed);
        }}
      />
      <ul id={list} role="listbox" aria-label={`${props.label}: completions`} hidden={!shown}>
        {words.map((row, i) => (
          <li
            key={row.word}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === marked.value}
            onPointerDown={(event) => {
              event.preventDefault(); // the field keeps the focus
              pick(row.word);
            }}
          >
            <WordText word={row.word} />
            <span class="number">{brief(row.count)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
