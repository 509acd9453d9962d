// word_field.tsx - an input for a word, with completions from the vocabulary.
//
// It is a combobox with a list: arrow keys move in the list, Enter picks the selected word or
// otherwise the text as typed, Escape closes the list.

import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { withQuery } from "../data/api";
import { useFetch } from "../data/use_fetch";
import type { WordList, WordRow } from "../data/types";
import { brief } from "../text/format";
import { WordText } from "./word";

const SHOWN = 8;
const DEBOUNCE_MS = 120; // after the last key, before completions are fetched
const REFRESH_SECONDS = 1; // the word may be learned in the meantime

interface Props {
  label: string;
  value: string;
  placeholder?: string;
  class?: string;
  persistent?: boolean; // the word stays in the field, and leaving the field picks the text
  onPick: (word: string) => void;
}

function useCompletions(text: string): WordRow[] {
  const prefix = useSignal("");
  useEffect(() => {
    const timer = setTimeout(() => {
      prefix.value = text;
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const path = withQuery("/v1/words", { prefix: prefix.value, limit: SHOWN });
  const { data } = useFetch<WordList<WordRow>>(
    text && prefix.value ? path : null,
    REFRESH_SECONDS,
  );
  return text ? (data?.words ?? []).slice(0, SHOWN) : [];
}

export function WordField(props: Props) {
  const text = useSignal(props.value);
  const open = useSignal(false);
  const selected = useSignal(-1);
  const list = useId();
  const words = useCompletions(open.value ? text.value.trim() : "");
  const shown = open.value && words.length > 0;

  useEffect(() => {
    text.value = props.value;
  }, [props.value]);

  const pick = (word: string) => {
    open.value = false;
    selected.value = -1;
    if (!word) return;
    text.value = props.persistent ? word : "";
    props.onPick(word);
  };
  const move = (step: number) => {
    open.value = true;
    const choices = words.length + 1; // including the text itself
    selected.value = ((selected.value + 1 + step + choices) % choices) - 1;
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Escape") open.value = false;
    else if (event.key === "Enter") pick(words[selected.value]?.word ?? text.value.trim());
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
        aria-activedescendant={selected.value >= 0 ? `${list}-${selected.value}` : undefined}
        autoComplete="off"
        autocapitalize="off"
        spellcheck={false}
        dir="auto"
        placeholder={props.placeholder}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          open.value = true;
          selected.value = -1;
        }}
        onKeyDown={press}
        onBlur={() => {
          open.value = false;
          const typed = text.value.trim();
          if (props.persistent && typed !== props.value) pick(typed);
        }}
      />
      <ul id={list} role="listbox" aria-label={`${props.label}: completions`} hidden={!shown}>
        {words.map((row, i) => (
          <li
            key={row.word}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === selected.value}
            onPointerDown={(event) => {
              event.preventDefault(); // keeps the focus in the field
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
