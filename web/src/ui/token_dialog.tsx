// token_dialog.tsx - asks for the token when the server requires one.

import { useEffect, useRef } from "preact/hooks";
import { setToken, token, tokenRequired } from "../data/token";

export function TokenDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const required = tokenRequired.value;

  useEffect(() => {
    if (required && !dialog.current?.open) dialog.current?.showModal();
    if (!required) dialog.current?.close();
  }, [required]);

  const submit = (event: Event) => {
    event.preventDefault();
    const value = field.current?.value.trim() ?? "";
    if (value) setToken(value);
  };

  return (
    <dialog ref={dialog} class="token" aria-labelledby="token-title">
      <form onSubmit={submit}>
        <h2 id="token-title">This server requires a token</h2>
        <p>
          {token.value
            ? "The token is not correct."
            : "It is the content of the file passed to the server with --token-file."}
        </p>
        <label>
          <span class="visually-hidden">Token</span>
          <input ref={field} type="password" autoComplete="off" spellcheck={false} required />
        </label>
        <p class="fine">Stored until this tab is closed.</p>
        <button type="submit" class="button">
          Continue
        </button>
      </form>
    </dialog>
  );
}
